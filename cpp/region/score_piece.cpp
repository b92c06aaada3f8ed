#include "region/score_piece.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "search/cells.hpp"
#include "table/any_table.hpp"

namespace onetree {

namespace {

constexpr std::size_t kMostStates = 200'000;  // of a decision diagram, in which no bounds settle anything

using Slabs = ScorePiece::Slabs;

std::unique_lock<std::mutex> shapes_of(const ScorePiece& piece) {
  return std::unique_lock(piece.whole->mutex);
}

// What one side of a split keeps of the slabs of its axis.
std::vector<int> side_of_slabs(const Axis& axis, const std::vector<int>& slabs, int position, bool below) {
  std::vector<int> kept;
  for (const int slab : slabs)
    if ((axis.set ? axis.set.contains(position, slab) : slab <= position) == below) kept.push_back(slab);
  return kept;
}

// The number of what a leaf may carry all over a box.
int leaf_of(const ScorePiece::Whole& whole, const Slabs& box) {
  const ScoreGrid& grid = whole.grid;
  const auto n_columns = static_cast<std::size_t>(grid.n_columns);
  std::vector<double> least(n_columns, -HUGE_VAL), most(n_columns, HUGE_VAL);
  std::vector<std::size_t> at(box.size(), 0);
  for (;;) {
    std::size_t cell = 0;
    for (std::size_t axis = 0; axis < box.size(); ++axis) cell += box[axis][at[axis]] * whole.stride[axis];
    const std::size_t first = grid.cells[cell] * n_columns;
    for (std::size_t c = 0; c < n_columns; ++c) {
      least[c] = std::max(least[c], grid.least[first + c]);
      most[c] = std::min(most[c], grid.most[first + c]);
    }
    std::size_t axis = box.size();
    while (axis > 0 && ++at[axis - 1] == box[axis - 1].size()) at[--axis] = 0;
    if (axis == 0) break;
  }
  return whole.leaves->number(least, most);
}

// All slabs that halves of a line leave: a tree as low as can be.
FlatTree line_tree(const ScoreFunction& function) {
  const std::vector<int> ends = ends_of_leaves(function);
  struct Range {
    int first, last;  // leaves
    std::int32_t parent;
    bool is_left;
  };
  FlatTree tree;
  std::vector<Range> todo{{0, static_cast<int>(ends.size()) - 1, -1, false}};
  while (!todo.empty()) {
    const Range range = todo.back();
    todo.pop_back();
    const int middle = range.first + (range.last - range.first) / 2;
    const std::int32_t node = range.first == range.last ? tree.add_leaf(0) : tree.add_split(0, ends[middle]);
    if (range.parent >= 0) (range.is_left ? tree.left : tree.right)[range.parent] = node;
    if (range.first == range.last) continue;
    todo.push_back({middle + 1, range.last, node, false});
    todo.push_back({range.first, middle, node, true});
  }
  return tree;
}

}  // namespace

std::optional<ScorePiece> ScorePainter::painted(const Ensemble& ensemble, Control& control) const {
  ScorePiece piece;
  piece.whole = std::make_shared<ScorePiece::Whole>();
  piece.whole->leaves = leaves;
  ScoreGrid& grid = piece.whole->grid;
  try {
    grid = build_score_grid(ensemble, scoring->n_columns, scoring->admit, control, kMostStates);
  } catch (const GridTooLarge&) {
    return std::nullopt;
  }
  piece.whole->stride = cell_strides(grid);
  piece.function = function_of(grid, piece.whole->shapes, &piece.origin);
  for (const Axis& axis : grid.axes) {
    std::vector<int>& slabs = piece.box.emplace_back(axis.n_slabs());
    std::iota(slabs.begin(), slabs.end(), 0);
  }
  return piece;
}

double boxes_of(const ScorePiece& piece) {
  if (is_line(piece.function)) return static_cast<double>(piece.function.n_cells());
  const auto lock = shapes_of(piece);
  return n_boxes(piece.function, piece.whole->shapes);
}

ScorePieceCut cut_of(const ScorePiece& piece, const std::function<void()>& tick) {
  const auto lock = shapes_of(piece);
  const ScoreFunction& function = piece.function;
  const ScoreProfile profile(function, piece.whole->shapes, tick);
  const Cut cut = cut_of_fewest_cells(function, profile);
  const GridSplit split = grid_split(piece.whole->axes, function, piece.whole->shapes, piece.origin, cut);
  ScorePieceCut parts{split, {}, {}};
  for (const bool is_below : {true, false}) {
    ScorePiece& part = is_below ? parts.below : parts.above;
    part.whole = piece.whole;
    part.function = side_of(function, profile, cut, is_below != split.is_swapped, &piece.origin, &part.origin);
    part.box = piece.box;
    part.box[split.axis] =
        side_of_slabs(piece.whole->axes[split.axis], piece.box[split.axis], split.position, is_below);
  }
  return parts;
}

FlatTree tree_of(const ScorePiece& piece, Objective objective, std::int64_t expected_splits, Control& control,
                 std::size_t* peak_bytes) {
  *peak_bytes = 0;
  if (piece.function.is_constant()) {
    FlatTree tree;
    tree.add_leaf(0);
    return tree;
  }
  if (is_line(piece.function)) return line_tree(piece.function);
  ScoreGrid grid;
  {
    const auto lock = shapes_of(piece);
    grid = grid_of(piece.function, piece.whole->shapes);
  }
  return with_table(grid, expected_splits, control, [&](auto& dp) {
    FlatTree tree = std::move(dp.solve(objective).tree);
    *peak_bytes = dp.peak_bytes();
    return tree;
  });
}

SharedTree::Id import_tree(const ScorePiece& piece, const FlatTree& tree, SharedTree& shared) {
  struct Task {
    std::int32_t node;
    Slabs box;
    GridSplit split{};
    int n_done = 0;  // of its sides
    SharedTree::Id below = -1;
  };
  const std::vector<Axis>& axes = piece.whole->axes;
  std::vector<Task> path{{0, piece.box}};
  for (SharedTree::Id done = -1;;) {
    Task& task = path.back();
    if (tree.feature[task.node] < 0) {
      done = shared.leaf(leaf_of(*piece.whole, task.box));
    } else if (task.n_done == 2) {
      done = piece.whole->leaves->join(shared, task.split.feature, task.split.threshold, task.below, done);
    } else {
      if (task.n_done == 0) {
        const auto lock = shapes_of(piece);
        task.split = grid_split(axes, piece.function, piece.whole->shapes, piece.origin,
                                {tree.feature[task.node], static_cast<int>(tree.threshold[task.node])});
      } else {
        task.below = done;
      }
      const bool is_below = task.n_done++ == 0;
      const std::int32_t left = tree.left[task.node], right = tree.right[task.node];
      Task side{is_below != task.split.is_swapped ? left : right, task.box};
      std::vector<int>& slabs = side.box[task.split.axis];
      slabs = side_of_slabs(axes[task.split.axis], slabs, task.split.position, is_below);
      path.push_back(std::move(side));
      continue;
    }
    path.pop_back();
    if (path.empty()) return done;
  }
}

}  // namespace onetree
