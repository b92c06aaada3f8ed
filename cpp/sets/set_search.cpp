#include "sets/set_search.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sets/set_tree.hpp"

namespace onetree {

namespace {

constexpr int kNoTree = 1 << 29;     // splits: there is no such tree
constexpr int kAnyDepth = 1 << 29;   // depth: no limit
constexpr double kLittleWork = 2e6;  // cells times tests: a tree is read at once
constexpr int kMaxNesting = 2000;    // of calls, one per test of a path: as much as a small stack allows

class Nested {
 public:
  explicit Nested(int& nesting) : nesting_(nesting) {
    if (nesting_ >= kMaxNesting) throw LimitReached("memory");
    ++nesting_;
  }
  ~Nested() { --nesting_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  int& nesting_;
};

}  // namespace

SetSearch::SetSearch(const Grid& grid, const Solution& first, Control& control)
    : grid_(grid), control_(control), first_(first), best_(first), states_(control.memory_limit, [this] { tick(); }) {}

void SetSearch::tick() {
  if (peak_bytes() > control_.memory_limit) throw LimitReached("memory");
  note_bounds();
  if (depth_comes_first_)
    control_.check("search", best_.depth_bound, best_.depth, states());
  else
    control_.check("search", best_.leaves_bound, best_.leaves, states());
}

// What holds for every tree of the grid, whatever the objective.
void SetSearch::note_bounds() {
  if (root_ < 0) return;
  best_.depth_bound = std::max<std::int64_t>(best_.depth_bound, states_[root_].depth_lower);
  best_.leaves_bound = std::max<std::int64_t>(best_.leaves_bound, states_[root_].splits_lower + 1);
}

// Whether a tree of at most this depth exists.
bool SetSearch::fits(SetStateId id, int max_depth) {
  if (max_depth >= states_[id].depth_upper) return true;
  if (max_depth < states_[id].depth_lower) return false;
  const Nested nested(nesting_);
  tick();
  states_.open(id);
  const auto hardness = [&](int test, bool inside) {
    const SetState& side = states_[states_.side(id, test, inside)];
    return std::pair(side.depth_lower, side.splits_lower);
  };
  std::vector<int> order;
  for (int test = 0; test < states_[id].n_tests; ++test) order.push_back(test);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::max(hardness(a, true), hardness(a, false)) < std::max(hardness(b, true), hardness(b, false));
  });
  for (const int test : order) {
    const bool harder = hardness(test, true) >= hardness(test, false);
    bool both_fit = true;
    for (const bool inside : {harder, !harder})
      both_fit = both_fit && states_[states_.side(id, test, inside)].depth_lower < max_depth;
    for (const bool inside : {harder, !harder}) {
      if (!both_fit || fits(states_.side(id, test, inside), max_depth - 1)) continue;
      both_fit = false;
      states_.for_each_larger_side(id, test, inside, [&](SetStateId larger) {
        states_[larger].depth_lower = std::max(states_[larger].depth_lower, max_depth);
      });
    }
    if (!both_fit) continue;
    states_[id].depth_upper = max_depth;
    states_[id].depth_test = test;
    return true;
  }
  states_[id].depth_lower = std::max(states_[id].depth_lower, max_depth + 1);
  return false;
}

// What is known about the fewest splits of a tree of at most this depth.
SetSearch::Bound SetSearch::bound(SetStateId id, int max_depth) const {
  const SetState& state = states_[id];
  if (max_depth < state.depth_lower) return {kNoTree, true};
  if (max_depth >= state.longest_path || (state.splits_known() && state.splits_depth <= max_depth))
    return {state.splits_lower, state.splits_known()};
  const auto found = limited_.find(key(id, max_depth));
  if (found == limited_.end()) return {state.splits_lower, false};
  return {std::max(found->second.lower, state.splits_lower), found->second.test >= 0};
}

int SetSearch::splits_test(SetStateId id, int max_depth) const {
  const SetState& state = states_[id];
  if (max_depth >= state.longest_path || (state.splits_known() && state.splits_depth <= max_depth))
    return state.splits_test;
  const auto found = limited_.find(key(id, max_depth));
  return found == limited_.end() ? -1 : found->second.test;
}

