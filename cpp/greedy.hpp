// A faithful tree at once, of no proven size: an upper bound for the exact engines and what is in hand at a limit.
#pragma once

#include "control.hpp"
#include "solution.hpp"

namespace onetree {

// Cuts where the two sides have the smallest sum of square roots of (reduced) cells.
FlatTree greedy_tree(const Grid& grid, Control& control);

}  // namespace onetree
