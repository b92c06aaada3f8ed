// Cells of which no two fit in one leaf of any tree that is equal to a given one: a fooling set, grown cell by cell.
//
// Two cells of one class may share a leaf only if the smallest box around them has that class throughout. Which of
// the cells chosen so far that leaves is asked of the tree itself: it is walked from the nearest leaf outwards, and
// whatever lies behind a point of another class is left out unseen.
#pragma once

#include <cstdint>
#include <vector>

#include "bound/hemmed_cells.hpp"
#include "bound/slab_tree.hpp"

namespace onetree {

class FoolingSet {
 public:
  explicit FoolingSet(const SlabTree& tree);
  static std::size_t bytes_for(std::size_t n_leaves, std::size_t n_axes, std::size_t n_sets);

  // A cell that may join later, of this leaf; one a leaf.
  void propose(std::uint32_t leaf, const HemmedCell& cell);
  // Whether the proposed cell of the leaf excludes all that have joined so far; if so it joins.
  bool join(std::uint32_t leaf);

  const std::vector<std::uint32_t>& leaves() const { return joined_; }  // whose cells have joined
  const Slab* cell(std::uint32_t leaf) const { return at_.data() + first(leaf); }

 private:
  struct Walk {
    std::uint32_t node;
    std::uint16_t axis;  // on which the nearest point moves, or goes back
    Slab to;
  };
  static constexpr std::uint32_t kGoBack = ~std::uint32_t{0};

  std::size_t first(std::uint32_t leaf) const { return static_cast<std::size_t>(leaf) * tree_.n_axes(); }
  std::size_t first_set(std::uint32_t leaf) const { return static_cast<std::size_t>(leaf) * tree_.n_sets(); }
  bool reaches(std::uint32_t leaf, std::uint32_t other) const;
  bool is_in(std::uint32_t leaf) const;
  bool may_share(std::uint32_t leaf, std::uint32_t other);
  bool meets_box(std::uint32_t leaf) const;
  bool shares_a_leaf(std::uint32_t leaf);
  void count(std::uint32_t leaf);

  const SlabTree& tree_;
  std::vector<Slab> at_, low_, high_;  // per leaf and axis
  std::vector<Values> reach_;          // per leaf and axis without an order
  std::vector<std::uint32_t> joined_;
  std::vector<std::uint32_t> n_joined_;  // per node: of the class in hand, below it
  int class_ = -1;                       // that is in hand: cells of different classes never share a leaf
  std::vector<bool> has_joined_;         // per leaf
  std::vector<Walk> walks_;
  std::vector<Slab> nearest_;  // per axis: the point of the part that is walked through
  std::vector<Slab> box_low_, box_high_;
  std::vector<Values> box_values_;
  std::vector<std::uint32_t> todo_;
};

}  // namespace onetree
