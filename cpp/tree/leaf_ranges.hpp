// What the leaves of a tree may carry, where they carry numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interner.hpp"
#include "grid/score_grid.hpp"
#include "tree/solution.hpp"

namespace onetree {

// Rows of numbers, each of them once: in every column the largest lower and the smallest upper end over the cells of a
// leaf.
class LeafRanges {
 public:
  explicit LeafRanges(const ScoreGrid& grid) : grid_(grid) {}

  // Gives every leaf, as its class, the number of its row. A leaf that is reached in several ways has the cells of all.
  // Throws std::logic_error where they leave nothing to carry.
  void number_leaves(FlatTree& tree);

  int n_columns() const { return grid_.n_columns; }
  std::vector<double> take_least() { return std::move(least_); }
  std::vector<double> take_most() { return std::move(most_); }

 private:
  const ScoreGrid& grid_;
  Interner rows_;
  std::vector<double> least_, most_;  // rows x columns
};

}  // namespace onetree
