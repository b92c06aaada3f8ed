#include "grid/function.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "grid/gather.hpp"

namespace onetree {

namespace {

constexpr std::size_t kShortRun = 16;  // of cells: too few to be worth a loop of their own

}  // namespace

int n_cuts(const Extent& function, const Shapes& shapes, int axis) {
  return function.is_set(axis) ? shapes[function.shape[axis]].n_tests() : function.size[axis] - 1;
}

int n_cuts(const Extent& function, const Shapes& shapes) {
  int n = 0;
  for (int axis = 0; axis < function.n_axes(); ++axis) n += n_cuts(function, shapes, axis);
  return n;
}

Cut cut_at(const Extent& function, const Shapes& shapes, int number) {
  for (int axis = 0;; ++axis) {
    const int n = n_cuts(function, shapes, axis);
    if (number < n) return {axis, number};
    number -= n;
  }
}

int number_of(const Extent& function, const Shapes& shapes, const Cut& cut) {
  int number = cut.position;
  for (int axis = 0; axis < cut.axis; ++axis) number += n_cuts(function, shapes, axis);
  return number;
}

int longest_path(const Extent& function, const Shapes& shapes) {
  int n = 0;
  for (int axis = 0; axis < function.n_axes(); ++axis)
    n += function.is_set(axis) ? shapes.longest_path(function.shape[axis]) : function.size[axis] - 1;
  return n;
}

double n_boxes(const Extent& function, Shapes& shapes) {
  double boxes = 1;
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    const double slabs = function.size[axis];
    boxes *= function.is_set(axis) ? shapes.n_sets(function.shape[axis]) : slabs * (slabs + 1) / 2;
  }
  return boxes;
}

Profile::Profile(const Function& function, Shapes& shapes, const std::function<void()>& tick)
    : n_axes_(function.n_axes()), shapes_(shapes), size_(function.size), shape_(function.shape) {
  int n_hyperplanes = 0;
  for (int axis = 0; axis < n_axes_; ++axis) {
    offset_.push_back(n_hyperplanes);
    n_hyperplanes += is_set(axis) ? 1 : size_[axis] - 1;
    if (shape_.empty()) continue;
    first_value_.push_back(n_values_);
    if (is_set(axis)) n_values_ += static_cast<std::size_t>(size_[axis]);
  }
  ranges_.resize(static_cast<std::size_t>(n_hyperplanes) * n_axes_);
  matters_at_.resize(static_cast<std::size_t>(n_hyperplanes) * n_values_);
  equal_to_.resize(n_values_);
  std::vector<std::uint8_t> before, after;
  std::size_t inner = function.n_cells();
  for (int axis = 0; axis < n_axes_; ++axis) {
    const int slabs = size_[axis];
    const bool is_whole = is_set(axis);  // all of its values at once
    inner /= slabs;
    const std::size_t outer = function.n_cells() / inner / slabs;
    if (!is_whole && inner < kShortRun) {
      look_across(function, axis, inner, outer, tick);
      continue;
    }
    for (int h = 0; h + 1 < slabs; ++h) {
      if (tick) tick();
      if (h == 0 || !is_whole) {
        before.assign(outer, 0);
        after.assign(inner, 0);
      }
      const CellClass* here = function.classes.data() + (is_whole ? 0 : h * inner);
      const CellClass* next = function.classes.data() + (h + 1) * inner;
      for (std::size_t o = 0; o < outer; ++o, here += slabs * inner, next += slabs * inner) {
        std::uint8_t any = 0;
        for (std::size_t i = 0; i < inner; ++i) {
          const std::uint8_t differs = here[i] ^ next[i];
          after[i] |= differs;
          any |= differs;
        }
        before[o] |= any;
      }
      if (is_whole && h + 2 < slabs) continue;
      const int hyperplane = offset_[axis] + (is_whole ? 0 : h);
      note(before.data(), outer, 0, axis, hyperplane);
      note(after.data(), inner, axis + 1, n_axes_, hyperplane);
      ranges_[static_cast<std::size_t>(hyperplane) * n_axes_ + axis] = {h, h};
    }
    if (is_whole) find_equal_values(function, axis);
  }
}

// All hyperplanes of one of the last axes in one pass, since its runs of cells are short.
void Profile::look_across(const Function& function, int axis, std::size_t inner, std::size_t outer,
                          const std::function<void()>& tick) {
  if (tick) tick();
  const int slabs = size_[axis];
  const std::size_t width = (slabs - 1) * inner;
  std::vector<std::uint8_t> before((slabs - 1) * outer), after(width, 0), differs(width);
  const CellClass* cells = function.classes.data();
  for (std::size_t o = 0; o < outer; ++o, cells += slabs * inner) {
    for (std::size_t at = 0; at < width; ++at) differs[at] = cells[at] ^ cells[at + inner];
    for (std::size_t at = 0; at < width; ++at) after[at] |= differs[at];
    for (std::size_t h = 0, at = 0; at < width; ++h) {
      std::uint8_t any = 0;
      for (const std::size_t end = at + inner; at < end; ++at) any |= differs[at];
      before[h * outer + o] = any;
    }
  }
  for (int h = 0; h + 1 < slabs; ++h) {
    const int hyperplane = offset_[axis] + h;
    note(before.data() + h * outer, outer, 0, axis, hyperplane);
    note(after.data() + h * inner, inner, axis + 1, n_axes_, hyperplane);
    ranges_[static_cast<std::size_t>(hyperplane) * n_axes_ + axis] = {h, h};
  }
}

