#include "question/combined.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onetree::question {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double middle(const Between& each) {
  return each.low + (each.high - each.low) / 2;
}

double width(const Between& each) {
  return each.high - each.low;
}

}  // namespace

Combined::Combined(const Ensemble& ensemble, std::span<const int> trees)
    : ensemble_(ensemble), combination_(*ensemble.combination), bounds_(ensemble) {
  std::vector<std::int32_t> todo;
  for (std::size_t number = 0; number < trees.size(); ++number) {
    Outputs own{trees[number], ensemble.n_outputs, 0};
    todo.assign(1, ensemble.roots[number]);
    while (!todo.empty()) {
      const std::int32_t node = todo.back();
      todo.pop_back();
      if (ensemble.feature[node] >= 0) {
        todo.insert(todo.end(), {ensemble.left[node], ensemble.right[node]});
        continue;
      }
      for (int k = 0; k < ensemble.n_outputs; ++k)
        if (ensemble.leaf_value(node)[k] != 0) {
          own.first = std::min(own.first, k);
          own.last = std::max(own.last, k + 1);
        }
    }
    if (own.first < own.last) outputs_.push_back(own);
  }
}

double Combined::lead(const Reach& reach, double cost, int winner, int rival) {
  low_.assign(ensemble_.base.begin(), ensemble_.base.end());
  high_ = low_;
  for (const Outputs& own : outputs_) {
    const std::size_t n = static_cast<std::size_t>(own.last - own.first);
    least_.assign(n, kInfinite);
    most_.assign(n, -kInfinite);
    for (const Reached& each : reach.of_tree(own.tree)) {
      if (each.cost > cost) continue;
      const double* value = ensemble_.leaf_value(each.leaf) + own.first;
      for (std::size_t k = 0; k < n; ++k) {
        least_[k] = std::min(least_[k], value[k]);
        most_[k] = std::max(most_[k], value[k]);
      }
    }
    if (least_[0] == kInfinite) return -kInfinite;
    for (std::size_t k = 0; k < n; ++k) {
      low_[own.first + k] += least_[k];
      high_[own.first + k] += most_[k];
    }
  }
  bounds_.divided(low_.data(), high_.data(), registers_);
  combination_.run(registers_);
  const Between* decisive = registers_.data() + registers_.size() - combination_.n_decisive;
  const double cut = combination_.cut;
  const double lead = combination_.n_decisive > 1 ? decisive[winner].high - decisive[rival].low
                      : winner == 1               ? decisive->high - cut
                                                  : cut - decisive->low;
  return std::isnan(lead) ? kInfinite : lead;
}

void Combined::weigh(const Reach& reach, std::span<const std::int32_t> leaves, int winner, int rival,
                     std::vector<double>& gain) {
  slope_.assign(registers_.size(), 0.0);
  if (combination_.n_decisive == 1) {
    slope_.back() = winner == 1 ? 1 : -1;
  } else {
    double* decisive = slope_.data() + slope_.size() - combination_.n_decisive;
    decisive[winner] += 1;
    decisive[rival] -= 1;
  }
  std::size_t end = registers_.size();
  for (auto operation = combination_.operations.rbegin(); operation != combination_.operations.rend(); ++operation) {
    end -= static_cast<std::size_t>(operation->n_results);
    pull_back(*operation, end);
  }
  auto weigh = [&](const Outputs& own, std::int32_t leaf) {
    double sum = 0;
    for (int k = own.first; k < own.last; ++k)
      sum += slope_[k] / combination_.divisor[k] * ensemble_.leaf_value(leaf)[k];
    gain[leaf] = std::isfinite(sum) ? sum : 0.0;
  };
  for (const Outputs& own : outputs_) {
    for (const Reached& each : reach.of_tree(own.tree)) weigh(own, each.leaf);
    weigh(own, leaves[own.tree]);
  }
}

