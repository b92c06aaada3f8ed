// What an engine gives back.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "grid/grid.hpp"

namespace onetree {

enum class Objective { kDepth, kLeaves, kDepthLeaves, kLeavesDepth };

struct FlatTree {                     // preorder; node 0 is the root
  std::vector<std::int32_t> feature;  // -1 at a leaf
  std::vector<double> threshold;
  std::vector<std::int32_t> left, right;  // -1 at a leaf
  std::vector<std::int32_t> leaf_class;   // -1 at an inner node

  std::int32_t add_leaf(int leaf_class_);
  std::int32_t add_split(int feature_, double threshold_);  // children are set by the caller
  std::int64_t n_leaves() const;                            // of the unfolded tree
  std::int64_t depth() const;
};

struct Statistics {
  double cells = 0;
  double boxes = 0;
  std::int64_t states = 0;
  double seconds = 0;
  std::int64_t work = 0;  // steps, as Control counts them
  std::size_t peak_bytes = 0;
  std::string engine;
};

struct Solution {
  FlatTree tree;
  std::int64_t depth = 0, leaves = 0;              // of the tree
  std::int64_t depth_bound = 0, leaves_bound = 1;  // proven lower bounds on the objective's two measures
  bool optimal = false;
};

}  // namespace onetree
