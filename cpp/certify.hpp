// Proves boxes of inputs, and whole trees leaf by leaf, to be of the expected class.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control.hpp"
#include "ensemble.hpp"

namespace onetree {

// Boxes lower < x <= upper; an upper bound of NaN lets missing values in, above +inf.
struct InputBoxes {
  std::size_t n_boxes;
  const double* lower;                        // n_boxes x n_features
  const double* upper;                        // n_boxes x n_features
  std::span<const std::int32_t> class_index;  // per box; -1: any class, but only one
};

// Goes left iff x <= threshold, NaN right. Children come after their parents; subtrees may be shared.
struct ProvableTree {
  std::span<const std::int32_t> feature;  // -1 at a leaf
  std::span<const double> threshold;
  std::span<const std::int32_t> left, right;
  std::span<const std::int32_t> class_index;  // the class to prove, at a leaf
};

struct ProofCounts {
  std::int64_t boxes = 0;  // that hold an input
  std::int64_t nodes = 0;
  std::int64_t fragile = 0;
};

struct BoxVerdicts {
  std::vector<std::uint8_t> holds;  // per box; true of an empty one; false also where the budget was spent
  std::vector<double> points;       // n_features for each box that was refuted: an input of another class
  ProofCounts counts;
};

struct TreeVerdict {
  std::vector<double> point;  // an input of another class than the tree gives it; empty: there is none
  ProofCounts counts;
};

// Both throw LimitReached or Interrupted. `max_nodes` is the budget of branch-and-bound nodes for each box. Boxes are
// about numbers: the ensemble must not have set axes.
BoxVerdicts certify_boxes(const Ensemble& ensemble, const InputBoxes& boxes, std::int64_t max_nodes, Control& control);
// Stops at the first counterexample.
TreeVerdict certify_tree(const Ensemble& ensemble, const ProvableTree& tree, Control& control);

}  // namespace onetree
