// Where the value of each box lives in the interval table.
//
// A few axes share a row (`RowShape`): it holds every combination of their intervals. The other axes are nested loops.
// Once the intervals on the first loops are chosen, hyperplanes of the next loop across which nothing
// changes any more are dropped, so boxes that hold the same function share one place, and the table is several times
// smaller than the number of boxes. A nest is the tree of these choices: a node at depth j stands for intervals on the
// first j loops, its mask tells which hyperplanes of loop j still matter, and its children are the intervals of what is
// left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/control.hpp"
#include "grid/grid.hpp"
#include "grid/grid_parts.hpp"
#include "grid/score_grid.hpp"
#include "kernel/intervals.hpp"
#include "kernel/row_shape.hpp"

namespace onetree {

// std::popcount is a call into the runtime library where the instruction cannot be assumed.
inline int count_bits(std::uint32_t bits) {
  bits -= (bits >> 1) & 0x55555555U;
  bits = (bits & 0x33333333U) + ((bits >> 2) & 0x33333333U);
  return static_cast<int>((((bits + (bits >> 4)) & 0x0F0F0F0FU) * 0x01010101U) >> 24);
}

// What the cells of a grid are told apart by.
struct CellView {
  explicit CellView(const Grid& from) : grid(from), classes(from.classes) {}
  explicit CellView(const ScoreGrid& from) : grid(from), admissions(from.cells) {}
  const GridAxes& grid;
  std::span<const CellClass> classes{};  // or
  std::span<const std::uint32_t> admissions{};
};

class IntervalNest {
 public:
  // `order`: the axes, those without an order first, then those that settle most of the others. `element_bytes`: width
  // of one value. `most_groups`: in a row.
  // `n_planes`: rows that are kept beside the values, of each slab of the last loop. They lie before the first child,
  // those of slab 0 last. Throws LimitReached when time or memory ends.
  IntervalNest(const CellView& cells, const GridParts& parts, const std::vector<int>& order, std::size_t element_bytes,
               int n_planes, int most_groups, Control& control);

  using Mask = std::uint32_t;

  struct Node {
    Mask mask;                  // hyperplanes that matter; unused where the loop is too long for a mask
    std::uint32_t first_child;  // children are consecutive; below the last loop they are rows
  };

  struct Loop {
    int axis;
    int n_slabs;
    bool reduces;                 // short enough for a mask
    const GridParts::Sets* sets;  // null: it has an order
    std::vector<Node> nodes;
  };

  int n_loops() const { return static_cast<int>(loops_.size()); }
  const Loop& loop(int level) const { return loops_[level]; }
  const RowShape& row() const { return row_; }
  std::size_t n_rows() const { return n_rows_; }  // with those of planes
  std::size_t row_bytes() const { return row_.bytes(); }
  std::size_t element_bytes() const { return row_.element_bytes(); }
  std::size_t bytes() const;           // of the table and of the nest itself
  std::size_t bytes_of_nodes() const;  // and of the lists of intervals
  // Of the loop that a node is in; they number its children.
  const Intervals& intervals(int level, const Node& node) const {
    return loops_[level].sets != nullptr ? loops_[level].sets->list : *intervals_[n_slabs(level, node)];
  }
  // What a part of the loop begins and ends with: slabs of the grid, or whole sets.
  int n_ends(int level) const {
    return loops_[level].sets != nullptr ? loops_[level].sets->family.size() : loops_[level].n_slabs;
  }

  int n_slabs(int level, const Node& node) const {
    return loops_[level].reduces ? count_bits(node.mask) + 1 : loops_[level].n_slabs;
  }
  // The slab of the node that a slab of the grid has become part of.
  int slab_of(int level, const Node& node, int grid_slab) const {
    return loops_[level].reduces ? count_bits(node.mask & ((Mask{1} << grid_slab) - 1)) : grid_slab;
  }
  // The last slab of the grid in each slab of the node. Not for loops of sets.
  void grid_slabs(int level, const Node& node, int* slabs) const;

  std::size_t offset(const Box& box) const { return trace(box).offset; }  // in bytes

  // The way to a box, so that boxes which differ from it on one axis are found without going all of it again.
  static constexpr int kMaxAxes = 33;  // a grid has at most 2^32 cells
  struct Trace {
    std::array<std::uint32_t, kMaxAxes> node;  // per loop
    std::size_t row;                           // its number
    int box;                                   // its number in the row
    std::size_t offset;
  };
  Trace trace(const Box& box) const;
  std::size_t offset(const Box& box, const Trace& trace, int axis, const Interval& interval) const;

  std::size_t child_of(int level, std::size_t index, const Interval& interval) const {
    const Node& node = loops_[level].nodes[index];
    if (loops_[level].sets != nullptr) return node.first_child + static_cast<std::size_t>(interval.lo);
    const int lo = slab_of(level, node, interval.lo), hi = slab_of(level, node, interval.hi);
    return node.first_child + static_cast<std::size_t>(interval_index(n_slabs(level, node), lo, hi));
  }

 private:
  void make_loops(const GridAxes& grid, const GridParts& parts, const std::vector<int>& order, Control& control);
  void build(const CellView& cells, Control& control);
  template <typename Cell>
  std::vector<std::vector<Mask>> single_masks(const GridAxes& grid, std::span<const Cell> cells,
                                              Control& control) const;

  RowShape row_;
  std::vector<Loop> loops_;
  std::vector<int> level_of_axis_;  // -1 - index for an axis of the row
  int n_planes_;
  std::size_t n_rows_ = 1;
  std::vector<std::unique_ptr<Intervals>> intervals_;  // by number of slabs
  double bytes_of_intervals_ = 0;
};

// For each interval of a node, its number in a node of the same loop that knows fewer hyperplanes. One per thread:
// lists are made when they are first asked for.
class IntervalLists {
 public:
  explicit IntervalLists(const IntervalNest& nest);

  struct OfNode {  // the lists of one node
    int level;
    IntervalNest::Mask mask;
    const std::uint32_t** by_mask;  // by the other's mask; null: the loop is too long for such a table
  };
  OfNode of_node(int level, IntervalNest::Mask mask) {
    if (tabled_[level].empty()) return {level, mask, nullptr};
    return {level, mask, tabled_[level].data() + (static_cast<std::size_t>(mask) << (nest_.loop(level).n_slabs - 1))};
  }

  // `fewer`: the other's mask, a subset of the node's.
  const std::uint32_t* list(const OfNode& node, IntervalNest::Mask fewer) {
    if (node.by_mask != nullptr && node.by_mask[fewer] != nullptr) return node.by_mask[fewer];
    return make_list(node, fewer);
  }

  std::size_t bytes() const { return bytes_; }
  void clear();  // forgets all lists; those that were given out are gone

 private:
  const std::uint32_t* make_list(const OfNode& node, IntervalNest::Mask fewer);

  const IntervalNest& nest_;
  std::vector<std::vector<const std::uint32_t*>> tabled_;                           // by level, then by both masks
  std::vector<std::unordered_map<std::uint64_t, const std::uint32_t*>> scattered_;  // by level, for long loops
  std::vector<std::unique_ptr<std::uint32_t[]>> storage_;
  std::size_t bytes_ = 0;
};

// The nest that is filled in the least time, of two orders: the grid's own, and by how much one axis alone settles of
// the others; and, where the table is large, of two lengths of rows. Axes without an order are always the first loops:
// below each of their sets, the other axes are reduced.
IntervalNest choose_nest(const CellView& cells, const GridParts& parts, std::size_t element_bytes, int n_planes,
                         Control& control);

double count_boxes(const GridAxes& grid);

}  // namespace onetree
