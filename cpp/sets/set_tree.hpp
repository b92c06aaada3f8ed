// What is known of a grid with set axes without any search: a tree, bounds, a promising first cut.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/control.hpp"
#include "grid/grid.hpp"
#include "grid/set_family.hpp"
#include "sets/set_function.hpp"
#include "tree/solution.hpp"

namespace onetree {

// A faithful tree; throws LimitReached.
FlatTree set_greedy_tree(const Grid& grid, Control& control);

struct SetBounds {
  std::int64_t leaves, depth;  // that every tree has
};
// Weak where the grid is large: takes little time.
SetBounds set_bounds(const Grid& grid, Control& control);

struct BoxCount {
  double count;    // of boxes that a table has; at least that many otherwise
  bool is_listed;  // no axis has more than `max_sets` sets
};
BoxCount count_set_boxes(const Grid& grid, int max_sets = SetFamily::kMaxSets);

struct SetCut {
  int axis;
  int test;                    // of that axis
  double cells_in, cells_out;  // of the sides, without the axes that matter no more
};
// The cut whose sides have the smallest sum of square roots of cells. The grid is not all of one class.
SetCut set_cut(const Grid& grid);

// The same for functions.
struct FunctionCut {
  ShapeTest test;
  double cells_in, cells_out;
};
FunctionCut best_cut(const SetFunction& function, const SetShapes& shapes, const std::function<void()>& tick = {});

}  // namespace onetree
