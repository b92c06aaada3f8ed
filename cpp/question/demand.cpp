#include "question/demand.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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

// What `winner` demands of the leaves in order not to be beaten by `rival`.
Demand demand_of(const Ensemble& ensemble, int winner, int rival) {
  const bool exact = ensemble.sums_are_exact();
  const double cut = ensemble.rule.cut * ensemble.rule.divisor;  // divisors are positive
  Demand demand{0, std::vector<double>(ensemble.feature.size())};
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
  demand.needed +=
      exact ? (wins_ties ? 0 : 0.5) : -ensemble.margin() - drift(ensemble) - 8 * 0x1p-52 * std::abs(demand.needed);
  return demand;
}

// The same for a combination of affine operations, as one sum. No gains if it is not one.
Demand affine_demand(const Ensemble& ensemble, const Combined& combined, int winner, int rival) {
  double added = 0, magnitude = 0, largest = 0;
  const std::vector<double> factors = combined.factors(winner, rival, added);
  Demand demand;
  if (factors.empty()) return demand;
  demand.gain.resize(ensemble.feature.size());
  for (std::size_t node = 0; node < demand.gain.size(); ++node) {
    for (std::size_t k = 0; k < factors.size(); ++k)
      demand.gain[node] += factors[k] * ensemble.leaf_value(static_cast<std::int32_t>(node))[k];
    largest = std::max(largest, std::abs(demand.gain[node]));
  }
  demand.needed = -added;
  magnitude = std::abs(added) + largest * ensemble.n_trees();
  for (std::size_t k = 0; k < factors.size(); ++k) {
    demand.needed -= factors[k] * ensemble.base[k];
    magnitude += std::abs(factors[k] * ensemble.base[k]);
  }
  demand.needed -= static_cast<double>(4 * (ensemble.feature.size() + factors.size()) + 8) * 0x1p-52 * magnitude;
  return demand;
}

Voter as_voter(const Ensemble& forest, const Ensemble& ensemble) {
  Voter voter{ensemble, {}};
  for (const std::int32_t root : ensemble.roots)
    voter.trees.push_back(
        static_cast<int>(std::find(forest.roots.begin(), forest.roots.end(), root) - forest.roots.begin()));
  return voter;
}

std::unique_ptr<Combined> combined_of(const Voter& voter) {
  return voter.ensemble.combination == nullptr ? nullptr : std::make_unique<Combined>(voter.ensemble, voter.trees);
}

std::vector<bool> nodes_of(const Ensemble& ensemble) {
  std::vector<bool> found(ensemble.feature.size());
  std::vector<std::int32_t> todo(ensemble.roots.begin(), ensemble.roots.end());
  while (!todo.empty()) {
    const std::int32_t node = todo.back();
    todo.pop_back();
    found[node] = true;
    if (ensemble.feature[node] >= 0) todo.insert(todo.end(), {ensemble.left[node], ensemble.right[node]});
  }
  return found;
}

}  // namespace

Demand Judge::demand_of(std::size_t voter, int winner, int rival) {
  const Ensemble& ensemble = voters_[voter].ensemble;
  Demand demand;
  if (combined_[voter] == nullptr) {
    demand = question::demand_of(ensemble, winner, rival);
  } else {
    demand = affine_demand(ensemble, *combined_[voter], winner, rival);
    if (demand.gain.empty()) {
      demand.gain.resize(ensemble.feature.size());
      demand.combined = combined_[voter].get();
    }
  }
  demand.winner = winner;
  demand.rival = rival;
  // Of a voter in a forest, nodes that are not its own gain nothing.
  for (std::size_t node = 0; node < is_own_[voter].size(); ++node)
    if (!is_own_[voter][node]) demand.gain[node] = 0;
  return demand;
}

Judge::Judge(const Ensemble& ensemble, const std::vector<bool>& wanted) : is_own_(1), wanted_(wanted) {
  std::vector<int> trees(ensemble.roots.size());
  std::iota(trees.begin(), trees.end(), 0);
  voters_.push_back({ensemble, std::move(trees)});
  combined_.push_back(combined_of(voters_.back()));
  for (int winner = 0; winner < ensemble.n_classes; ++winner) {
    if (!wanted[winner]) continue;
    std::vector<Demand>& own = alternatives_.emplace_back();
    for (int rival = 0; rival < ensemble.n_classes; ++rival)
      if (!wanted[rival]) own.push_back(demand_of(0, winner, rival));
  }
}

Judge::Judge(const Ensemble& forest, const Ensemble& first, const Ensemble& second, std::vector<bool> wanted)
    : voters_{as_voter(forest, first), as_voter(forest, second)},
      is_own_{nodes_of(first), nodes_of(second)},
      wanted_(std::move(wanted)) {
  for (const Voter& voter : voters_) combined_.push_back(combined_of(voter));
  auto is_pair = [&](int a, int b) { return wanted_[static_cast<std::size_t>(a) * second.n_classes + b]; };
  for (int a = 0; a < first.n_classes; ++a)
    for (int b = 0; b < second.n_classes; ++b) {
      if (!is_pair(a, b)) continue;
      std::vector<Demand>& own = alternatives_.emplace_back();
      for (int rival = 0; rival < first.n_classes; ++rival)
        if (!is_pair(rival, b)) own.push_back(demand_of(0, a, rival));
      const std::size_t n_first = own.size();
      for (int rival = 0; rival < second.n_classes; ++rival)
        if (!is_pair(a, rival)) own.push_back(demand_of(1, b, rival));
      // What two demands ask for together is a demand, too: in trees that both ensembles have, gains cancel out.
      const std::size_t n_single = own.size();
      for (std::size_t i = 0; i < n_first; ++i)
        for (std::size_t j = n_first; j < n_single; ++j) {
          if (own[i].combined != nullptr || own[j].combined != nullptr) continue;
          Demand both = own[i];
          both.needed += own[j].needed;
          for (std::size_t node = 0; node < both.gain.size(); ++node) both.gain[node] += own[j].gain[node];
          own.push_back(std::move(both));
        }
    }
}

int Judge::decide(const Voter& voter, std::span<const std::int32_t> leaves) {
  own_.clear();
  for (const int tree : voter.trees) own_.push_back(leaves[tree]);
  return voter.ensemble.decide(own_);
}

bool Judge::is_wanted(std::span<const std::int32_t> leaves) {
  if (voters_.size() == 1) return wanted_[voters_[0].ensemble.decide(leaves)];  // its trees are those of the forest
  const int first = decide(voters_[0], leaves), second = decide(voters_[1], leaves);
  return wanted_[static_cast<std::size_t>(first) * voters_[1].ensemble.n_classes + second];
}

}  // namespace onetree::question
