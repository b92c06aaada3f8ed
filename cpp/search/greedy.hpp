// A faithful tree at once, of no proven size: an upper bound for the exact engines and what is in hand at a limit.
#pragma once

#include "base/control.hpp"
#include "grid/score_grid.hpp"
#include "tree/solution.hpp"

namespace onetree {

// A grid of one axis: neighbours differ in class, so every tree has a leaf for each slab, and one that halves them is
// best by any measure.
FlatTree line_tree(const Grid& grid);

// Cuts where the two sides have the smallest sum of square roots of (reduced) cells.
FlatTree greedy_tree(const Grid& grid, Control& control);
FlatTree greedy_tree(const ScoreGrid& grid, Control& control);  // all of its leaves have class 0

}  // namespace onetree