SetSearch::Promise SetSearch::best_promise(SetStateId id, int max_depth_of_sides) const {
  Promise best{-1, {}, {}, kNoTree, kNoTree};
  for (int test = 0; test < states_[id].n_tests; ++test) {
    const Bound inside = bound(states_.side(id, test, true), max_depth_of_sides);
    const Bound outside = bound(states_.side(id, test, false), max_depth_of_sides);
    if (inside.lower == kNoTree || outside.lower == kNoTree) continue;
    const int splits = inside.lower + outside.lower + 1;
    // Of equal promises, one that is kept ends the search.
    const bool is_kept = inside.known && outside.known;
    if (splits < best.splits || (splits == best.splits && is_kept && !(best.inside.known && best.outside.known)))
      best = {test, inside, outside, splits, best.splits};
    else
      best.second = std::min(best.second, splits);
  }
  return best;
}

void SetSearch::settle(SetStateId id, int max_depth, const Promise& promise) {
  if (max_depth != kAnyDepth) {
    limited_[key(id, max_depth)] = {promise.splits, promise.test};
    return;
  }
  int depth = 0;
  for (const bool inside : {true, false})
    depth = std::max(depth, states_[states_.side(id, promise.test, inside)].splits_depth);
  SetState& state = states_[id];
  state.splits_lower = promise.splits;
  state.splits_test = promise.test;
  state.splits_depth = depth + 1;
}

// Works on the bound until it is known or over the budget.
void SetSearch::search(SetStateId id, int max_depth, int budget) {
  if (max_depth >= states_[id].longest_path) max_depth = kAnyDepth;
  const int below = max_depth == kAnyDepth ? kAnyDepth : max_depth - 1;
  const Nested nested(nesting_);
  while (true) {
    const Bound here = bound(id, max_depth);
    if (here.known || here.lower > budget) return;
    tick();
    states_.open(id);
    const Promise best = best_promise(id, below);
    if (best.test < 0) {
      states_[id].depth_lower = std::max(states_[id].depth_lower, max_depth + 1);
      return;
    }
    if (best.inside.known && best.outside.known) {
      settle(id, max_depth, best);
      return;
    }
    int& lower = max_depth == kAnyDepth ? states_[id].splits_lower : limited_[key(id, max_depth)].lower;
    lower = std::max(lower, best.splits);
    if (best.splits > budget) return;
    const int slack = std::min(budget, best.second) - best.splits;
    const bool inside = !best.inside.known && (best.outside.known || best.inside.lower >= best.outside.lower);
    search(states_.side(id, best.test, inside), below, (inside ? best.inside : best.outside).lower + slack);
  }
}

// Where a tree of few splits is not found yet, the test that promises it.
int SetSearch::most_promising_test(SetStateId id) const {
  const SetState& state = states_[id];
  if (state.splits_known()) return state.splits_test;
  return state.sides < 0 ? -1 : best_promise(id, kAnyDepth).test;
}

void SetSearch::settle_depth() {
  for (int depth = states_[root_].depth_lower; depth < best_.depth; ++depth)
    if (fits(root_, depth)) keep(read_tree(kAnyDepth, [&](SetStateId id, int) { return states_[id].depth_test; }));
  best_.depth_bound = best_.depth;
}

// Of the trees that are not too deep; `best_` is one of them.
void SetSearch::settle_leaves(int max_depth) {
  search(root_, max_depth, static_cast<int>(best_.leaves) - 2);
  const Bound found = bound(root_, max_depth);
  if (found.known && found.lower + 1 < best_.leaves)
    keep(read_tree(max_depth, [&](SetStateId id, int depth) { return splits_test(id, depth); }));
  best_.leaves_bound = best_.leaves;
}

