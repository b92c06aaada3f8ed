#include "proof/combined.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onetree::proof {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Between two places the value is on the line between the values there; beyond them it stays.
double line(std::span<const double> numbers, double place) {
  const std::size_t n = numbers.size() / 2;
  std::size_t above = 0;
  while (above < n && numbers[above] < place) ++above;
  if (above == 0) return numbers[n];
  if (above == n) return numbers[2 * n - 1];
  const double share = (place - numbers[above - 1]) / (numbers[above] - numbers[above - 1]);
  return (1 - share) * numbers[n + above - 1] + share * numbers[n + above];
}

double logistic(double score) {
  return score >= 0 ? 1 / (1 + std::exp(-score)) : std::exp(score) / (1 + std::exp(score));
}

double size_of(double low, double high) {
  return std::max(std::abs(low), std::abs(high));
}

}  // namespace

Combined::Combined(const Model& model) : model_(model) {
  if (!model.is_combined()) return;
  for (int k = 0; k < model.n_outputs; ++k) {
    double largest = 0;
    for (std::size_t leaf = 0; leaf < model.feature.size(); ++leaf)
      largest = std::max(largest, std::abs(model.value[leaf * model.n_outputs + k]));
    const bool single = model.combination.float32[k] != 0;
    const double n = static_cast<double>(model.roots.size()) + 3, unit = single ? 0x1p-24 : 0x1p-53;
    const double magnitude = (std::abs(model.base[k]) + n * largest) * (1 + 0x1p-20);
    const bool is_safe = magnitude < (single ? 0x1p126 : 0x1p1020) && n * unit < 0.01;
    // Of the library's sum and of ours, both rounded n times; doubled.
    error_.push_back(is_safe ? 4 * n * unit / (1 - n * unit) * magnitude + 4 * n * (single ? 0x1p-149 : 0x1p-1074)
                             : kInfinity);
  }
}

int Combined::decide(std::span<const std::int32_t> leaves) {
  const Combination& rule = model_.combination;
  std::vector<double> sums;
  auto total = [&](auto sum, int k) {
    using Real = decltype(sum);
    for (const std::int32_t leaf : leaves) sum += static_cast<Real>(model_.leaf_value(leaf)[k]);
    if (rule.divisor[k] != 1) sum /= static_cast<Real>(rule.divisor[k]);
    sums.push_back(static_cast<double>(sum));
  };
  for (int k = 0; k < model_.n_outputs; ++k) {
    if (rule.float32[k])
      total(static_cast<float>(model_.base[k]), k);
    else
      total(model_.base[k], k);
  }
  low_ = high_ = sums;
  run();
  const int winner = only_winner();
  return winner >= 0 ? winner : rule.ask(sums);
}

void Combined::leads(std::span<const double> least, std::span<const double> most, int candidate,
                     std::vector<double>& leads) {
  low_.clear();
  high_.clear();
  for (int k = 0; k < model_.n_outputs; ++k) {
    low_.push_back((least[k] - error_[k]) / model_.combination.divisor[k]);
    high_.push_back((most[k] + error_[k]) / model_.combination.divisor[k]);
  }
  run();
  leads.assign(model_.n_classes, -kInfinity);
  const std::size_t first = low_.size() - model_.n_classes;
  for (int k = 0; k < model_.n_classes; ++k) {
    if (k == candidate) continue;
    const double lead = high_[first + k] - low_[first + candidate];
    leads[k] = std::isnan(lead) ? kInfinity : lead;
  }
}

void Combined::weigh(std::vector<double> least, std::vector<double> most, int candidate, int rival,
                     std::vector<double>& weights) {
  leads(least, most, candidate, leads_);
  const double lead = leads_[rival];
  weights.assign(model_.n_outputs, 0.0);
  for (int k = 0; k < model_.n_outputs; ++k) {
    const double low = least[k], high = most[k];
    if (!(low < high)) continue;
    least[k] = most[k] = low + (high - low) / 2;
    leads(least, most, candidate, leads_);
    if (lead > leads_[rival]) weights[k] = (lead - leads_[rival]) / (high - low);
    least[k] = low;
    most[k] = high;
  }
}

// A single result is set against the cut, as the score of class 0.
void Combined::run() {
  for (const Step& step : model_.combination.steps) take(step);
  if (model_.combination.n_decisive > 1) return;
  const double low = low_.back(), high = high_.back();
  put(model_.combination.cut, model_.combination.cut, 0);
  put(low, high, 0);
}

