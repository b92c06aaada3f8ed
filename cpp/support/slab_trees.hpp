// Trees on slabs: the leaves that rows reach, and the scores of an ensemble.
#pragma once

#include "support/row_table.hpp"

namespace onetree {

// A row goes to the first child where its slab, counted from `first`, is at most `last`. Slabs before `first` wrap
// around, so a test can send missing values, which lie in the last slab, to either side. A leaf is its own child on
// both.
struct SlabNode {
  std::int32_t feature;
  std::uint32_t first, last;
  std::int32_t child[2];  // inside, outside
};

struct SlabTrees {
  std::span<const std::int32_t> roots;
  std::span<const std::int32_t> output;  // the only one that a tree adds to; -1 for all of them
  const SlabNode* nodes;
  std::size_t n_outputs;
  std::int32_t n_slabs;  // of any feature, at most
  // After each tree: a row whose first output leads by more, or whose only one is further from the cut, keeps its class
  // whatever the trees to come say.
  std::span<const double> open;
  double cut;
};

// Adds the leaves' values, of shape (n_nodes, n_outputs), tree by tree to `scores`, of shape (n_rows, n_outputs). Where
// the class is clear before the last tree, the others are left out.
template <typename Real>
void add_scores(const SlabTrees& trees, const Real* value, const RowTable& table, std::size_t n_rows, Real* scores);

// The leaf below a node that each of some rows reaches.
void find_leaves(const SlabNode* nodes, std::int32_t root, const RowTable& table, RowNumbers rows, std::int32_t* leaf);

}  // namespace onetree
