// A tree under construction whose equal subtrees are held once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interner.hpp"
#include "tree/solution.hpp"

namespace onetree {

class SharedTree {
 public:
  using Id = std::int32_t;

  Id leaf(int class_index) { return make(-1, 0, class_index, 0); }
  // `threshold` as its bits in the key, so equal thresholds are equal splits. Equal sides need no split.
  Id split(int feature, double threshold, Id left, Id right);
  // A whole tree; children come after their parents in it.
  Id import(const FlatTree& tree);

  // -1 where it is a split.
  int leaf_class(Id id) const { return interner_.key(id)[0] < 0 ? interner_.key(id)[3] : -1; }
  double n_leaves(Id id) const { return leaves_[id]; }
  std::int64_t depth(Id id) const { return depth_[id]; }
  std::int32_t size() const { return interner_.size(); }
  std::size_t bytes() const { return interner_.bytes() + leaves_.size() * (sizeof(double) + sizeof(std::int32_t)); }

  FlatTree flatten(Id root) const;  // parents before children; shared subtrees stay shared

 private:
  Id make(std::int32_t feature, double threshold, std::int32_t left, std::int32_t right);

  Interner interner_;
  std::vector<double> leaves_;  // of the unfolded tree
  std::vector<std::int32_t> depth_;
};

}  // namespace onetree
