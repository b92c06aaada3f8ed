// A faithful tree on slabs, unfolded: what is asked for the class of cells and boxes where no grid can be listed.
//
// The class of a cell is that of the leaf it reaches, so all that is found here holds for whatever the tree is equal
// to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "model/set_axis.hpp"
#include "tree/solution.hpp"

namespace onetree {

using Slab = std::uint16_t;    // of an axis with an order, or a value of one without
using Values = std::uint64_t;  // bits of the values of an axis without an order

struct SlabAxis {
  int feature;
  int n_slabs;
  int set = -1;                // its number among the axes without an order
  std::vector<Values> inside;  // of such an axis, per test: the values that pass
  std::vector<Values> hull;    // of such an axis, per two values: what every leaf contains that contains both
};

class SlabTree {
 public:
  static constexpr std::uint16_t kLeaf = 0xFFFF;
  struct Node {           // in preorder: the left child comes next
    std::uint16_t axis;   // kLeaf at a leaf
    std::uint16_t test;   // of an axis with an order: left iff slab <= test; the class at a leaf
    std::uint32_t right;  // the number of the leaf at a leaf
  };

  // Of a tree with more leaves than `most_leaves`, only a part: a fooling set of a part is one of the whole. `sets` as
  // in an ensemble. Splits that decide nothing are left out, so every leaf has a cell. Throws LimitReached.
  SlabTree(const FlatTree& tree, std::span<const SetAxis> sets, std::size_t most_leaves, Control& control);

  // Whether the axes of a tree can be held in these types; otherwise there must not be a SlabTree of it.
  static bool can_hold(const FlatTree& tree, std::span<const SetAxis> sets);
  // Of the unfolded tree, about.
  static std::size_t bytes_for(std::size_t n_leaves, std::size_t n_sets) {
    return n_leaves * (2 * (sizeof(Node) + sizeof(std::uint32_t)) + sizeof(std::uint32_t) + n_sets * sizeof(Values));
  }

  int n_axes() const { return static_cast<int>(axes_.size()); }
  int n_sets() const { return n_sets_; }
  const SlabAxis& axis(int axis) const { return axes_[axis]; }
  const Node& operator[](std::uint32_t node) const { return nodes_[node]; }
  std::size_t n_nodes() const { return nodes_.size(); }
  std::uint32_t depth() const { return depth_; }
  std::uint32_t parent(std::uint32_t node) const { return parent_[node]; }  // the root is its own

  std::uint32_t n_leaves() const { return static_cast<std::uint32_t>(leaves_.size()); }
  std::uint32_t leaf(std::uint32_t number) const { return leaves_[number]; }
  int class_of(std::uint32_t leaf_number) const { return nodes_[leaves_[leaf_number]].test; }
  // The values that lead to a leaf, for each axis without an order.
  const Values* values_of(std::uint32_t leaf_number) const {
    return values_.data() + static_cast<std::size_t>(leaf_number) * n_sets_;
  }

  // What of the space the tree is about: all of it, or the box of the part.
  std::span<const Slab> low() const { return low_; }
  std::span<const Slab> high() const { return high_; }  // inclusive
  std::span<const Values> root_values() const { return root_values_; }

 private:
  void find_axes(const FlatTree& tree, std::span<const SetAxis> sets);
  std::int32_t part_of(const FlatTree& tree, std::size_t most_leaves);
  void unfold(const FlatTree& tree, std::int32_t root, Control& control);

  std::vector<SlabAxis> axes_;
  std::vector<std::uint16_t> axis_of_node_, test_of_node_;  // of the given tree, until it is unfolded
  int n_sets_ = 0;
  std::uint32_t depth_ = 0;
  std::vector<Slab> low_, high_;
  std::vector<Values> root_values_;  // per axis without an order
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> parent_, leaves_;
  std::vector<Values> values_;
};

}  // namespace onetree
