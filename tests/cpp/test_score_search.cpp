#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "check.hpp"
#include "grid/score_function.hpp"
#include "search/branch_and_bound.hpp"
#include "search/greedy.hpp"

using namespace onetree;

namespace {

using Values = std::uint32_t;                                   // of an axis: bits
using Box = std::vector<Values>;                                // per axis
using Sizes = std::set<std::pair<std::int64_t, std::int64_t>>;  // depth and leaves, none better than another in both

Axis ordered_axis(int feature, int n_slabs) {
  Axis axis{feature, {}, {}};
  for (int slab = 0; slab + 1 < n_slabs; ++slab) axis.thresholds.push_back(slab);
  return axis;
}

Axis set_axis(check::Random& random, int feature, int n_values) {
  Axis axis{feature, {}, {}};
  axis.set.n_values = n_values;
  for (int test = 0; test < n_values; ++test) {
    const int one = test + 1 < n_values ? test : random.below(n_values);
    const int other = test + 1 < n_values ? test : random.below(n_values);
    axis.thresholds.push_back(test);
    for (int value = 0; value < n_values; ++value) axis.set.member.push_back(value == one || value == other);
  }
  return axis;
}

// Numbers from a short range, so that many ends are equal; `width` is twice the tolerance.
ScoreGrid random_grid(check::Random& random, int n_axes, int most_slabs, bool has_sets) {
  ScoreGrid grid;
  std::size_t n_cells = 1;
  for (int axis = 0; axis < n_axes; ++axis) {
    const int size = 2 + random.below(most_slabs - 1);
    grid.axes.push_back(has_sets && random.below(2) == 0 ? set_axis(random, axis, size) : ordered_axis(axis, size));
    n_cells *= static_cast<std::size_t>(size);
  }
  grid.n_columns = 1 + random.below(3);
  const int range = 2 + random.below(8), n_admissions = 2 + random.below(12);
  for (int i = 0; i < n_admissions * grid.n_columns; ++i) {
    const int least = random.below(range);
    grid.least.push_back(least);
    grid.most.push_back(least + random.below(range));
  }
  for (std::size_t cell = 0; cell < n_cells; ++cell)
    grid.cells.push_back(static_cast<std::uint32_t>(random.below(n_admissions)));
  return grid;
}

Values side(const Axis& axis, int test, bool left) {
  Values values = 0;
  for (int value = 0; value < axis.n_slabs(); ++value)
    if ((axis.set ? axis.set.contains(test, value) : value <= test) == left) values |= Values{1} << value;
  return values;
}

bool may_be_leaf(const ScoreGrid& grid, const Box& box) {
  const std::vector<std::size_t> stride = cell_strides(grid);
  for (int c = 0; c < grid.n_columns; ++c) {
    double least = -1, most = 1e9;
    for (std::size_t cell = 0; cell < grid.n_cells(); ++cell) {
      bool is_inside = true;
      for (int axis = 0; axis < grid.n_axes(); ++axis)
        is_inside = is_inside && (box[axis] >> (cell / stride[axis] % grid.axes[axis].n_slabs()) & 1) != 0;
      if (!is_inside) continue;
      least = std::max(least, grid.least[grid.cells[cell] * grid.n_columns + c]);
      most = std::min(most, grid.most[grid.cells[cell] * grid.n_columns + c]);
    }
    if (least > most) return false;
  }
  return true;
}

// Over all trees.
const Sizes& best_sizes(const ScoreGrid& grid, const Box& box, std::map<Box, Sizes>& known) {
  const auto found = known.find(box);
  if (found != known.end()) return found->second;
  Sizes all;
  if (may_be_leaf(grid, box)) {
    all.insert({0, 1});
  } else {
    for (int axis = 0; axis < grid.n_axes(); ++axis)
      for (std::size_t test = 0; test < grid.axes[axis].thresholds.size(); ++test) {
        Box left = box, right = box;
        left[axis] &= side(grid.axes[axis], static_cast<int>(test), true);
        right[axis] &= side(grid.axes[axis], static_cast<int>(test), false);
        if (left[axis] == 0 || right[axis] == 0) continue;
        for (const auto& [depth, leaves] : best_sizes(grid, left, known))
          for (const auto& [other_depth, other_leaves] : best_sizes(grid, right, known))
            all.insert({1 + std::max(depth, other_depth), leaves + other_leaves});
      }
  }
  Sizes best;
  std::int64_t fewest = 1 << 30;
  for (const auto& [depth, leaves] : all)
    if (leaves < fewest) {
      fewest = leaves;
      best.insert({depth, leaves});
    }
  return known[box] = best;
}

Box whole(const ScoreGrid& grid) {
  Box box;
  for (const Axis& axis : grid.axes) box.push_back((Values{1} << axis.n_slabs()) - 1);
  return box;
}

// Whether every leaf of the tree may be one.
bool is_faithful(const ScoreGrid& grid, const FlatTree& tree, std::int32_t node, const Box& box) {
  if (tree.feature[node] < 0) return may_be_leaf(grid, box);
  Box left = box, right = box;
  for (int axis = 0; axis < grid.n_axes(); ++axis)
    if (grid.axes[axis].feature == tree.feature[node]) {
      left[axis] &= side(grid.axes[axis], static_cast<int>(tree.threshold[node]), true);
      right[axis] &= side(grid.axes[axis], static_cast<int>(tree.threshold[node]), false);
    }
  return is_faithful(grid, tree, tree.left[node], left) && is_faithful(grid, tree, tree.right[node], right);
}

Solution greedy(const ScoreGrid& grid) {
  Control control;
  Solution first;
  first.tree = greedy_tree(grid, control);
  first.depth = first.tree.depth();
  first.leaves = first.tree.n_leaves();
  return first;
}

template <typename Use>
void for_random_grids(std::uint64_t seed, int n, const Use& use) {
  check::Random random(seed);
  for (int round = 0; round < n; ++round) {
    const ScoreGrid grid = random_grid(random, 1 + round % 3, round % 3 == 2 ? 3 : 5, round % 2 == 0);
    std::map<Box, Sizes> known;
    use(grid, best_sizes(grid, whole(grid), known));
  }
}

}  // namespace

