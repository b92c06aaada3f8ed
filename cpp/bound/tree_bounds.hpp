// Lower bounds on the leaves and the depth of every tree that is equal to a given one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "bound/slab_tree.hpp"
#include "model/set_axis.hpp"
#include "tree/solution.hpp"

namespace onetree {

struct TreeBounds {
  std::int64_t leaves = 1, depth = 0;
  // Why: cells of which no two fit in one leaf of any such tree.
  std::vector<int> feature;  // of each axis; its slabs lie between the thresholds that the tree has on it
  std::vector<Slab> cells;   // axis by axis, cell by cell
  double seconds = 0;
  std::int64_t work = 0;  // steps, as Control counts them
  std::size_t peak_bytes = 0;
};

// `sets` as in the ensemble whose tree it is: only its tests count as ways to part the values of an axis without an
// order. The same for any number of threads. At a limit, the bounds are what was found until then; throws Interrupted
// only.
TreeBounds bounds_from_tree(const FlatTree& tree, std::span<const SetAxis> sets, Control& control);

}  // namespace onetree
