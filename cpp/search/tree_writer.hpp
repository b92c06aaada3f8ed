// Writes the tree that a choice of cuts makes of a grid.
#pragma once

#include <functional>

#include "search/cells.hpp"
#include "tree/solution.hpp"

namespace onetree {

// What to cut a function of some node with; it is not constant. The root has depth 0.
template <typename Cells>
using ChooseCut =
    std::function<Cut(const typename Cells::Function& function, const typename Cells::Profile& profile, int depth)>;

// `tick`, where given, is called now and then with the number of nodes so far; it may throw. Leaves of scores have
// class 0.
template <typename Cells>
FlatTree write_tree(const typename Cells::Grid& grid, Shapes& shapes, const ChooseCut<Cells>& choose,
                    const std::function<void(std::int64_t)>& tick = {});

}  // namespace onetree
