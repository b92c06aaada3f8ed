#include "question/demand.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onetree::question {

namespace {

// By how much sums of gains can be off, beyond the margin of the ensemble: a search adds and takes away gains one by
// one, at most twice for each leaf.
double drift(const Ensemble& ensemble) {
  double largest = 0, magnitude = std::abs(ensemble.rule.cut * ensemble.rule.divisor);
  for (const double each : ensemble.base) magnitude = std::max(magnitude, std::abs(each));
  for (const double each : ensemble.value) largest = std::max(largest, std::abs(each));
  magnitude += largest * ensemble.n_trees();
  const double n = 4 * static_cast<double>(ensemble.feature.size() + ensemble.roots.size()) + 8;
  return n * 0x1p-52 * magnitude;
}

}  // namespace

std::vector<std::vector<Demand>> demands(const Ensemble& ensemble, const std::vector<bool>& wanted) {
  const bool exact = ensemble.sums_are_exact();
  const double margin = exact ? 0 : ensemble.margin() + drift(ensemble);
  const double cut = ensemble.rule.cut * ensemble.rule.divisor;  // divisors are positive
  std::vector<std::vector<Demand>> found;
  for (int winner = 0; winner < ensemble.n_classes; ++winner) {
    if (!wanted[winner]) continue;
    std::vector<Demand>& own = found.emplace_back();
    for (int rival = 0; rival < ensemble.n_classes; ++rival) {
      if (wanted[rival]) continue;
      Demand demand{winner, rival, 0, std::vector<double>(ensemble.feature.size())};
      bool wins_ties = winner < rival;
      for (std::size_t node = 0; node < demand.gain.size(); ++node) {
        const double* value = ensemble.leaf_value(static_cast<std::int32_t>(node));
        if (ensemble.n_outputs == 1)
          demand.gain[node] = winner == 1 ? value[0] : -value[0];
        else
          demand.gain[node] = value[winner] - value[rival];
      }
      if (ensemble.n_outputs == 1) {
        demand.needed = winner == 1 ? cut - ensemble.base[0] : ensemble.base[0] - cut;
        wins_ties = (winner == 1) == ensemble.rule.cut_inclusive;
      } else {
        demand.needed = ensemble.base[rival] - ensemble.base[winner];
      }
      // Exact sums are integers.
      demand.needed += exact ? (wins_ties ? 0 : 0.5) : -margin - 8 * 0x1p-52 * std::abs(demand.needed);
      own.push_back(std::move(demand));
    }
  }
  return found;
}

}  // namespace onetree::question
