#include "search/state_search.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "base/control.hpp"

namespace onetree {

namespace {

int depth_for_leaves(int leaves) {
  return std::bit_width(static_cast<unsigned>(leaves - 1));
}

constexpr std::size_t kWorkOfBounds = 1 << 18;  // per state that has an axis without an order
constexpr int kMaxNesting = 4000;               // of calls, one or two per cut of a path: three megabytes of stack

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

template <typename Cells>
StateSearch<Cells>::StateSearch(Shapes& shapes, std::size_t memory_limit, std::function<void()> tick)
    : shapes_(shapes),
      store_(shapes, memory_limit),
      memory_limit_(memory_limit),
      on_tick_(std::move(tick)),
      fooling_(shapes, memory_limit, kWorkOfBounds, on_tick_) {}

template <typename Cells>
void StateSearch<Cells>::tick() {
  if (bytes() > memory_limit_) throw LimitReached("memory");
  on_tick_();
}

template <typename Cells>
void StateSearch<Cells>::settle_small(double max_boxes, std::function<Settled(const Function&)> settle) {
  max_boxes_settled_ = max_boxes;
  settle_ = std::move(settle);
}

template <typename Cells>
StateId StateSearch<Cells>::add(Function& function) {
  const auto [id, is_new] = store_.intern(function);
  if (!is_new) return id;
  if (is_line(function)) {
    const Line line = line_of(function);
    State& state = store_[id];
    state.splits_lower = line.splits;
    state.depth_lower = state.depth_upper = state.splits_depth = depth_for_leaves(line.splits + 1);
    state.splits_cut = state.depth_cut = line.middle;
    return id;
  }
  const int n = least_splits(function);
  if (settle_ && n_boxes(function, shapes_) <= max_boxes_settled_) {
    const Settled settled = settle_(function);
    State& state = store_[id];
    state.splits_lower = n;
    state.depth_lower = depth_for_leaves(n + 1);
    if (settled.splits_cut >= 0) {
      state.splits_lower = settled.splits;
      state.splits_depth = settled.splits_depth;
      state.splits_cut = settled.splits_cut;
      state.depth_lower = depth_for_leaves(settled.splits + 1);
    }
    if (settled.depth_cut >= 0) {
      state.depth_lower = state.depth_upper = settled.depth;
      state.depth_cut = settled.depth_cut;
    }
    return id;
  }
  const CellBounds bounds = fooling_.bounds(function);
  State& state = store_[id];
  state.splits_lower = std::max(n, bounds.leaves - 1);
  state.depth_lower = std::max(bounds.depth, depth_for_leaves(state.splits_lower + 1));
  return id;
}

template <typename Cells>
void StateSearch<Cells>::make_sides(StateId id, int number, const Opened& opened) {
  if (store_[id].children == nullptr) store_.new_children(id);
  StateId* sides = store_[id].children + 2 * number;
  if (sides[0] != kNoState && sides[1] != kNoState) return;
  tick();
  const Cut cut = cut_at(opened.function, shapes_, number);
  for (const bool left : {true, false}) {
    Function side = side_of(opened.function, opened.profile, cut, left);
    sides[left ? 0 : 1] = add(side);
  }
}

template <typename Cells>
bool StateSearch<Cells>::all_sides_made(StateId id) const {
  const StateId* children = store_[id].children;
  if (children == nullptr) return false;
  const StateId* end = children + 2 * store_[id].n_cuts;
  return std::find(children, end, kNoState) == end;
}

// The cells of the set that lie on one side bound that side too.
template <typename Cells>
void StateSearch<Cells>::bound_sides(StateId id, int cut, const std::vector<int>& in_left) {
  for (const bool left : {true, false}) {
    State& side = store_[store_[id].children[2 * cut + (left ? 0 : 1)]];
    if (side.splits_known()) continue;
    side.splits_lower = std::max(side.splits_lower, (left ? in_left[cut] : in_left.back() - in_left[cut]) - 1);
    side.depth_lower = std::max(side.depth_lower, depth_for_leaves(side.splits_lower + 1));
  }
}

template <typename Cells>
void StateSearch<Cells>::make_all_sides(StateId id) {
  if (all_sides_made(id)) return;
  const int n_cuts = store_[id].n_cuts;
  const Opened opened(store_.function(id), shapes_, on_tick_);
  const std::vector<int> in_left = fooling_.left_of_cuts(opened.function);
  for (int cut = 0; cut < n_cuts; ++cut) {
    make_sides(id, cut, opened);
    bound_sides(id, cut, in_left);
  }
}

template <typename Cells>
bool StateSearch<Cells>::fits(StateId id, int max_depth) {
  if (max_depth >= store_[id].depth_upper) return true;
  if (max_depth < store_[id].depth_lower) return false;
  const Nested nested(nesting_);
  tick();
  const Opened opened(store_.function(id), shapes_, on_tick_);
  const Function& function = opened.function;
  const std::vector<int> in_left = fooling_.left_of_cuts(function);
  for (int axis = 0, first = 0; axis < function.n_axes(); first += n_cuts(function, shapes_, axis++))
    if (function.is_set(axis) ? tests_fit(id, first, function.shape[axis], max_depth, in_left, opened)
                              : axis_fits(id, first, function.size[axis] - 1, max_depth, in_left, opened))
      return true;
  store_[id].depth_lower = std::max(store_[id].depth_lower, max_depth + 1);
  return false;
}

// Easy tests first. What does not fit rules out all sides that contain it.
template <typename Cells>
bool StateSearch<Cells>::tests_fit(StateId id, int first_cut, int shape, int max_depth, const std::vector<int>& in_left,
                                   const Opened& opened) {
  const int n_tests = shapes_[shape].n_tests();
  const auto side = [&](int test, bool inside) {
    return store_[id].children[2 * (first_cut + test) + (inside ? 0 : 1)];
  };
  const auto hardness = [&](int test, bool inside) {
    const State& state = store_[side(test, inside)];
    return std::pair(state.depth_lower, state.splits_lower);
  };
  std::vector<int> order;
  for (int test = 0; test < n_tests; ++test) {
    make_sides(id, first_cut + test, opened);
    bound_sides(id, first_cut + test, in_left);
    order.push_back(test);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::max(hardness(a, true), hardness(a, false)) < std::max(hardness(b, true), hardness(b, false));
  });
  for (const int test : order) {
    const bool harder = hardness(test, true) >= hardness(test, false);
    bool both_fit = true;
    for (const bool inside : {true, false}) both_fit = both_fit && store_[side(test, inside)].depth_lower < max_depth;
    for (const bool inside : {harder, !harder}) {
      if (!both_fit || fits(side(test, inside), max_depth - 1)) continue;
      both_fit = false;
      deepen_larger_sides(id, first_cut, shape, test, inside, max_depth);
    }
    if (!both_fit) continue;
    store_[id].depth_upper = max_depth;
    store_[id].depth_cut = first_cut + test;
    return true;
  }
  return false;
}

// Sides that contain a side of a test are no less deep.
template <typename Cells>
void StateSearch<Cells>::deepen_larger_sides(StateId id, int first_cut, int shape, int test, bool inside, int depth) {
  const SetAxis& tests = shapes_[shape];
  for (int other = 0; other < tests.n_tests(); ++other)
    for (const bool other_inside : {true, false}) {
      bool is_larger = true;
      for (int value = 0; value < tests.n_values && is_larger; ++value)
        is_larger = tests.contains(test, value) != inside || tests.contains(other, value) == other_inside;
      if (!is_larger) continue;
      State& state = store_[store_[id].children[2 * (first_cut + other) + (other_inside ? 0 : 1)]];
      state.depth_lower = std::max(state.depth_lower, depth);
    }
}

// The left side only gets deeper as the cut moves up, the right side only as it moves down: each side that does not fit
// rules out all cuts beyond. Of the cuts that remain, the one that halves the fooling set is tried.
template <typename Cells>
bool StateSearch<Cells>::axis_fits(StateId id, int first_cut, int n_cuts, int max_depth,
                                   const std::vector<int>& in_left, const Opened& opened) {
  int lo = first_cut, hi = first_cut + n_cuts;
  if (const StateId* children = store_[id].children; children != nullptr)
    for (int cut = lo; cut < hi; ++cut) {
      const StateId left = children[2 * cut], right = children[2 * cut + 1];
      if (right != kNoState && store_[right].depth_lower >= max_depth) lo = cut + 1;
      if (left != kNoState && store_[left].depth_lower >= max_depth) hi = cut;
    }
  while (lo < hi) {
    const int whole = in_left.back();
    int cut = lo;
    for (int other = lo + 1; other < hi; ++other)
      if (std::abs(whole - 2 * in_left[other]) < std::abs(whole - 2 * in_left[cut])) cut = other;
    make_sides(id, cut, opened);
    const StateId left = store_[id].children[2 * cut], right = store_[id].children[2 * cut + 1];
    const bool left_is_over = store_[left].depth_lower >= max_depth;
    const bool right_is_over = store_[right].depth_lower >= max_depth;
    if (left_is_over || right_is_over) {
      if (left_is_over) hi = cut;
      if (right_is_over) lo = cut + 1;
      continue;
    }
    const bool left_first = store_[left].splits_lower >= store_[right].splits_lower;
    if (left_first && !fits(left, max_depth - 1)) {
      hi = cut;
    } else if (!fits(right, max_depth - 1)) {
      lo = cut + 1;
    } else if (!left_first && !fits(left, max_depth - 1)) {
      hi = cut;
    } else {
      store_[id].depth_upper = max_depth;
      store_[id].depth_cut = cut;
      return true;
    }
  }
  return false;
}

template <typename Cells>
typename StateSearch<Cells>::Bound StateSearch<Cells>::bound(StateId id, int max_depth) const {
  const State& state = store_[id];
  if (max_depth < state.depth_lower) return {kNoTree, true};
  if (max_depth >= state.longest_path || (state.splits_known() && state.splits_depth <= max_depth))
    return {state.splits_lower, state.splits_known()};
  const auto found = limited_.find(key(id, max_depth));
  if (found == limited_.end()) return {state.splits_lower, false};
  return {std::max(found->second.lower, state.splits_lower), found->second.cut >= 0};
}

template <typename Cells>
int StateSearch<Cells>::splits_cut(StateId id, int max_depth) const {
  const State& state = store_[id];
  if (max_depth >= state.longest_path || (state.splits_known() && state.splits_depth <= max_depth))
    return state.splits_cut;
  const auto found = limited_.find(key(id, max_depth));
  return found == limited_.end() ? -1 : found->second.cut;
}

template <typename Cells>
void StateSearch<Cells>::raise(StateId id, int max_depth, int lower) {
  int& known = max_depth == kAnyDepth ? store_[id].splits_lower : limited_[key(id, max_depth)].lower;
  known = std::max(known, lower);
}

template <typename Cells>
void StateSearch<Cells>::settle(StateId id, int max_depth, int splits, int cut) {
  raise(id, max_depth, splits);
  if (max_depth != kAnyDepth) {
    limited_[key(id, max_depth)].cut = cut;
    return;
  }
  State& state = store_[id];
  state.splits_cut = cut;
  state.splits_depth =
      1 + std::max(store_[state.children[2 * cut]].splits_depth, store_[state.children[2 * cut + 1]].splits_depth);
}

// The cut whose sides may have fewest splits together; of equal ones a known one, then the most balanced, then the
// first. As a cut moves along an order, one side only gets larger.
template <typename Cells>
typename StateSearch<Cells>::Promise StateSearch<Cells>::best_promise(StateId id, int below) {
  const StateId* children = store_[id].children;
  Promise best{-1, 0, 0, kNoTree, false, kNoTree};
  int first = 0;
  for (const auto& [n_cuts, shape] : store_.axes(id)) {
    const bool has_order = shape == kOrdered;
    left_.resize(n_cuts);
    right_.resize(n_cuts);
    for (int at = 0; at < n_cuts; ++at) {
      left_[at] = bound(children[2 * (first + at)], below);
      if (has_order && at > 0) left_[at].lower = std::max(left_[at].lower, left_[at - 1].lower + Cells::kSplitsPerSlab);
    }
    for (int at = n_cuts; at-- > 0;) {
      right_[at] = bound(children[2 * (first + at) + 1], below);
      if (has_order && at + 1 < n_cuts)
        right_[at].lower = std::max(right_[at].lower, right_[at + 1].lower + Cells::kSplitsPerSlab);
      const Bound &left = left_[at], &right = right_[at];
      const int splits = std::min(kNoTree, left.lower + right.lower + 1);
      const Promise promise{first + at, left.lower, right.lower, splits, left.known && right.known, kNoTree};
      const int balance = std::abs(promise.left - promise.right), best_balance = std::abs(best.left - best.right);
      const bool better =
          best.cut < 0 || splits < best.splits ||
          (splits == best.splits && (promise.known != best.known ? promise.known : balance < best_balance));
      const int second = std::min(best.second, better ? best.splits : splits);
      if (better) best = promise;
      best.second = second;
    }
    first += n_cuts;
  }
  return best;
}

template <typename Cells>
int StateSearch<Cells>::most_promising_cut(StateId id) {
  if (store_[id].splits_known()) return store_[id].splits_cut;
  return all_sides_made(id) ? best_promise(id, kAnyDepth).cut : -1;
}

// Best first, in the space of depth first: work on the cut that promises fewest splits until another promises fewer.
// So no state is opened whose bound is over the optimum.
template <typename Cells>
void StateSearch<Cells>::search(StateId id, int max_depth, int budget) {
  Bound now = bound(id, max_depth);
  if (now.known || now.lower > budget) return;
  const Nested nested(nesting_);
  tick();
  if (max_depth < store_[id].longest_path) {
    if (!fits(id, max_depth)) return;
    search(id, kAnyDepth, budget);
    now = bound(id, max_depth);
    if (now.known || now.lower > budget) return;
  } else {
    max_depth = kAnyDepth;
  }
  const int below = max_depth == kAnyDepth ? kAnyDepth : max_depth - 1;
  make_all_sides(id);
  for (;;) {
    const Promise best = best_promise(id, below);
    raise(id, max_depth, best.splits);
    if (best.splits > budget) return;
    if (best.known) {
      settle(id, max_depth, best.splits, best.cut);
      return;
    }
    const StateId left = store_[id].children[2 * best.cut], right = store_[id].children[2 * best.cut + 1];
    const int slack = std::min(budget, best.second) - best.splits;
    const bool right_is_known = bound(right, below).known, left_is_known = bound(left, below).known;
    if (!left_is_known && (right_is_known || best.left >= best.right))
      search(left, below, best.left + slack);
    else
      search(right, below, best.right + slack);
  }
}

template class StateSearch<ClassCells>;
template class StateSearch<ScoreCells>;

}  // namespace onetree
