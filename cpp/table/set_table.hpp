// One value per box: filled from the values of smaller boxes, a row at a time.
//
// A box is a leaf, of value 0, if and only if all its cells have one class. One of its splits tells: both sides are
// leaves, and their least cells have the same class. Where leaves carry numbers, it is known before of every box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/control.hpp"
#include "grid/score_grid.hpp"
#include "table/score_ranks.hpp"
#include "table/set_boxes.hpp"

namespace onetree {

enum class SetMeasure {
  kLeaf,         // 0, or saturated for a box that is no leaf
  kDepth,        // least depth
  kSplits,       // fewest splits
  kSplitsDepth,  // fewest splits, then least depth: packed into one word
};

// Either of them.
struct SetLeaves {
  const CellClass* classes = nullptr;     // of the cells
  const std::uint8_t* is_leaf = nullptr;  // of the boxes
};

// Whether each box may be a leaf, where leaves carry numbers. Throws LimitReached.
std::vector<std::uint8_t> score_leaves(const SetBoxes& boxes, const ScoreGrid& grid, const ScoreRanks& ranks,
                                       Control& control);

class SetTable {
 public:
  // A value that does not fit in its `width` bytes (1, 2, 4 or 8) is saturated; those of all boxes within it that do
  // fit are exact. Throws LimitReached, before anything is allocated where that can be known.
  SetTable(const SetBoxes& boxes, const SetLeaves& leaves, SetMeasure measure, int width, Control& control);
  // Fewest splits of trees one deeper than those of `shallower`, at least as wide and at most 4 bytes; saturated where
  // there is no such tree.
  SetTable(const SetBoxes& boxes, const SetTable& shallower, int width, Control& control);

  int width() const { return width_; }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t at(std::size_t box) const;
  std::uint64_t saturated() const { return ~std::uint64_t{0} >> (64 - 8 * width_); }

  static double seconds(const SetBoxes& boxes);  // that filling a table is expected to take

 private:
  SetTable(const SetBoxes& boxes, int width, Control& control);

  int width_;
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> memory_;  // as words of `width_` bytes
};

// The two parts of a value of SetMeasure::kSplitsDepth. A part with all its bits set did not fit.
struct SplitsDepth {
  std::uint64_t splits, depth;
  bool splits_fit, depth_fits;
  SplitsDepth(std::uint64_t word, int width);
  static constexpr int depth_bits(int width) { return width <= 2 ? 5 : width == 4 ? 11 : 24; }
};

}  // namespace onetree
