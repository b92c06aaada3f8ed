// Rules of two levels: what the leaves that a box can reach at some cost let the members' sums decide.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ensemble.hpp"
#include "question/forest.hpp"

namespace onetree::question {

class Combined {
 public:
  // Of an ensemble with a combination, whose trees are these of a forest.
  Combined(const Ensemble& ensemble, std::span<const int> trees);

  // By how much the winner can be ahead of the rival at most, with leaves that cost no more than `cost`. It is beaten
  // whatever the rounding if that is below zero.
  double lead(const Reach& reach, double cost, int winner, int rival);
  // What a leaf does for the winner against the rival, about, per node: of the leaves of the last call of `lead`, and
  // of these.
  void weigh(const Reach& reach, std::span<const std::int32_t> leaves, int winner, int rival,
             std::vector<double>& gain);
  // If all operations are affine: the factors of the undivided sums in the lead, and what to add for the most it can
  // be. No factors otherwise.
  std::vector<double> factors(int winner, int rival, double& added) const;

 private:
  struct Outputs {  // those that the leaves of a tree change
    int tree, first, last;
  };

  void pull_back(const Operation& operation, std::size_t first_result);

  const Ensemble& ensemble_;
  const Combination& combination_;
  const CombinedBounds bounds_;
  std::vector<Outputs> outputs_;
  std::vector<double> low_, high_;    // of the sums
  std::vector<double> least_, most_;  // of one tree
  std::vector<Between> registers_;
  std::vector<double> slope_;  // per register, of the lead
};

}  // namespace onetree::question
