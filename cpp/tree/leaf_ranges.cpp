#include "tree/leaf_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace onetree {

namespace {

using Slabs = std::vector<std::vector<int>>;  // per axis, ascending: those that a node is reached with

// Calls `use(cell)` for every cell.
template <typename Use>
void for_each_cell(const Slabs& slabs, const std::vector<std::size_t>& stride, const Use& use) {
  const std::size_t n_axes = slabs.size();
  if (n_axes == 0) return use(0);
  const std::vector<int>& inner = slabs.back();
  std::vector<std::size_t> at(n_axes, 0);
  for (;;) {
    std::size_t first = 0;
    for (std::size_t axis = 0; axis + 1 < n_axes; ++axis) first += slabs[axis][at[axis]] * stride[axis];
    for (const int slab : inner) use(first + slab);
    std::size_t axis = n_axes - 1;
    while (axis > 0 && ++at[axis - 1] == slabs[axis - 1].size()) at[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace

void LeafRanges::number_leaves(FlatTree& tree) {
  const std::size_t n_nodes = tree.feature.size(), n_columns = static_cast<std::size_t>(grid_.n_columns);
  const std::vector<std::size_t> stride = cell_strides(grid_);
  std::vector<double> least(n_nodes * n_columns, -HUGE_VAL), most(n_nodes * n_columns, HUGE_VAL);
  struct Task {
    std::int32_t node;
    Slabs slabs;
  };
  std::vector<Task> tasks(1);
  tasks[0].node = 0;
  for (const Axis& axis : grid_.axes) {
    std::vector<int>& slabs = tasks[0].slabs.emplace_back(axis.n_slabs());
    for (std::size_t slab = 0; slab < slabs.size(); ++slab) slabs[slab] = static_cast<int>(slab);
  }
  while (!tasks.empty()) {
    Task task = std::move(tasks.back());
    tasks.pop_back();
    const std::int32_t feature = tree.feature[task.node];
    if (feature < 0) {
      double *lower = &least[task.node * n_columns], *upper = &most[task.node * n_columns];
      for_each_cell(task.slabs, stride, [&](std::size_t cell) {
        const std::size_t at = grid_.cells[cell] * n_columns;
        for (std::size_t k = 0; k < n_columns; ++k) {
          lower[k] = std::max(lower[k], grid_.least[at + k]);
          upper[k] = std::min(upper[k], grid_.most[at + k]);
        }
      });
      continue;
    }
    const auto axis =
        std::find_if(grid_.axes.begin(), grid_.axes.end(), [&](const Axis& each) { return each.feature == feature; });
    if (axis == grid_.axes.end()) throw std::logic_error("a split on a feature that does not matter");
    const int test =
        static_cast<int>(std::find(axis->thresholds.begin(), axis->thresholds.end(), tree.threshold[task.node]) -
                         axis->thresholds.begin());
    const std::size_t place = static_cast<std::size_t>(axis - grid_.axes.begin());
    for (const bool left : {true, false}) {
      Task child{left ? tree.left[task.node] : tree.right[task.node], task.slabs};
      std::erase_if(child.slabs[place],
                    [&](int slab) { return (axis->set ? axis->set.contains(test, slab) : slab <= test) != left; });
      if (!child.slabs[place].empty()) tasks.push_back(std::move(child));
    }
  }
  std::vector<std::int32_t> key;
  for (std::size_t node = 0; node < n_nodes; ++node) {
    if (tree.feature[node] >= 0) continue;
    key.resize(4 * n_columns);
    std::memcpy(key.data(), &least[node * n_columns], 8 * n_columns);
    std::memcpy(key.data() + 2 * n_columns, &most[node * n_columns], 8 * n_columns);
    const auto [row, is_new] = rows_.intern(key);
    tree.leaf_class[node] = row;
    if (!is_new) continue;
    for (std::size_t k = node * n_columns; k < (node + 1) * n_columns; ++k) {
      if (!(least[k] <= most[k])) throw std::logic_error("a leaf whose cells admit no number in common");
      least_.push_back(least[k]);
      most_.push_back(most[k]);
    }
  }
}

}  // namespace onetree