TEST(a_search_over_scores_finds_what_all_trees_give) {
  for_random_grids(5, 1500, [](const ScoreGrid& grid, const Sizes& best) {
    const auto fewest = *best.rbegin();
    const Solution first = greedy(grid);
    CHECK(is_faithful(grid, first.tree, 0, whole(grid)));
    for (const Objective objective :
         {Objective::kDepth, Objective::kLeaves, Objective::kDepthLeaves, Objective::kLeavesDepth}) {
      Control control;
      BranchAndBound<ScoreCells> search(grid, first, control);
      const Solution found = search.solve(objective);
      CHECK(found.optimal);
      CHECK(is_faithful(grid, found.tree, 0, whole(grid)));
      CHECK_EQUAL(found.depth, found.tree.depth());
      CHECK_EQUAL(found.leaves, found.tree.n_leaves());
      if (objective == Objective::kDepth || objective == Objective::kDepthLeaves)
        CHECK_EQUAL(found.depth, best.begin()->first);
      else
        CHECK_EQUAL(found.leaves, fewest.second);
      if (objective == Objective::kDepthLeaves) CHECK_EQUAL(found.leaves, best.begin()->second);
      if (objective == Objective::kLeavesDepth) CHECK_EQUAL(found.depth, fewest.first);
    }
  });
}

TEST(bounds_of_scores_hold) {
  for_random_grids(6, 1500, [](const ScoreGrid& grid, const Sizes& best) {
    Shapes shapes;
    const ScoreFunction function = function_of(grid, shapes);
    ScoreFooling fooling(shapes, std::size_t{1} << 30, 1 << 20, {});
    const CellBounds bounds = fooling.bounds(function);
    CHECK(bounds.leaves <= best.rbegin()->second);
    CHECK(bounds.depth <= best.begin()->first);
    CHECK(least_splits(function) < best.rbegin()->second);
    const std::vector<int> left = fooling.left_of_cuts(function);
    CHECK_EQUAL(left.back(), bounds.leaves);
    CHECK_EQUAL(static_cast<int>(left.size()), n_cuts(function, shapes) + 1);
  });
}

TEST(a_box_of_scores_may_be_a_leaf_iff_its_function_is_constant) {
  for_random_grids(7, 500, [](const ScoreGrid& grid, const Sizes&) {
    Shapes shapes;
    const ScoreFunction function = function_of(grid, shapes);
    CHECK_EQUAL(function.is_constant(), may_be_leaf(grid, whole(grid)));
    CHECK_EQUAL(function.n_columns == 0, function.is_constant());
  });
}

TEST(reducing_scores_twice_changes_nothing) {
  for_random_grids(8, 500, [](const ScoreGrid& grid, const Sizes& best) {
    Shapes shapes;
    const ScoreFunction once = function_of(grid, shapes);
    const ScoreGrid smaller = grid_of(once, shapes);
    const ScoreFunction twice = function_of(smaller, shapes);
    if (!once.has_sets()) {  // otherwise axes may have changed places
      CHECK(once.size == twice.size && once.shape == twice.shape && once.cells == twice.cells);
      CHECK(once.least == twice.least && once.most == twice.most);
    }
    std::map<Box, Sizes> known;
    CHECK(best_sizes(smaller, whole(smaller), known) == best);
  });
}

TEST(a_search_over_scores_that_is_stopped_has_bounds_and_a_tree) {
  for_random_grids(9, 300, [](const ScoreGrid& grid, const Sizes& best) {
    Control control;
    control.work_limit = 3;
    BranchAndBound<ScoreCells> search(grid, greedy(grid), control);
    const Solution found = search.solve(Objective::kLeaves);
    CHECK(is_faithful(grid, found.tree, 0, whole(grid)));
    CHECK(found.leaves_bound <= best.rbegin()->second);
    CHECK(found.depth_bound <= best.begin()->first);
    CHECK(found.leaves >= best.rbegin()->second);
  });
}
