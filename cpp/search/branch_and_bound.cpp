#include "search/branch_and_bound.hpp"

#include <algorithm>
#include <utility>

#include "table/interval_dp.hpp"

namespace onetree {

namespace {

constexpr std::size_t kFewCells = 200'000;

bool depth_comes_first(Objective objective) {
  return objective == Objective::kDepth || objective == Objective::kDepthLeaves;
}

int cut_by_cells(const Function& function, const Profile& profile) {
  const Cut cut = cut_of_fewest_cells(function, profile);
  int number = cut.position;
  for (int axis = 0; axis < cut.axis; ++axis) number += function.size[axis] - 1;
  return number;
}

}  // namespace

BranchAndBound::BranchAndBound(const Grid& grid, const Solution& first, Control& control)
    : grid_(grid), control_(control), best_(first), search_(control.memory_limit, [this] { tick(); }) {}

void BranchAndBound::tick() {
  note_bounds();
  if (depth_comes_first(objective_))
    control_.check("branch and bound", best_.depth_bound, best_.depth, states());
  else
    control_.check("branch and bound", best_.leaves_bound, best_.leaves, states());
}

// What holds for every tree of the grid, whatever the objective.
void BranchAndBound::note_bounds() {
  if (root_ == kNoState) return;
  const State& root = search_.store()[root_];
  best_.depth_bound = std::max<std::int64_t>(best_.depth_bound, root.depth_lower);
  best_.leaves_bound = std::max<std::int64_t>(best_.leaves_bound, root.splits_lower + 1);
}

void BranchAndBound::settle_depth() {
  for (int depth = search_.store()[root_].depth_lower; depth < best_.depth; ++depth)
    if (search_.fits(root_, depth)) keep(read_shallowest());
  note_bounds();
}

// Of the trees that are not too deep; `best_` is one of them.
void BranchAndBound::settle_leaves(int max_depth) {
  search_.search(root_, max_depth, static_cast<int>(best_.leaves) - 2);
  const StateSearch::Bound found = search_.bound(root_, max_depth);
  if (found.known && found.lower + 1 < best_.leaves) keep(read_smallest(max_depth));
  best_.leaves_bound = best_.leaves;
}

// Of the trees with the fewest leaves; `best_` is one of them.
void BranchAndBound::settle_depth_at_least_leaves() {
  const int splits = static_cast<int>(best_.leaves) - 1;
  while (best_.depth > best_.depth_bound) {
    const int depth = static_cast<int>(best_.depth) - 1;
    search_.search(root_, depth, splits);
    const StateSearch::Bound found = search_.bound(root_, depth);
    if (!found.known || found.lower > splits) break;
    keep(read_smallest(depth));
  }
  best_.depth_bound = best_.depth;
}

Settled BranchAndBound::by_table(const Function& function) {
  Grid grid;
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    grid.axes.push_back({axis, {}});
    for (int slab = 0; slab + 1 < function.size[axis]; ++slab) grid.axes[axis].thresholds.push_back(slab);
  }
  grid.classes = function.classes;
  Control unlimited;  // small: not worth a look at the clock
  IntervalDp dp(grid, static_cast<std::int64_t>(function.n_cells()) - 1, unlimited);
  const auto first_cut = [&](const FlatTree& tree) {
    int number = static_cast<int>(tree.threshold[0]);
    for (int axis = 0; axis < tree.feature[0]; ++axis) number += function.size[axis] - 1;
    return number;
  };
  Settled settled;
  if (objective_ != Objective::kLeaves) {
    const Solution found = dp.solve(Objective::kDepth);
    settled.depth = static_cast<int>(found.depth);
    settled.depth_cut = first_cut(found.tree);
  }
  if (objective_ != Objective::kDepth) {
    const Solution found = dp.solve(Objective::kLeavesDepth);
    settled.splits = static_cast<int>(found.leaves) - 1;
    settled.splits_depth = static_cast<int>(found.depth);
    settled.splits_cut = first_cut(found.tree);
  }
  return settled;
}

void BranchAndBound::run() {
  if (max_boxes_of_table_ > 0)
    search_.settle_small(max_boxes_of_table_, [this](const Function& function) { return by_table(function); });
  tick();  // the first tree may have taken all the time
  Function whole = function_of(grid_);
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

Solution BranchAndBound::solve(Objective objective) {
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

void BranchAndBound::keep(FlatTree tree) {
  const std::int64_t depth = tree.depth(), leaves = tree.n_leaves();
  const auto in_order = [&](std::int64_t d, std::int64_t l) {
    return depth_comes_first(objective_) ? std::pair(d, l) : std::pair(l, d);
  };
  if (in_order(depth, leaves) >= in_order(best_.depth, best_.leaves)) return;
  best_.tree = std::move(tree);
  best_.depth = depth;
  best_.leaves = leaves;
}

FlatTree BranchAndBound::read_tree(int max_depth, const Choice& choice) {
  struct Task {
    Function function;
    Origin origin;
    int max_depth;
    std::int32_t parent;
    bool is_left;
  };
  FlatTree tree;
  std::vector<Task> tasks;
  tasks.push_back({function_of(grid_), origin_of(grid_), max_depth, -1, false});
  while (!tasks.empty()) {
    const Task task = std::move(tasks.back());
    tasks.pop_back();
    std::int32_t node;
    if (task.function.is_constant()) {
      node = tree.add_leaf(task.function.classes[0]);
    } else {
      const Profile profile(task.function);
      Cut cut{0, middle_cut(task.function)};
      if (task.function.n_axes() > 1) {
        Function renamed = task.function;
        // Below a state that a table settled there are states never met.
        const StateId id = max_boxes_of_table_ > 0 ? search_.add(renamed) : search_.store().find(renamed);
        cut = cut_at(task.function, choice(task.function, profile, id, task.max_depth));
      }
      const Axis& axis = grid_.axes[task.origin.axis[cut.axis]];
      node = tree.add_split(axis.feature, axis.thresholds[task.origin.last_slab[cut.axis][cut.position]]);
      for (const bool left : {false, true}) {  // the left side is popped, and numbered, first
        Task child{{}, {}, task.max_depth == kAnyDepth ? kAnyDepth : task.max_depth - 1, node, left};
        child.function = side_of(task.function, profile, cut, left, &task.origin, &child.origin);
        tasks.push_back(std::move(child));
      }
    }
    if (task.parent >= 0) (task.is_left ? tree.left : tree.right)[task.parent] = node;
  }
  return tree;
}

// A state with no more hyperplanes than it may be deep was never opened: any cut will do.
FlatTree BranchAndBound::read_shallowest() {
  return read_tree(kAnyDepth, [&](const Function& function, const Profile& profile, StateId id, int) {
    const bool any = id == kNoState || search_.depth_cut(id) < 0;
    return any ? cut_by_cells(function, profile) : search_.depth_cut(id);
  });
}

FlatTree BranchAndBound::read_smallest(int max_depth) {
  return read_tree(
      max_depth, [&](const Function&, const Profile&, StateId id, int depth) { return search_.splits_cut(id, depth); });
}

// Where the search was stopped: what it has settled, and what promised most above that.
FlatTree BranchAndBound::guess() {
  return read_tree(kAnyDepth, [&](const Function& function, const Profile& profile, StateId id, int) {
    int cut = -1;
    if (id != kNoState) cut = depth_comes_first(objective_) ? search_.depth_cut(id) : search_.most_promising_cut(id);
    return cut < 0 ? cut_by_cells(function, profile) : cut;
  });
}

}  // namespace onetree
