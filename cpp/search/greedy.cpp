#include "search/greedy.hpp"

#include "grid/function.hpp"

namespace onetree {

namespace {

constexpr std::size_t kManyCells = 100'000;  // one such node takes long enough to look at the clock

}  // namespace

FlatTree line_tree(const Grid& grid) {
  const Axis& axis = grid.axes[0];
  struct Range {
    int first, last;  // slabs
    std::int32_t parent;
    bool is_left;
  };
  FlatTree tree;
  std::vector<Range> todo{{0, axis.n_slabs() - 1, -1, false}};
  while (!todo.empty()) {
    const Range range = todo.back();
    todo.pop_back();
    const int middle = range.first + (range.last - range.first) / 2;
    const std::int32_t node = range.first == range.last ? tree.add_leaf(grid.classes[range.first])
                                                        : tree.add_split(axis.feature, axis.thresholds[middle]);
    if (range.parent >= 0) (range.is_left ? tree.left : tree.right)[range.parent] = node;
    if (range.first == range.last) continue;
    todo.push_back({middle + 1, range.last, node, false});
    todo.push_back({range.first, middle, node, true});
  }
  return tree;
}

FlatTree greedy_tree(const Grid& grid, Control& control) {
  struct Task {
    Function function;
    Origin origin;
    std::int32_t parent;
    bool is_left;
  };
  FlatTree tree;
  std::vector<Task> tasks;
  tasks.push_back({function_of(grid), origin_of(grid), -1, false});
  while (!tasks.empty()) {
    const Task task = std::move(tasks.back());
    tasks.pop_back();
    const auto tick = [&] { control.check("first tree", -1, -1, static_cast<std::int64_t>(tree.feature.size())); };
    const bool is_large = task.function.n_cells() > kManyCells;
    if (tree.feature.size() % 64 == 0 || is_large) tick();
    const Function& function = task.function;
    std::int32_t node;
    if (function.is_constant()) {
      node = tree.add_leaf(function.classes[0]);
    } else {
      const Profile profile(function, is_large ? std::function<void()>(tick) : nullptr);
      const Cut best = cut_of_fewest_cells(function, profile);
      const Axis& axis = grid.axes[task.origin.axis[best.axis]];
      node = tree.add_split(axis.feature, axis.thresholds[task.origin.last_slab[best.axis][best.position]]);
      for (const bool left : {false, true}) {  // the left side is popped, and numbered, first
        if (is_large) tick();
        Task child{{}, {}, node, left};
        child.function = side_of(function, profile, best, left, &task.origin, &child.origin);
        tasks.push_back(std::move(child));
      }
    }
    if (task.parent >= 0) (task.is_left ? tree.left : tree.right)[task.parent] = node;
  }
  return tree;
}

}  // namespace onetree
