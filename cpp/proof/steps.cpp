#include "proof/steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onetree::proof {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTiny = std::numeric_limits<float>::min();

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

// Whether the line is flat from the last place below an interval to the first one above it: there, the library computes
// one number and no other.
bool is_flat(std::span<const double> numbers, double low, double high) {
  const std::size_t n = numbers.size() / 2;
  std::size_t below = 0, above = 0;
  while (above < n && numbers[above] < high) ++above;
  while (below < n && numbers[below] < low) ++below;
  return numbers[n + (below > 0 ? below - 1 : 0)] == numbers[n + std::min(above, n - 1)];
}

double logistic(double score) {
  return score >= 0 ? 1 / (1 + std::exp(-score)) : std::exp(score) / (1 + std::exp(score));
}

double size_of(double low, double high) {
  return std::max(std::abs(low), std::abs(high));
}

}  // namespace

void Registers::clear() {
  low_.clear();
  high_.clear();
  same_.clear();
  inputs_are_same_ = false;
}

void Registers::put(double low, double high, double slack) {
  low_.push_back(low - slack);
  high_.push_back(high + slack);
  // Bounds that meet are one number, unless rounding was left out of them.
  if (knows_same_) same_.push_back(inputs_are_same_ || (slack == 0 && low == high));
}

void Registers::take(const Step& step) {
  const std::size_t n = step.inputs.size();
  inputs_are_same_ =
      knows_same_ && std::all_of(step.inputs.begin(), step.inputs.end(), [&](int i) { return same_[i] != 0; });
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
      if (knows_same_ && is_flat(step.numbers, low(0) - move, high(0) + move)) same_.back() = 1;
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
    case Step::Kind::exp:
      for (std::size_t i = 0; i < n; ++i) {
        const double factor = step.numbers.empty() ? 1.0 : step.numbers[0];
        const double one = std::exp(factor * low(i)), other = std::exp(factor * high(i));
        const double least = std::min(one, other), most = std::max(one, other);
        // Next to nothing, the relative error is no bound any more.
        put(least - step.slack * least - kTiny, most + step.slack * most + kTiny, 0);
      }
      break;
    case Step::Kind::unknown:
      for (int r = 0; r < step.n_results; ++r) put(-kInfinity, kInfinity, 0);
      break;
  }
}

}  // namespace onetree::proof