// Of the trees with the fewest leaves; `best_` is one of them.
void SetSearch::settle_depth_at_least_leaves() {
  const int splits = static_cast<int>(best_.leaves) - 1;
  while (best_.depth > best_.depth_bound) {
    const int depth = static_cast<int>(best_.depth) - 1;
    search(root_, depth, splits);
    const Bound found = bound(root_, depth);
    if (!found.known || found.lower > splits) break;
    keep(read_tree(depth, [&](SetStateId id, int max_depth) { return splits_test(id, max_depth); }));
  }
  best_.depth_bound = best_.depth;
}

void SetSearch::run(Objective objective) {
  SetFunction whole = set_function_of(grid_, states_.shapes());
  root_ = states_.add(whole);
  note_bounds();
  if (depth_comes_first_) {
    settle_depth();
    if (objective == Objective::kDepthLeaves) settle_leaves(static_cast<int>(best_.depth));
  } else {
    settle_leaves(kAnyDepth);
    if (objective == Objective::kLeavesDepth) settle_depth_at_least_leaves();
  }
  best_.optimal = true;
}

Solution SetSearch::solve(Objective objective) {
  depth_comes_first_ = objective == Objective::kDepth || objective == Objective::kDepthLeaves;
  best_ = first_;
  best_.optimal = false;
  try {
    run(objective);
  } catch (const LimitReached&) {
    note_bounds();
    // Reading a tree takes its time too, which only a small grid has left.
    const double work = root_ < 0 ? 0 : static_cast<double>(grid_.n_cells()) * states_[root_].n_tests;
    if (root_ >= 0 && (work < kLittleWork || !control_.time_is_up()))
      keep(read_tree(kAnyDepth, [&](SetStateId id, int) {
        return depth_comes_first_ ? states_[id].depth_test : most_promising_test(id);
      }));
  }
  return best_;
}

void SetSearch::keep(FlatTree tree) {
  const std::int64_t depth = tree.depth(), leaves = tree.n_leaves();
  const auto in_order = [&](std::int64_t d, std::int64_t l) {
    return depth_comes_first_ ? std::pair(d, l) : std::pair(l, d);
  };
  if (in_order(depth, leaves) >= in_order(best_.depth, best_.leaves)) return;
  best_.tree = std::move(tree);
  best_.depth = depth;
  best_.leaves = leaves;
}

FlatTree SetSearch::read_tree(int max_depth, const ChooseTest& choose) {
  struct Task {
    SetFunction function;
    SetOrigin origin;
    SetStateId state;  // -1: never met
    int max_depth;
    std::int32_t parent;
    bool is_left;
  };
  SetShapes shapes;  // their own: what is read takes no lasting memory, and tests have the same numbers
  FlatTree tree;
  std::vector<Task> tasks(1);
  tasks[0].function = set_function_of(grid_, shapes, &tasks[0].origin);
  tasks[0].state = root_;
  tasks[0].max_depth = max_depth;
  tasks[0].parent = -1;
  while (!tasks.empty()) {
    const Task task = std::move(tasks.back());
    tasks.pop_back();
    std::int32_t node;
    if (task.function.is_constant()) {
      node = tree.add_leaf(task.function.classes[0]);
    } else {
      int number = task.state < 0 ? -1 : choose(task.state, task.max_depth);
      if (number < 0) number = number_of(task.function, shapes, best_cut(task.function, shapes).test);
      const ShapeTest cut = test_at(task.function, shapes, number);
      const GridTest test = grid_test(grid_, task.function, shapes, task.origin, cut);
      node = tree.add_split(grid_.axes[test.axis].feature, grid_.axes[test.axis].thresholds[test.test]);
      for (const bool left : {false, true}) {  // the left side is popped, and numbered, first
        const bool inside = left != test.is_swapped;
        const bool is_met = task.state >= 0 && states_[task.state].sides >= 0;
        Task child{{}, {}, -1, task.max_depth == kAnyDepth ? kAnyDepth : task.max_depth - 1, node, left};
        if (is_met) child.state = states_.side(task.state, number, inside);
        child.function = side_of(task.function, shapes, cut, inside, &task.origin, &child.origin);
        tasks.push_back(std::move(child));
      }
    }
    if (task.parent >= 0) (task.is_left ? tree.left : tree.right)[task.parent] = node;
  }
  return tree;
}

}  // namespace onetree
