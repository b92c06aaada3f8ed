// Proves that a tree gives every input the class that an ensemble gives it, or finds an input where it does not.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "proof/model.hpp"

namespace onetree::proof {

inline constexpr std::int64_t kNoBudget = std::numeric_limits<std::int64_t>::max();

// Boxes lower < x <= upper; an upper bound of NaN lets missing values in, above +inf.
struct Boxes {
  std::size_t n_boxes;
  std::span<const double> lower, upper;       // n_boxes x n_features
  std::span<const std::int32_t> class_index;  // per box; -1: any class, but only one
};

struct Counts {
  std::int64_t boxes = 0;    // that hold an input
  std::int64_t nodes = 0;    // of the branch and bound
  std::int64_t fragile = 0;  // parts of one sum each whose class bounds could not tell
};

struct BoxVerdicts {
  std::vector<std::uint8_t> holds;  // per box; true of an empty one; false also where the budget was spent
  std::vector<double> points;       // n_features for each box that was refuted, in order: an input of another class
  Counts counts;
};

struct TreeVerdict {
  std::vector<double> point;  // an input of another class than the tree gives it; empty: there is none
  Counts counts;
};

// Both throw LimitReached or Interrupted. Stops at the first counterexample.
TreeVerdict prove_tree(const Model& model, const Tree& tree, Control& control);
// `max_nodes` is the budget of branch-and-bound nodes for each box. The model must not have set axes.
BoxVerdicts prove_boxes(const Model& model, const Boxes& boxes, std::int64_t max_nodes, Control& control);

}  // namespace onetree::proof
