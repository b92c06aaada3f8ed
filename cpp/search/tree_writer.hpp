// Writes the tree that a choice of cuts makes of a grid.
#pragma once

#include <functional>

#include "grid/function.hpp"
#include "tree/solution.hpp"

namespace onetree {

// What to cut a function of some node with; it is not constant. The root has depth 0.
using ChooseCut = std::function<Cut(const Function& function, const Profile& profile, int depth)>;

// `tick`, where given, is called now and then with the number of nodes so far; it may throw.
FlatTree write_tree(const Grid& grid, Shapes& shapes, const ChooseCut& choose,
                    const std::function<void(std::int64_t)>& tick = {});

}  // namespace onetree
