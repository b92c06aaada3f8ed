#include "search/branch_and_bound.hpp"

#include <algorithm>
#include <utility>

#include "search/tree_writer.hpp"
#include "table/any_table.hpp"

namespace onetree {

namespace {

constexpr std::size_t kFewCells = 200'000;

bool depth_comes_first(Objective objective) {
  return objective == Objective::kDepth || objective == Objective::kDepthLeaves;
}

Grid grid_of(const Function& function, const Shapes& shapes) {
  Grid grid;
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    grid.axes.push_back({axis, {}});
    if (function.is_set(axis)) grid.axes[axis].set = shapes[function.shape[axis]];
    for (int cut = 0; cut < n_cuts(function, shapes, axis); ++cut) grid.axes[axis].thresholds.push_back(cut);
  }
  grid.classes = function.classes;
  return grid;
}

// A small function: not worth a look at the clock.
template <typename F>
Settled settled_by_table(const F& function, const Shapes& shapes, Objective objective) {
  const auto first_cut = [&](const FlatTree& tree) {
    return number_of(function, shapes, {tree.feature[0], static_cast<int>(tree.threshold[0])});
  };
  Control unlimited;
  Settled settled;
  const auto grid = grid_of(function, shapes);
  with_table(grid, static_cast<std::int64_t>(function.n_cells()) - 1, unlimited, [&](auto& dp) {
    if (objective != Objective::kLeaves) {
      const Solution found = dp.solve(Objective::kDepth);
      settled.depth = static_cast<int>(found.depth);
      settled.depth_cut = first_cut(found.tree);
    }
    if (objective != Objective::kDepth) {
      const Solution found = dp.solve(Objective::kLeavesDepth);
      settled.splits = static_cast<int>(found.leaves) - 1;
      settled.splits_depth = static_cast<int>(found.depth);
      settled.splits_cut = first_cut(found.tree);
    }
  });
  return settled;
}

}  // namespace

template <typename Cells>
BranchAndBound<Cells>::BranchAndBound(const Grid& grid, const Solution& first, Control& control)
    : grid_(grid), control_(control), best_(first), search_(shapes_, control.memory_limit, [this] { tick(); }) {}

template <typename Cells>
void BranchAndBound<Cells>::tick() {
  note_bounds();
  if (depth_comes_first(objective_))
    control_.check("branch and bound", best_.depth_bound, best_.depth, states());
  else
    control_.check("branch and bound", best_.leaves_bound, best_.leaves, states());
}

// What holds for every tree of the grid, whatever the objective.
template <typename Cells>
void BranchAndBound<Cells>::note_bounds() {
  if (root_ == kNoState) return;
  const State& root = search_.store()[root_];
  best_.depth_bound = std::max<std::int64_t>(best_.depth_bound, root.depth_lower);
  best_.leaves_bound = std::max<std::int64_t>(best_.leaves_bound, root.splits_lower + 1);
}

template <typename Cells>
void BranchAndBound<Cells>::settle_depth() {
  for (int depth = search_.store()[root_].depth_lower; depth < best_.depth; ++depth)
    if (search_.fits(root_, depth)) keep(read_shallowest());
  note_bounds();
}

// Of the trees that are not too deep; `best_` is one of them.
template <typename Cells>
void BranchAndBound<Cells>::settle_leaves(int max_depth) {
  search_.search(root_, max_depth, static_cast<int>(best_.leaves) - 2);
  const auto found = search_.bound(root_, max_depth);
  if (found.known && found.lower + 1 < best_.leaves) keep(read_smallest(max_depth));
  best_.leaves_bound = best_.leaves;
}

// Of the trees with the fewest leaves; `best_` is one of them.
template <typename Cells>
void BranchAndBound<Cells>::settle_depth_at_least_leaves() {
  const int splits = static_cast<int>(best_.leaves) - 1;
  while (best_.depth > best_.depth_bound) {
    const int depth = static_cast<int>(best_.depth) - 1;
    search_.search(root_, depth, splits);
    const auto found = search_.bound(root_, depth);
    if (!found.known || found.lower > splits) break;
    keep(read_smallest(depth));
  }
  best_.depth_bound = best_.depth;
}