void Combined::put(double low, double high, double slack) {
  low_.push_back(low - slack);
  high_.push_back(high + slack);
}

int Combined::only_winner() const {
  const std::size_t first = low_.size() - model_.n_classes;
  for (int k = 0; k < model_.n_classes; ++k) {
    bool wins = true;
    for (int j = 0; j < model_.n_classes; ++j) wins = wins && (j == k || low_[first + k] > high_[first + j]);
    if (wins) return k;
  }
  return -1;
}

void Combined::take(const Step& step) {
  const std::size_t n = step.inputs.size();
  auto low = [&](std::size_t i) { return low_[step.inputs[i]]; };
  auto high = [&](std::size_t i) { return high_[step.inputs[i]]; };
  switch (step.kind) {
    case Step::Kind::affine:
      for (int r = 0; r < step.n_results; ++r) {
        const std::span<const double> factors = step.numbers.subspan(r * n, n);
        double least = step.numbers[step.n_results * n + r], most = least, size = std::abs(least);
        for (std::size_t i = 0; i < n; ++i) {
          if (factors[i] == 0) continue;
          const double one = factors[i] * low(i), other = factors[i] * high(i);
          least += std::min(one, other);
          most += std::max(one, other);
          size += size_of(one, other);
        }
        put(least, most, step.slack * size);
      }
      break;
    case Step::Kind::sigmoid:
      for (std::size_t i = 0; i < n; ++i) {
        const double one = logistic(step.numbers[0] * low(i)), other = logistic(step.numbers[0] * high(i));
        put(std::min(one, other), std::max(one, other), step.slack);
      }
      break;
    case Step::Kind::softmax:
      for (std::size_t k = 0; k < n; ++k) {
        double others_most = 0, others_least = 0;
        for (std::size_t j = 0; j < n; ++j) {
          others_most += j == k ? 0 : std::exp(high(j) - low(k));
          others_least += j == k ? 0 : std::exp(low(j) - high(k));
        }
        put(1 / (1 + others_most), 1 / (1 + others_least), step.slack);
      }
      break;
    case Step::Kind::piecewise: {
      const double move = step.slack * size_of(low(0), high(0));
      const double least = line(step.numbers, low(0) - move), most = line(step.numbers, high(0) + move);
      put(least, most, step.slack * size_of(step.numbers[step.numbers.size() / 2], step.numbers.back()));
      break;
    }
    case Step::Kind::normalise: {
      bool may_be_zero = true;
      for (std::size_t i = 0; i < n; ++i) may_be_zero = may_be_zero && low(i) <= 0;
      for (std::size_t k = 0; k < n; ++k) {
        double others_most = 0, others_least = 0;
        for (std::size_t j = 0; j < n; ++j) {
          others_most += j == k ? 0 : std::max(high(j), 0.0);
          others_least += j == k ? 0 : std::max(low(j), 0.0);
        }
        const double own_least = std::max(low(k), 0.0), own_most = std::max(high(k), 0.0);
        double least = own_least > 0 ? own_least / (own_least + others_most) : 0;
        double most = own_most > 0 ? own_most / (own_most + others_least) : 0;
        if (may_be_zero) {
          least = std::min(least, 1 / static_cast<double>(n));
          most = std::max(most, 1 / static_cast<double>(n));
        }
        put(least, most, 4 * step.slack);
      }
      break;
    }
    case Step::Kind::log:
      for (std::size_t i = 0; i < n; ++i) {
        const double least = std::log(step.numbers[0] + std::max(low(i), 0.0));
        const double most = std::log(step.numbers[0] + std::max(high(i), 0.0));
        put(least, most, step.slack * (1 + size_of(least, most)));
      }
      break;
    case Step::Kind::winner:
      if (n == 1) {
        const bool may_pass = !(high(0) < step.numbers[0]), may_fail = !(low(0) > step.numbers[0]);
        put(may_pass ? 0 : 1, may_fail ? 1 : 0, 0);
        put(may_fail ? 0 : 1, may_pass ? 1 : 0, 0);
        break;
      }
      for (std::size_t k = 0; k < n; ++k) {
        bool must = true, may = true;
        for (std::size_t j = 0; j < n; ++j) {
          if (j == k) continue;
          must = must && low(k) > high(j);
          may = may && high(k) >= low(j);
        }
        put(must ? 1 : 0, may ? 1 : 0, 0);
      }
      break;
  }
}

}  // namespace onetree::proof
