#include "grid/function.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace onetree {

int Function::n_hyperplanes() const {
  int n = 0;
  for (const int slabs : size) n += slabs - 1;
  return n;
}

double Function::n_boxes() const {
  double boxes = 1;
  for (const int slabs : size) boxes *= slabs * (slabs + 1.0) / 2;
  return boxes;
}

namespace {

// `marked` is a flat array over the axes first..last-1 of the function; notes for each of them the first and last slab
// that holds a mark. The array is folded away from its last axis on.
void note_ranges(std::vector<std::uint8_t>& marked, const std::vector<int>& size, int first, int last,
                 Profile::Range* ranges) {
  std::size_t n = marked.size();
  for (int axis = last; axis-- > first;) {
    const int slabs = size[axis];
    n /= slabs;
    Profile::Range range{slabs, -1};
    for (std::size_t rest = 0; rest < n; ++rest) {
      std::uint8_t any = 0;
      for (int slab = 0; slab < slabs; ++slab) {
        const std::uint8_t mark = marked[rest * slabs + slab];
        if (mark) {
          range.first = std::min(range.first, slab);
          range.last = std::max(range.last, slab);
        }
        any |= mark;
      }
      marked[rest] = any;
    }
    ranges[axis] = range;
  }
}

}  // namespace

Profile::Profile(const Function& function, const std::function<void()>& tick)
    : n_axes_(function.n_axes()), size_(function.size) {
  int n_hyperplanes = 0;
  for (const int slabs : size_) {
    offset_.push_back(n_hyperplanes);
    n_hyperplanes += slabs - 1;
  }
  ranges_.resize(static_cast<std::size_t>(n_hyperplanes) * n_axes_);
  std::vector<std::uint8_t> before, after;
  std::size_t inner = function.n_cells();
  for (int axis = 0; axis < n_axes_; ++axis) {
    const int slabs = size_[axis];
    inner /= slabs;
    const std::size_t outer = function.n_cells() / inner / slabs;
    for (int h = 0; h + 1 < slabs; ++h) {
      if (tick) tick();
      before.assign(outer, 0);
      after.assign(inner, 0);
      for (std::size_t o = 0; o < outer; ++o) {
        const Class* here = function.classes.data() + (o * slabs + h) * inner;
        const Class* next = here + inner;
        std::uint8_t any = 0;
        for (std::size_t i = 0; i < inner; ++i) {
          const std::uint8_t differs = here[i] ^ next[i];
          after[i] |= differs;
          any |= differs;
        }
        before[o] = any;
      }
      Range* ranges = &ranges_[static_cast<std::size_t>(offset_[axis] + h) * n_axes_];
      note_ranges(before, size_, 0, axis, ranges);
      note_ranges(after, size_, axis + 1, n_axes_, ranges);
      ranges[axis] = {h, h};
    }
  }
}

int Profile::slabs_in(const Cut& cut, bool left, int axis) const {
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
    for (int position = 0; position + 1 < function.size[axis]; ++position) {
      const Cut cut{axis, position};
      const double cost = std::sqrt(profile.cells_in(cut, true)) + std::sqrt(profile.cells_in(cut, false));
      if (cost >= least) continue;
      least = cost;
      best = cut;
    }
  return best;
}

Function side_of(const Function& function, const Profile& profile, const Cut& cut, bool left, const Origin* origin,
                 Origin* origin_of_side) {
  Function side;
  const int n_axes = function.n_axes();
  // Of slabs that have become equal the last is kept: it carries the threshold.
  std::vector<std::vector<int>> kept(n_axes);
  for (int axis = 0; axis < n_axes; ++axis) {
    const int first = axis == cut.axis && !left ? cut.position + 1 : 0;
    const int last = axis == cut.axis && left ? cut.position : function.size[axis] - 1;
    for (int slab = first; slab < last; ++slab)
      if (profile.survives(cut, left, axis, slab)) kept[axis].push_back(slab);
    kept[axis].push_back(last);
    if (kept[axis].size() > 1) side.size.push_back(static_cast<int>(kept[axis].size()));
    if (origin != nullptr && kept[axis].size() > 1) {
      origin_of_side->axis.push_back(origin->axis[axis]);
      std::vector<int> slabs;
      for (const int slab : kept[axis]) slabs.push_back(origin->last_slab[axis][slab]);
      origin_of_side->last_slab.push_back(std::move(slabs));
    }
  }
  std::vector<std::size_t> stride(n_axes);
  std::size_t step = 1;
  for (int axis = n_axes; axis-- > 0; step *= function.size[axis]) stride[axis] = step;
  std::size_t n_cells = 1;
  for (const int slabs : side.size) n_cells *= slabs;
  side.classes.resize(n_cells);
  // All axes but the last by an odometer; along the last, slabs are gathered, or copied where none is missing.
  const std::vector<int>& inner = kept[n_axes - 1];
  const bool contiguous = inner.back() - inner.front() + 1 == static_cast<int>(inner.size());
  std::vector<std::size_t> at(n_axes, 0);
  std::size_t from = 0;
  for (int axis = 0; axis + 1 < n_axes; ++axis) from += kept[axis][0] * stride[axis];
  for (Class* out = side.classes.data();;) {
    const Class* in = function.classes.data() + from;
    if (contiguous)
      std::memcpy(out, in + inner.front(), inner.size());
    else
      for (std::size_t i = 0; i < inner.size(); ++i) out[i] = in[inner[i]];
    out += inner.size();
    int axis = n_axes - 2;
    for (; axis >= 0; --axis) {
      from -= kept[axis][at[axis]] * stride[axis];
      if (++at[axis] < kept[axis].size()) break;
      at[axis] = 0;
      from += kept[axis][0] * stride[axis];
    }
    if (axis < 0) break;
    from += kept[axis][at[axis]] * stride[axis];
  }
  return side;
}

int rename_classes(std::vector<Class>& classes) {
  std::array<Class, kMaxClasses> name;
  std::array<bool, kMaxClasses> seen{};
  int n = 0;
  bool same = true;
  for (const Class c : classes)
    if (!seen[c]) {
      seen[c] = true;
      same = same && c == n;
      name[c] = static_cast<Class>(n++);
    }
  if (!same)
    for (Class& c : classes) c = name[c];
  return n;
}

Function function_of(const Grid& grid) {
  Function function;
  for (const Axis& axis : grid.axes) function.size.push_back(axis.n_slabs());
  function.classes = grid.classes;
  return function;
}

Origin origin_of(const Grid& grid) {
  Origin origin;
  for (int axis = 0; axis < grid.n_axes(); ++axis) {
    origin.axis.push_back(axis);
    std::vector<int> slabs(grid.axes[axis].n_slabs());
    for (std::size_t slab = 0; slab < slabs.size(); ++slab) slabs[slab] = static_cast<int>(slab);
    origin.last_slab.push_back(std::move(slabs));
  }
  return origin;
}

}  // namespace onetree
