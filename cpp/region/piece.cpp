#include "region/piece.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "search/greedy.hpp"
#include "table/any_table.hpp"

namespace onetree {

namespace {

constexpr std::size_t kMostStates = 20'000;  // of a decision diagram
constexpr std::size_t kManyCells = 100'000;  // take long enough to look at the clock

std::unique_lock<std::mutex> shapes_of(const Piece& piece) {
  return piece.whole->has_sets ? std::unique_lock(piece.whole->mutex) : std::unique_lock<std::mutex>();
}

Grid grid_of(const Piece& piece) {
  const auto lock = shapes_of(piece);
  Grid grid;
  const Function& function = piece.function;
  for (int at = 0; at < function.n_axes(); ++at) {
    Axis& axis = grid.axes.emplace_back();
    axis.feature = piece.whole->axes[piece.origin.axis[at]].feature;  // by which equal cuts are chosen among
    if (function.is_set(at)) axis.set = piece.whole->shapes[function.shape[at]];
    axis.thresholds.resize(n_cuts(function, piece.whole->shapes, at));
    std::iota(axis.thresholds.begin(), axis.thresholds.end(), 0);
  }
  grid.classes = function.classes;
  return grid;
}

}  // namespace

std::optional<Piece> painted(const Ensemble& ensemble, Control& control) {
  Grid grid;
  try {
    grid = build_grid(ensemble, control, kMostStates);
  } catch (const GridTooLarge&) {
    return std::nullopt;
  }
  Piece piece;
  piece.whole = std::make_shared<Piece::Whole>();
  piece.function = function_of(grid, piece.whole->shapes, &piece.origin);
  piece.whole->has_sets = grid.has_sets();
  piece.whole->axes = std::move(grid.axes);
  piece.whole->names = std::move(grid.names);
  return piece;
}

double boxes_of(const Piece& piece) {
  if (piece.is_line()) return static_cast<double>(piece.function.n_cells());
  const auto lock = shapes_of(piece);
  return n_boxes(piece.function, piece.whole->shapes);
}

PieceCut cut_of(const Piece& piece, const std::function<void()>& tick) {
  const auto lock = shapes_of(piece);
  const Function& function = piece.function;
  const std::function<void()> on_the_way = function.n_cells() > kManyCells ? tick : std::function<void()>{};
  const Profile profile(function, piece.whole->shapes, on_the_way);
  const Cut cut = cut_of_fewest_cells(function, profile);
  PieceCut parts{grid_split(piece.whole->axes, function, piece.whole->shapes, piece.origin, cut), {}, {}};
  for (Piece* part : {&parts.below, &parts.above}) {
    const bool is_left = (part == &parts.below) != parts.split.is_swapped;
    part->whole = piece.whole;
    part->function = side_of(function, profile, cut, is_left, &piece.origin, &part->origin);
  }
  return parts;
}

FlatTree tree_of(const Piece& piece, Objective objective, std::int64_t expected_splits, Control& control,
                 std::size_t* peak_bytes) {
  *peak_bytes = 0;
  const Grid grid = grid_of(piece);
  if (grid.axes.empty()) {
    FlatTree tree;
    tree.add_leaf(grid.classes[0]);
    return tree;
  }
  if (grid.is_line()) return line_tree(grid);
  return with_table(grid, expected_splits, control, [&](auto& dp) {
    FlatTree tree = std::move(dp.solve(objective).tree);
    *peak_bytes = dp.peak_bytes();
    return tree;
  });
}

SharedTree::Id import_tree(const Piece& piece, const FlatTree& tree, SharedTree& shared) {
  const Function& function = piece.function;
  std::vector<std::pair<int, std::vector<GridSplit>>> splits(function.n_axes());  // with the feature of the axis
  const auto lock = shapes_of(piece);
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    splits[axis].first = piece.whole->axes[piece.origin.axis[axis]].feature;
    for (int position = 0; position < n_cuts(function, piece.whole->shapes, axis); ++position)
      splits[axis].second.push_back(
          grid_split(piece.whole->axes, function, piece.whole->shapes, piece.origin, {axis, position}));
  }
  std::vector<SharedTree::Id> id_of(tree.feature.size());
  for (std::size_t node = tree.feature.size(); node-- > 0;) {
    if (tree.feature[node] < 0) {
      const std::vector<Class>& names = piece.whole->names;
      id_of[node] = shared.leaf(names.empty() ? tree.leaf_class[node] : names[tree.leaf_class[node]]);
      continue;
    }
    const auto axis =
        std::find_if(splits.begin(), splits.end(), [&](const auto& each) { return each.first == tree.feature[node]; });
    const GridSplit& split = axis->second[static_cast<std::size_t>(tree.threshold[node])];
    SharedTree::Id below = id_of[tree.left[node]], above = id_of[tree.right[node]];
    if (split.is_swapped) std::swap(below, above);
    id_of[node] = shared.split(split.feature, split.threshold, below, above);
  }
  return id_of[0];
}

}  // namespace onetree
