#include "proof/combined.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onetree::proof {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
  registers_.clear();
  for (const double sum : sums) registers_.put(sum, sum);
  run();
  const int winner = only_winner();
  return winner >= 0 ? winner : rule.ask(sums);
}

void Combined::leads(std::span<const double> least, std::span<const double> most, int candidate,
                     std::vector<double>& leads) {
  registers_.clear();
  for (int k = 0; k < model_.n_outputs; ++k) {
    const double divisor = model_.combination.divisor[k];
    registers_.put((least[k] - error_[k]) / divisor, (most[k] + error_[k]) / divisor);
  }
  run();
  leads.assign(model_.n_classes, -kInfinity);
  const std::size_t first = registers_.size() - model_.n_classes;
  for (int k = 0; k < model_.n_classes; ++k) {
    if (k == candidate) continue;
    const double lead = registers_.high(first + k) - registers_.low(first + candidate);
    leads[k] = std::isnan(lead) ? kInfinity : lead;
  }
}

void Combined::weigh(std::vector<double> least, std::vector<double> most, int candidate, int rival,
                     std::vector<double>& weights) {
  leads(least, most, candidate, leads_);
  const double lead = leads_[rival];
  weights.assign(2 * static_cast<std::size_t>(model_.n_outputs), 0.0);
  for (int k = 0; k < model_.n_outputs; ++k) {
    const double low = least[k], high = most[k];
    if (!(low < high)) continue;
    least[k] = most[k] = low + (high - low) / 2;
    leads(least, most, candidate, leads_);
    if (lead > leads_[rival]) weights[2 * k] = weights[2 * k + 1] = (lead - leads_[rival]) / (high - low);
    least[k] = low;
    most[k] = high;
  }
}

// A single result is set against the cut, as the score of class 0.
void Combined::run() {
  for (const Step& step : model_.combination.steps) registers_.take(step);
  if (model_.combination.n_decisive > 1) return;
  const std::size_t last = registers_.size() - 1;
  const double score_low = registers_.low(last), score_high = registers_.high(last);
  registers_.put(model_.combination.cut, model_.combination.cut);
  registers_.put(score_low, score_high);
}

int Combined::only_winner() const {
  const std::size_t first = registers_.size() - model_.n_classes;
  for (int k = 0; k < model_.n_classes; ++k) {
    bool wins = true;
    for (int j = 0; j < model_.n_classes; ++j)
      wins = wins && (j == k || registers_.low(first + k) > registers_.high(first + j));
    if (wins) return k;
  }
  return -1;
}

}  // namespace onetree::proof