// From slopes of the results to those of the inputs, over the whole width of what is open: only a guide for the search.
void Combined::pull_back(const Operation& operation, std::size_t first_result) {
  const std::size_t n = operation.inputs.size();
  const Between* results = registers_.data() + first_result;
  const double* given = slope_.data() + first_result;
  auto in = [&](std::size_t i) -> const Between& { return registers_[operation.inputs[i]]; };
  auto add = [&](std::size_t i, double slope) {
    if (std::isfinite(slope)) slope_[operation.inputs[i]] += slope;
  };
  switch (operation.kind) {
    case Operation::Kind::affine:
      for (int r = 0; r < operation.n_results; ++r)
        for (std::size_t i = 0; i < n; ++i) add(i, operation.numbers[r * n + i] * given[r]);
      return;
    case Operation::Kind::sigmoid:
    case Operation::Kind::piecewise:
    case Operation::Kind::log:
    case Operation::Kind::exp:
      for (std::size_t i = 0; i < n; ++i)
        if (width(in(i)) > 0) add(i, given[i] * width(results[i]) / width(in(i)));
      return;
    case Operation::Kind::softmax: {
      double total = 0, mean = 0;
      for (std::size_t k = 0; k < n; ++k) total += middle(results[k]);
      for (std::size_t k = 0; k < n; ++k) mean += middle(results[k]) / total * given[k];
      for (std::size_t k = 0; k < n; ++k) add(k, middle(results[k]) / total * (given[k] - mean));
      return;
    }
    case Operation::Kind::normalise: {
      double total = 0, mean = 0;
      for (std::size_t k = 0; k < n; ++k) total += std::max(middle(in(k)), 0.0);
      for (std::size_t k = 0; k < n; ++k) mean += std::max(middle(in(k)), 0.0) / total * given[k];
      for (std::size_t k = 0; k < n; ++k) add(k, (given[k] - mean) / total);
      return;
    }
    case Operation::Kind::winner:
      if (n == 1) {
        if (width(results[1]) > 0) add(0, (given[1] - given[0]) / width(in(0)));
        return;
      }
      for (std::size_t k = 0; k < n; ++k) {
        if (!(width(results[k]) > 0)) continue;
        for (std::size_t j = 0; j < n; ++j)
          add(j, given[k] / width(in(j)) * (j == k ? 1 : -1 / static_cast<double>(n - 1)));
      }
      return;
  }
}

std::vector<double> Combined::factors(int winner, int rival, double& added) const {
  struct Sum {  // of the undivided sums: a register
    std::vector<double> factor;
    double added, off;  // `off`: how far the library may be away from it
  };
  const std::size_t n_outputs = combination_.divisor.size();
  std::vector<double> low(ensemble_.base.begin(), ensemble_.base.end()), high = low;
  for (std::size_t k = 0; k < n_outputs; ++k) {
    double largest = 0;
    for (std::size_t at = k; at < ensemble_.value.size(); at += n_outputs)
      largest = std::max(largest, std::abs(ensemble_.value[at]));
    low[k] -= largest * ensemble_.n_trees();
    high[k] += largest * ensemble_.n_trees();
  }
  std::vector<Between> range, known;  // of every register, and of sums without any width but rounding
  bounds_.divided(low.data(), high.data(), range);
  bounds_.divided(low.data(), low.data(), known);
  combination_.run(range);
  auto size = [&](std::size_t at) { return std::max(std::abs(range[at].low), std::abs(range[at].high)); };
  std::vector<Sum> sums;
  for (std::size_t k = 0; k < n_outputs; ++k) {
    sums.push_back({std::vector<double>(n_outputs), 0, width(known[k]) + 0x1p-50 * size(k)});
    sums.back().factor[k] = 1 / combination_.divisor[k];
  }
  for (const Operation& operation : combination_.operations) {
    if (operation.kind != Operation::Kind::affine) return {};
    const std::size_t n = operation.inputs.size();
    for (int r = 0; r < operation.n_results; ++r) {
      Sum result{std::vector<double>(n_outputs), operation.numbers[operation.n_results * n + r], 0};
      double magnitude = std::abs(result.added);
      for (std::size_t i = 0; i < n; ++i) {
        const double by = operation.numbers[r * n + i];
        const Sum& in = sums[operation.inputs[i]];
        for (std::size_t k = 0; k < n_outputs; ++k) result.factor[k] += by * in.factor[k];
        result.added += by * in.added;
        result.off += std::abs(by) * in.off;
        magnitude += std::abs(by) * size(operation.inputs[i]);
      }
      result.off += (operation.slack + 0x1p-46) * magnitude;
      sums.push_back(std::move(result));
    }
  }
  const Sum cut{std::vector<double>(n_outputs), combination_.cut, 0};
  auto decisive = [&](int k) -> const Sum& {
    if (combination_.n_decisive == 1) return k == 1 ? sums.back() : cut;
    return sums[sums.size() - combination_.n_decisive + k];
  };
  const Sum &first = decisive(winner), &second = decisive(rival);
  std::vector<double> factor = first.factor;
  for (std::size_t k = 0; k < n_outputs; ++k) factor[k] -= second.factor[k];
  added = first.added - second.added + first.off + second.off;
  return factor;
}

}  // namespace onetree::question
