// What the leaves of all trees have to add up to for one class to be possible beside another, whatever the rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/ensemble.hpp"
#include "question/combined.hpp"

namespace onetree::question {

// "Class `winner` is not beaten by `rival`": the gains of the leaves, one per tree, reach `needed` at least. What falls
// short is proven impossible; what reaches it may still be a near-tie that only a whole evaluation decides.
struct Demand {
  double needed = 0;
  std::vector<double> gain;  // per node: by how much a leaf helps to meet it
  // Not null: sums are combined in a way that gains do not add up to. They are only a guide then, which is made anew
  // for every box, and the combination says whether the winner is beaten.
  Combined* combined = nullptr;
  int winner = 0, rival = 0;
};

// An ensemble whose trees are some of those of a forest, on the same nodes.
struct Voter {
  const Ensemble& ensemble;
  std::vector<int> trees;  // the number in the forest of each of its trees
};

// What is wanted of the leaves of a forest, one per tree.
class Judge {
 public:
  // That an ensemble gives them one of these classes.
  Judge(const Ensemble& ensemble, const std::vector<bool>& wanted);
  // That two ensembles give them one of these pairs of classes; `wanted` has a row per class of the first. The roots of
  // both are among those of the forest.
  Judge(const Ensemble& forest, const Ensemble& first, const Ensemble& second, std::vector<bool> wanted);

  bool is_wanted(std::span<const std::int32_t> leaves);
  // Leaves that are wanted meet all demands of at least one of these.
  std::vector<std::vector<Demand>>& alternatives() { return alternatives_; }

 private:
  int decide(const Voter& voter, std::span<const std::int32_t> leaves);
  // What `winner` demands of the leaves of a voter in order not to be beaten by `rival`.
  Demand demand_of(std::size_t voter, int winner, int rival);

  std::vector<Voter> voters_;
  std::vector<std::vector<bool>> is_own_;            // per voter and node
  std::vector<std::unique_ptr<Combined>> combined_;  // per voter
  std::vector<bool> wanted_;
  std::vector<std::vector<Demand>> alternatives_;
  std::vector<std::int32_t> own_;
};

}  // namespace onetree::question
