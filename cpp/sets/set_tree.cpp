#include "sets/set_tree.hpp"

#include <algorithm>
#include <cmath>

#include "grid/set_family.hpp"
#include "sets/set_bounds.hpp"

namespace onetree {

namespace {

constexpr std::size_t kManyCells = 100'000;  // one such node takes long enough to look at the clock
constexpr std::size_t kCellsBetweenTicks = 100'000;
constexpr double kWorkOfBounds = 2e7;  // a fraction of a second

// Which axes matter in which slabs.
class SetProfile {
 public:
  SetProfile(const SetFunction& function, const std::function<void()>& tick);

  // Cells of one side of a test, without the axes that matter no more. Exact but for equal hashes of different slabs,
  // which would only spoil a guess.
  double cells(int axis, const SetAxis& tests, int test, bool inside) const;

 private:
  const SetFunction& function_;
  std::vector<int> first_;           // per axis: number of its first slab
  std::vector<char> matters_;        // per axis, per slab of any axis
  std::vector<std::uint64_t> hash_;  // per slab
  std::size_t n_slabs_ = 0;
};

SetProfile::SetProfile(const SetFunction& function, const std::function<void()>& tick) : function_(function) {
  const int n_axes = function.n_axes();
  std::vector<std::size_t> stride(n_axes);
  std::size_t step = 1;
  for (int axis = n_axes; axis-- > 0; step *= function.size[axis]) stride[axis] = step;
  for (const int size : function.size) {
    first_.push_back(static_cast<int>(n_slabs_));
    n_slabs_ += size;
  }
  matters_.assign(n_axes * n_slabs_, 0);
  hash_.assign(n_slabs_, 0);
  std::vector<int> at(n_axes, 0);
  for (std::size_t cell = 0; cell < function.n_cells(); ++cell) {
    if (tick && cell % kCellsBetweenTicks == 0) tick();
    const Class here = function.classes[cell];
    for (int axis = 0; axis < n_axes; ++axis) {
      std::uint64_t& hash = hash_[first_[axis] + at[axis]];
      hash = mix(hash, here);
      if (here == function.classes[cell - at[axis] * stride[axis]]) continue;
      char* matters = matters_.data() + axis * n_slabs_;
      for (int along = 0; along < n_axes; ++along) matters[first_[along] + at[along]] = 1;
    }
    for (int axis = n_axes; axis-- > 0; at[axis] = 0)
      if (++at[axis] < function.size[axis]) break;
  }
}

double SetProfile::cells(int axis, const SetAxis& tests, int test, bool inside) const {
  int n_values = 0, least = -1;
  bool differ = false;
  std::vector<char> matters(function_.n_axes(), 0);
  for (int value = 0; value < tests.n_values; ++value) {
    if (tests.contains(test, value) != inside) continue;
    const std::size_t slab = first_[axis] + value;
    if (++n_values == 1) least = static_cast<int>(slab);
    differ = differ || hash_[slab] != hash_[least];
    for (int other = 0; other < function_.n_axes(); ++other) matters[other] |= matters_[other * n_slabs_ + slab];
  }
  double cells = differ ? n_values : 1;
  for (int other = 0; other < function_.n_axes(); ++other)
    if (other != axis && matters[other]) cells *= function_.size[other];
  return cells;
}

}  // namespace

FunctionCut best_cut(const SetFunction& function, const SetShapes& shapes, const std::function<void()>& tick) {
  const SetProfile profile(function, tick);
  FunctionCut best{{-1, 0}, 0, 0};
  double least = 0;
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    const SetAxis& tests = shapes[function.shape[axis]];
    for (int test = 0; test < tests.n_tests(); ++test) {
      const double in = profile.cells(axis, tests, test, true), out = profile.cells(axis, tests, test, false);
      const double sum = std::sqrt(in) + std::sqrt(out);
      if (best.test.axis >= 0 && sum >= least) continue;
      least = sum;
      best = {{axis, test}, in, out};
    }
  }
  return best;
}

SetCut set_cut(const Grid& grid) {
  SetShapes shapes;
  SetOrigin origin;
  const SetFunction function = set_function_of(grid, shapes, &origin);
  const FunctionCut cut = best_cut(function, shapes);
  const GridTest test = grid_test(grid, function, shapes, origin, cut.test);
  if (test.is_swapped) return {test.axis, test.test, cut.cells_out, cut.cells_in};
  return {test.axis, test.test, cut.cells_in, cut.cells_out};
}

FlatTree set_greedy_tree(const Grid& grid, Control& control) {
  struct Task {
    SetFunction function;
    SetOrigin origin;
    std::int32_t parent;
    bool is_left;
  };
  SetShapes shapes;
  FlatTree tree;
  const auto tick = [&] { control.check("first tree", -1, -1, static_cast<std::int64_t>(tree.feature.size())); };
  std::vector<Task> tasks(1);
  tasks[0].function = set_function_of(grid, shapes, &tasks[0].origin);
  tasks[0].parent = -1;
  while (!tasks.empty()) {
    const Task task = std::move(tasks.back());
    tasks.pop_back();
    const SetFunction& function = task.function;
    if (tree.feature.size() % 64 == 0) tick();
    std::int32_t node;
    if (function.is_constant()) {
      node = tree.add_leaf(function.classes[0]);
    } else {
      const bool is_large = function.n_cells() > kManyCells;
      const ShapeTest cut = best_cut(function, shapes, is_large ? std::function<void()>(tick) : nullptr).test;
      const GridTest test = grid_test(grid, function, shapes, task.origin, cut);
      node = tree.add_split(grid.axes[test.axis].feature, grid.axes[test.axis].thresholds[test.test]);
      for (const bool left : {false, true}) {  // the left side is popped, and numbered, first
        Task child{{}, {}, node, left};
        child.function = side_of(function, shapes, cut, left != test.is_swapped, &task.origin, &child.origin);
        tasks.push_back(std::move(child));
      }
    }
    if (task.parent >= 0) (task.is_left ? tree.left : tree.right)[task.parent] = node;
  }
  return tree;
}

SetBounds set_bounds(const Grid& grid, Control& control) {
  SetShapes shapes;
  SetFooling fooling(shapes, kWorkOfBounds, [&] { control.check("bounds", -1, -1, 0); });
  return fooling.bounds(set_function_of(grid, shapes));
}

BoxCount count_set_boxes(const Grid& grid, int max_sets) {
  Control unlimited;
  BoxCount boxes{1, true};
  for (const Axis& axis : grid.axes) {
    const double n_slabs = axis.n_slabs();
    if (!axis.set) {
      boxes.count *= n_slabs * (n_slabs + 1) / 2;
      continue;
    }
    try {
      boxes.count *= SetFamily(axis.set, unlimited, max_sets).size();
    } catch (const GridTooLarge&) {
      boxes.count *= max_sets;
      boxes.is_listed = false;
    }
  }
  return boxes;
}

}  // namespace onetree
