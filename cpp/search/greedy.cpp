#include "search/greedy.hpp"

#include "search/tree_writer.hpp"

namespace onetree {

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

namespace {

template <typename Cells>
FlatTree greedy_tree_of(const typename Cells::Grid& grid, Control& control) {
  Shapes shapes;
  return write_tree<Cells>(
      grid, shapes,
      [](const auto& function, const auto& profile, int) { return cut_of_fewest_cells(function, profile); },
      [&](std::int64_t n_nodes) { control.check("first tree", -1, -1, n_nodes); });
}

}  // namespace

FlatTree greedy_tree(const Grid& grid, Control& control) {
  return greedy_tree_of<ClassCells>(grid, control);
}

FlatTree greedy_tree(const ScoreGrid& grid, Control& control) {
  return greedy_tree_of<ScoreCells>(grid, control);
}

}  // namespace onetree