// `marked` is a flat array of `n` marks over the axes first..last-1 of the function; notes for each of them which slabs
// hold a mark. The array is folded away from its first axis on, in runs as long as can be.
void Profile::note(std::uint8_t* marked, std::size_t n, int first, int last, int hyperplane) {
  Range* ranges = &ranges_[static_cast<std::size_t>(hyperplane) * n_axes_];
  for (int axis = first; axis < last; ++axis) {
    const int slabs = size_[axis];
    std::uint8_t* at = is_set(axis) ? &matters_at_[hyperplane * n_values_ + first_value_[axis]] : nullptr;
    n /= slabs;
    Range range{slabs, -1};
    for (int slab = 0; slab < slabs; ++slab) {
      const std::uint8_t* run = marked + slab * n;
      std::uint8_t any = 0;
      for (std::size_t i = 0; i < n; ++i) any |= run[i];
      if (any == 0) continue;
      if (at != nullptr) at[slab] |= any;
      range = {std::min(range.first, slab), slab};
      if (slab > 0)
        for (std::size_t i = 0; i < n; ++i) marked[i] |= run[i];
    }
    if (at == nullptr) ranges[axis] = range;
  }
}

void Profile::find_equal_values(const Function& function, int axis) {
  std::size_t inner = 1;
  for (int other = axis + 1; other < n_axes_; ++other) inner *= static_cast<std::size_t>(size_[other]);
  const std::size_t block = inner * size_[axis];
  const auto are_equal = [&](int a, int b) {
    for (std::size_t first = 0; first < function.n_cells(); first += block) {
      const CellClass* cells = function.classes.data() + first;
      if (!std::equal(cells + a * inner, cells + (a + 1) * inner, cells + b * inner)) return false;
    }
    return true;
  };
  int* equal_to = &equal_to_[first_value_[axis]];
  for (int value = 0; value < size_[axis]; ++value) {
    int other = 0;
    while (other < value && !(equal_to[other] == other && are_equal(other, value))) ++other;
    equal_to[value] = other;
  }
}

bool Profile::survives_test(const Cut& cut, bool left, int axis, int h) const {
  const SetAxis& tests = shapes_[shape_[cut.axis]];
  const std::size_t first = first_value_[cut.axis];
  int kept = -1;
  for (int value = 0; value < tests.n_values; ++value) {
    if (tests.contains(cut.position, value) != left) continue;
    if (axis != cut.axis) {
      if (matters_at_[(offset_[axis] + h) * n_values_ + first + value] != 0) return true;
    } else if (kept < 0) {
      kept = equal_to_[first + value];
    } else if (equal_to_[first + value] != kept) {
      return true;
    }
  }
  return false;
}

int Profile::slabs_in(const Cut& cut, bool left, int axis) const {
  if (is_set(axis)) {
    if (!survives(cut, left, axis, 0)) return 1;
    if (axis != cut.axis) return size_[axis];
    return static_cast<int>(shapes_.side(shape_[axis], cut.position, left).values.size());
  }
  if (axis == cut.axis) return left ? cut.position + 1 : size_[axis] - cut.position - 1;
  int slabs = 1;
  for (int h = 0; h + 1 < size_[axis]; ++h) slabs += survives(cut, left, axis, h);
  return slabs;
}

double Profile::cells_in(const Cut& cut, bool left) const {
  double cells = 1;
  for (int axis = 0; axis < n_axes_; ++axis) cells *= slabs_in(cut, left, axis);
  return cells;
}

Cut cut_of_fewest_cells(const Function& function, const Profile& profile) {
  Cut best{0, 0};
  double least = HUGE_VAL;
  for (int axis = 0; axis < function.n_axes(); ++axis)
    for (int position = 0; position < n_cuts(function, profile.shapes(), axis); ++position) {
      const Cut cut{axis, position};
      const double cost = std::sqrt(profile.cells_in(cut, true)) + std::sqrt(profile.cells_in(cut, false));
      if (cost >= least) continue;
      least = cost;
      best = cut;
    }
  return best;
}

void forget_shapes_of_order(Extent& function) {
  const auto is_ordered = [](int shape) { return shape == kOrdered; };
  if (std::all_of(function.shape.begin(), function.shape.end(), is_ordered)) function.shape.clear();
}

