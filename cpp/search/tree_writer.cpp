#include "search/tree_writer.hpp"

#include <utility>
#include <vector>

namespace onetree {

namespace {

constexpr std::size_t kManyCells = 100'000;  // one such node takes long enough to look at the clock
constexpr std::size_t kNodesBetweenTicks = 64;

int leaf_of(const Function& function) {
  return function.classes[0];
}
int leaf_of(const ScoreFunction&) {
  return 0;
}

}  // namespace

template <typename Cells>
FlatTree write_tree(const typename Cells::Grid& grid, Shapes& shapes, const ChooseCut<Cells>& choose,
                    const std::function<void(std::int64_t)>& tick) {
  using Function = typename Cells::Function;
  struct Task {
    Function function;
    Origin origin;
    int depth = 0;
    std::int32_t parent = -1;
    bool is_left = false;
  };
  FlatTree tree;
  std::vector<Task> tasks(1);
  tasks[0].function = function_of(grid, shapes, &tasks[0].origin);
  while (!tasks.empty()) {
    const Task task = std::move(tasks.back());
    tasks.pop_back();
    const Function& function = task.function;
    std::function<void()> on_the_way;
    if (tick && function.n_cells() > kManyCells)
      on_the_way = [&] { tick(static_cast<std::int64_t>(tree.feature.size())); };
    if (tick && tree.feature.size() % kNodesBetweenTicks == 0) tick(static_cast<std::int64_t>(tree.feature.size()));
    std::int32_t node;
    if (function.is_constant()) {
      node = tree.add_leaf(leaf_of(function));
    } else {
      const typename Cells::Profile profile(function, shapes, on_the_way);
      const Cut cut = choose(function, profile, task.depth);
      const GridSplit split = grid_split(grid.axes, function, shapes, task.origin, cut);
      node = tree.add_split(split.feature, split.threshold);
      for (const bool left : {false, true}) {  // the left side is popped, and numbered, first
        if (on_the_way) on_the_way();
        Task child{{}, {}, task.depth + 1, node, left};
        child.function = side_of(function, profile, cut, left != split.is_swapped, &task.origin, &child.origin);
        tasks.push_back(std::move(child));
      }
    }
    if (task.parent >= 0) (task.is_left ? tree.left : tree.right)[task.parent] = node;
  }
  return tree;
}

template FlatTree write_tree<ClassCells>(const Grid&, Shapes&, const ChooseCut<ClassCells>&,
                                         const std::function<void(std::int64_t)>&);
template FlatTree write_tree<ScoreCells>(const ScoreGrid&, Shapes&, const ChooseCut<ScoreCells>&,
                                         const std::function<void(std::int64_t)>&);

}  // namespace onetree
