// The boxes of a grid whose axes are families of sets: their numbers, and the order in which tables of them are filled.
//
// Boxes are numbered so that the last axes of the order make up a row. A row is filled at once from the rows of its
// sides on the other axes, element by element, and then box by box from its own boxes. Rows whose sets have equal ranks
// in total do not depend on each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/control.hpp"
#include "grid/grid.hpp"
#include "grid/set_family.hpp"

namespace onetree {

using SetBox = std::vector<int>;  // number of a set per axis of the grid

class SetBoxes {
 public:
  // Throws GridTooLarge where an axis has too many sets.
  SetBoxes(const GridAxes& grid, Control& control);

  const SetFamily& family(int axis) const { return families_[axis]; }
  int n_axes() const { return static_cast<int>(families_.size()); }
  double count() const { return count_; }      // of boxes; more than fits in an integer does not fit in memory either
  double n_joins() const { return n_joins_; }  // pairs of sides of all boxes
  std::size_t size() const { return static_cast<std::size_t>(count_); }
  std::size_t bytes() const;

  SetBox whole() const;
  std::size_t number(const SetBox& box) const;
  std::size_t with_set(std::size_t number, const SetBox& box, int axis, std::uint32_t set) const {
    return number + set * stride_[axis] - box[axis] * stride_[axis];
  }
  std::size_t least_cell(const SetBox& box) const;

  // One box of a row: smaller boxes of the row come first.
  struct Cell {  // no set in it can be split
    std::uint32_t box;
    std::size_t cell;  // its place among the cells of the row
  };
  struct Inner {  // its splits along the axes of the row
    std::uint32_t box, first_join, last_join;
    std::size_t inside_cell, outside_cell;  // least cells of the sides of the first of them
  };
  struct Join {  // two boxes of a row, or the first boxes of two rows, that a split leaves
    std::size_t inside, outside;
  };
  std::size_t row_size() const { return row_size_; }
  const std::vector<Cell>& cells() const { return cells_; }
  const std::vector<Inner>& inner() const { return inner_; }
  const std::vector<Join>& inner_joins() const { return inner_joins_; }

  // Runs of rows, in fronts: what a row is made of lies before it in its run, or in a front before. Few enough to be
  // listed, and as long as that allows.
  struct Runs {
    std::size_t n_rows = 1;                          // of each run
    std::vector<std::vector<std::size_t>> fronts{};  // the first row of each run
  };
  Runs runs() const;
  Runs one_run() const { return {size() / row_size_, {{0}}}; }

  // Visits some rows, sides first.
  class Rows {
   public:
    Rows(const SetBoxes& boxes, std::size_t first_row, std::size_t n_rows);
    bool at_end() const { return n_left_ == 0; }
    void advance();
    std::size_t first_box() const { return first_box_; }
    const std::vector<Join>& joins() const { return joins_; }  // along the axes that are not in the row
    std::size_t least() const { return least_; }               // the row's least cell
    // The same of the two sides of the first split.
    std::size_t least_inside() const { return least_inside_; }
    std::size_t least_outside() const { return least_outside_; }

   private:
    void look();

    const SetBoxes& boxes_;
    SetBox sets_;  // by place in the order
    std::size_t first_box_, n_left_;
    std::vector<Join> joins_;
    std::size_t least_ = 0, least_inside_ = 0, least_outside_ = 0;
  };

 private:
  void lay_out_row(std::size_t n_outer);

  std::vector<SetFamily> families_;
  std::vector<int> order_;                         // axes, the outermost first
  std::vector<std::size_t> stride_, cell_stride_;  // per axis
  std::size_t n_outer_ = 0, row_size_ = 1;
  double count_ = 1, n_joins_ = 0;
  std::vector<Cell> cells_;
  std::vector<Inner> inner_;
  std::vector<Join> inner_joins_;
};

}  // namespace onetree