int keep_on_cut_axis(const Extent& function, Shapes& shapes, const Cut& cut, bool left, std::vector<int>& kept) {
  if (function.is_set(cut.axis)) {
    const Shapes::Side& side = shapes.side(function.shape[cut.axis], cut.position, left);
    kept = side.values;
    return kept.size() == 2 ? kOrdered : side.shape;  // two values have one test between them
  }
  kept.resize(left ? cut.position + 1 : function.size[cut.axis] - cut.position - 1);
  std::iota(kept.begin(), kept.end(), left ? 0 : cut.position + 1);
  return kOrdered;
}

namespace {

// Of an axis without an order, the values that one side of the cut keeps; returns their shape.
int keep_values(const Function& function, const Profile& profile, const Cut& cut, bool left, int axis,
                std::vector<int>& kept) {
  const int shape = function.shape[axis];
  if (!profile.survives(cut, left, axis, 0)) {
    kept.assign(1, axis == cut.axis ? profile.shapes().side(shape, cut.position, left).values[0] : 0);
    return kOrdered;
  }
  if (axis == cut.axis) return keep_on_cut_axis(function, profile.shapes(), cut, left, kept);
  kept.resize(function.size[axis]);
  std::iota(kept.begin(), kept.end(), 0);
  return shape;
}

}  // namespace

Function side_of(const Function& function, const Profile& profile, const Cut& cut, bool left, const Origin* origin,
                 Origin* origin_of_side) {
  Function side;
  const int n_axes = function.n_axes();
  // Of slabs that have become equal the last is kept: it carries the threshold.
  std::vector<std::vector<int>> kept(n_axes);
  for (int axis = 0; axis < n_axes; ++axis) {
    int shape = kOrdered;
    if (function.is_set(axis)) {
      shape = keep_values(function, profile, cut, left, axis, kept[axis]);
    } else {
      const int first = axis == cut.axis && !left ? cut.position + 1 : 0;
      const int last = axis == cut.axis && left ? cut.position : function.size[axis] - 1;
      for (int slab = first; slab < last; ++slab)
        if (profile.survives(cut, left, axis, slab)) kept[axis].push_back(slab);
      kept[axis].push_back(last);
    }
    if (kept[axis].size() == 1) continue;
    side.size.push_back(static_cast<int>(kept[axis].size()));
    if (function.has_sets()) side.shape.push_back(shape);
    if (origin == nullptr) continue;
    origin_of_side->axis.push_back(origin->axis[axis]);
    std::vector<int> slabs;
    for (const int slab : kept[axis]) slabs.push_back(origin->last_slab[axis][slab]);
    origin_of_side->last_slab.push_back(std::move(slabs));
  }
  forget_shapes_of_order(side);
  side.classes = gather(function.classes, function.size, kept);
  return side;
}

int rename_classes(std::vector<CellClass>& classes) {
  std::array<CellClass, kMaxCellClasses> name;
  std::array<bool, kMaxCellClasses> seen{};
  int n = 0;
  bool same = true;
  for (const CellClass c : classes)
    if (!seen[c]) {
      seen[c] = true;
      same = same && c == n;
      name[c] = static_cast<CellClass>(n++);
    }
  if (!same)
    for (CellClass& c : classes) c = name[c];
  return n;
}

Extent extent_of(const GridAxes& grid, Shapes& shapes, std::vector<int>& order, Origin* origin) {
  order.resize(grid.n_axes());
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(), [&](int axis) { return static_cast<bool>(grid.axes[axis].set); });
  Extent extent;
  for (const int at : order) {
    const Axis& axis = grid.axes[at];
    extent.size.push_back(axis.n_slabs());
    extent.shape.push_back(axis.n_slabs() > 2 && axis.set ? shapes.add(axis.set) : kOrdered);
    if (origin == nullptr) continue;
    origin->axis.push_back(at);
    origin->last_slab.emplace_back(axis.n_slabs());
    std::iota(origin->last_slab.back().begin(), origin->last_slab.back().end(), 0);
  }
  forget_shapes_of_order(extent);
  return extent;
}

Function function_of(const Grid& grid, Shapes& shapes, Origin* origin) {
  Function function;
  std::vector<int> order;
  static_cast<Extent&>(function) = extent_of(grid, shapes, order, origin);
  function.classes = reordered_cells<CellClass>(grid, grid.classes, order);
  return function;
}

GridSplit grid_split(const std::vector<Axis>& axes, const Extent& function, const Shapes& shapes, const Origin& origin,
                     const Cut& cut) {
  const int at = origin.axis[cut.axis];
  const Axis& axis = axes[at];
  const std::vector<int>& slabs = origin.last_slab[cut.axis];
  AxisTest test{slabs[cut.position], false};
  if (function.is_set(cut.axis))
    test = axis_test(axis.set, slabs, shapes[function.shape[cut.axis]], cut.position);
  else if (axis.set)  // two values of it
    test = test_between(axis.set, slabs[0], slabs[1]);
  return {axis.feature, axis.thresholds[test.test], test.is_swapped, at, test.test};
}

}  // namespace onetree
