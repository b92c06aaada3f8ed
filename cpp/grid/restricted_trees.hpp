// The trees of an ensemble, restricted to one slab after another of the features in a given order.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/control.hpp"
#include "base/interner.hpp"
#include "grid/grid.hpp"
#include "model/ensemble.hpp"

namespace onetree {

// Hash-consed. Children have smaller numbers than their parents; a split both of whose sides are equal does not exist.
class RestrictedTrees {
 public:
  // `layer_of_feature`: its place in the order; -1 where no split names it. All arguments must outlive this object.
  RestrictedTrees(const Ensemble& ensemble, const Levels& levels, const std::vector<int>& layer_of_feature,
                  Control& control);

  struct Node {
    int layer;    // first layer that the tree depends on; kLeafLayer at a leaf
    int feature;  // of its root; -1 at a leaf
    int level;    // goes left iff slab <= level, or if the test of this number contains it
    bool missing_left;
    std::int32_t left, right;  // at a leaf, left is the ensemble's leaf node
    std::int64_t row;          // where its restrictions to the slabs of `layer` begin; -1: not yet known
  };
  static constexpr int kLeafLayer = std::numeric_limits<int>::max();

  const Node& operator[](std::int32_t id) const { return nodes_[id]; }
  const std::vector<std::int32_t>& roots() const { return roots_; }
  const double* low(std::int32_t id) const {
    return bounds_.data() + 2 * static_cast<std::size_t>(id) * ensemble_.n_outputs;
  }
  const double* high(std::int32_t id) const { return low(id) + ensemble_.n_outputs; }

  // The tree on each slab of its first layer, once that is there. The pointer holds until the next row is made.
  const std::int32_t* row(std::int32_t id) const { return rows_.data() + nodes_[id].row; }
  // Throws GridTooLarge, or LimitReached when time is up.
  void ensure_row(std::int32_t id) {
    if (nodes_[id].row < 0) fill_row(id);
  }

 private:
  void import_trees();
  std::int32_t make(int feature, int level, bool missing_left, std::int32_t left, std::int32_t right);
  std::int32_t make_leaf(std::int32_t ensemble_node);

  void fill_row(std::int32_t id);
  bool wait_for_rows(std::int32_t top);
  std::size_t new_row(int n_slabs);
  bool goes_left(const Node& node, int slab) const;
  template <typename Use>
  void spread(std::int32_t top, int layer, Use&& use);

  const Ensemble& ensemble_;
  const Levels& levels_;
  const std::vector<int>& layer_of_feature_;
  Control& control_;
  std::vector<int> feature_of_layer_, slabs_of_layer_;
  std::vector<Node> nodes_;
  std::vector<double> bounds_;  // per node: low, then high, of every output
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> roots_, stack_, key_;
  struct Part {
    std::int32_t id;
    int first, last;  // slabs
  };
  std::vector<Part> parts_;
  std::size_t next_check_;  // in entries of rows_
  Interner interner_;
};

}  // namespace onetree
