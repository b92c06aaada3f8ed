// Exact engine for grids with axes that have no order: a table of all boxes whose sides are sets that tests leave.
//
// Knows the value of every box: memory known in advance, every objective, the whole Pareto front.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/control.hpp"
#include "grid/grid.hpp"
#include "table/set_boxes.hpp"
#include "table/set_table.hpp"
#include "tree/solution.hpp"

namespace onetree {

class SetDp {
 public:
  // Throws GridTooLarge where the tests of an axis leave too many sets.
  SetDp(const Grid& grid, Control& control);
  // The same where leaves carry numbers: in its trees all leaves have class 0. Throws LimitReached, too.
  SetDp(const ScoreGrid& grid, Control& control);

  // Throws LimitReached.
  Solution solve(Objective objective);
  // Appends to `front`, from the shallowest on, so that nothing is lost at a limit.
  void pareto_front(std::vector<Solution>& front);

  std::size_t peak_bytes() const { return peak_bytes_; }
  std::int64_t states() const { return n_filled_; }  // values of boxes

 private:
  struct Choice {
    int axis;
    SetSplit split;
  };

  SetTable fill(SetMeasure measure, int width);
  SetTable depth_table();
  SetTable splits_table();
  SetTable splits_depth_table();
  std::size_t layers_bytes() const;
  void need_layers(std::int64_t max_depth);
  void need_fitting_layers(std::int64_t max_depth);
  Solution depth_limited(std::int64_t max_depth);

  template <typename Value, typename Fit>
  FlatTree read_tree(const Value& value, const Fit& fit) const;
  template <typename Fit>
  FlatTree read_tree(const SetTable& table, const Fit& fit) const;

  SetDp(const GridAxes& grid, double n_cells, Control& control);
  int leaf_class(const SetBox& box) const {
    return leaves_.classes != nullptr ? leaves_.classes[boxes_.least_cell(box)] : 0;
  }
  std::size_t own_bytes() const { return boxes_.bytes() + is_leaf_.size(); }

  const GridAxes& grid_;
  const double n_cells_;
  Control& control_;
  SetBoxes boxes_;
  std::vector<std::uint8_t> is_leaf_;  // per box, where leaves carry numbers
  SetLeaves leaves_;
  std::size_t root_;
  std::vector<SetTable> layers_;  // per depth: fewest splits of trees that are no deeper
  int wide_ = 1;                  // bytes of the layers in which trees may have many splits
  std::size_t peak_bytes_ = 0;
  std::int64_t n_filled_ = 0;
};

}  // namespace onetree