template <typename Cells>
void BranchAndBound<Cells>::run() {
  if (max_boxes_of_table_ > 0)
    search_.settle_small(max_boxes_of_table_,
                         [this](const Function& function) { return settled_by_table(function, shapes_, objective_); });
  tick();  // the first tree may have taken all the time
  Function whole = function_of(grid_, shapes_);
  root_ = search_.add(whole);
  note_bounds();
  switch (objective_) {
    case Objective::kDepth:
      settle_depth();
      break;
    case Objective::kLeaves:
      settle_leaves(kAnyDepth);
      break;
    case Objective::kDepthLeaves:
      settle_depth();
      settle_leaves(static_cast<int>(best_.depth));
      break;
    case Objective::kLeavesDepth:
      settle_leaves(kAnyDepth);
      settle_depth_at_least_leaves();
      break;
  }
  best_.optimal = true;
}

template <typename Cells>
Solution BranchAndBound<Cells>::solve(Objective objective) {
  objective_ = objective;
  best_.optimal = false;
  try {
    run();
  } catch (const LimitReached&) {
    note_bounds();
    // Reading a tree takes its time too, which only a small grid has left.
    if (root_ != kNoState && (grid_.n_cells() < kFewCells || !control_.time_is_up())) keep(guess());
  }
  return best_;
}

template <typename Cells>
void BranchAndBound<Cells>::keep(FlatTree tree) {
  const std::int64_t depth = tree.depth(), leaves = tree.n_leaves();
  const auto in_order = [&](std::int64_t d, std::int64_t l) {
    return depth_comes_first(objective_) ? std::pair(d, l) : std::pair(l, d);
  };
  if (in_order(depth, leaves) >= in_order(best_.depth, best_.leaves)) return;
  best_.tree = std::move(tree);
  best_.depth = depth;
  best_.leaves = leaves;
}

// kNoState where it was never met. Below a state that a table settled it is met now.
template <typename Cells>
StateId BranchAndBound<Cells>::state_of(Function& function) {
  return max_boxes_of_table_ > 0 ? search_.add(function) : search_.store().find(function);
}

template <typename Cells>
FlatTree BranchAndBound<Cells>::read_tree(int max_depth, const Choice& choice) {
  return write_tree<Cells>(grid_, shapes_, [&](const Function& function, const Profile& profile, int depth) -> Cut {
    if (is_line(function)) return {0, line_of(function).middle};
    Function renamed = function;
    const int number = choice(renamed, max_depth == kAnyDepth ? kAnyDepth : max_depth - depth);
    return number < 0 ? cut_of_fewest_cells(function, profile) : cut_at(function, shapes_, number);
  });
}

// A state whose longest path is no longer than it may be deep was never opened: any cut will do.
template <typename Cells>
FlatTree BranchAndBound<Cells>::read_shallowest() {
  return read_tree(kAnyDepth, [&](Function& function, int) {
    const StateId id = state_of(function);
    return id == kNoState ? -1 : search_.depth_cut(id);
  });
}

template <typename Cells>
FlatTree BranchAndBound<Cells>::read_smallest(int max_depth) {
  return read_tree(max_depth,
                   [&](Function& function, int depth) { return search_.splits_cut(state_of(function), depth); });
}

// Where the search was stopped: what it has settled, and what promised most above that.
template <typename Cells>
FlatTree BranchAndBound<Cells>::guess() {
  return read_tree(kAnyDepth, [&](Function& function, int) {
    try {
      const StateId id = state_of(function);
      if (id == kNoState) return -1;
      return depth_comes_first(objective_) ? search_.depth_cut(id) : search_.most_promising_cut(id);
    } catch (const LimitReached&) {
      return -1;  // no memory or time to meet it
    }
  });
}

template class BranchAndBound<ClassCells>;
template class BranchAndBound<ScoreCells>;

}  // namespace onetree
