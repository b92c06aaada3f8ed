#include "sets/set_bounds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace onetree {

namespace {

constexpr double kWorkBetweenTicks = 1e6;

std::int64_t log2_up(std::int64_t n) {
  return std::bit_width(static_cast<std::uint64_t>(n - 1));
}

std::int64_t count_classes(const std::vector<Class>& classes) {
  std::array<bool, kMaxClasses> is_met{};
  for (const Class each : classes) is_met[each] = true;
  return std::count(is_met.begin(), is_met.end(), true);
}

}  // namespace

SetFooling::SetFooling(SetShapes& shapes, double work, std::function<void()> tick)
    : shapes_(shapes), work_(work), tick_(std::move(tick)) {}

void SetFooling::spend(double work) {
  left_ -= work;
  since_tick_ += work;
  if (since_tick_ < kWorkBetweenTicks) return;
  since_tick_ = 0;
  tick_();
}

void SetFooling::lay_out(const SetFunction& function) {
  axes_.clear();
  std::size_t n_tests = 0;
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    const int shape = function.shape[axis];
    axes_.push_back({function.size[axis], 1, &shapes_.pairs(shape), n_tests});
    n_tests += shapes_[shape].n_tests();
  }
  std::size_t step = 1;
  for (int axis = function.n_axes(); axis-- > 0; step *= axes_[axis].size) axes_[axis].stride = step;
  mark_.assign(n_tests, 0);
  next_mark_ = 0;
}

// Values whose slabs differ are told apart by some split: on every axis there are at least as many splits as tests that
// alone tell two such values apart, and as halvings that part all different slabs.
std::int64_t SetFooling::splits_of_axes(const SetFunction& function) {
  std::int64_t sum = 0;
  for (const AxisInfo& axis : axes_) {
    std::vector<std::uint64_t> hash(axis.size, 0);  // different hashes: different slabs
    for (std::size_t cell = 0; cell < function.n_cells(); ++cell) {
      std::uint64_t& slab = hash[value(cell, axis)];
      slab = mix(slab, function.classes[cell]);
    }
    spend(static_cast<double>(function.n_cells()));
    std::int64_t n_only = 0;
    ++next_mark_;
    for (int u = 0; u < axis.size && !axis.pairs->empty(); ++u)
      for (int v = 0; v < u; ++v) {
        const int test = axis.pairs->only_test[u * axis.size + v];
        if (test < 0 || hash[u] == hash[v] || mark_[axis.first_mark + test] == next_mark_) continue;
        mark_[axis.first_mark + test] = next_mark_;
        ++n_only;
      }
    std::sort(hash.begin(), hash.end());
    const std::int64_t n_different = std::unique(hash.begin(), hash.end()) - hash.begin();
    sum += std::max({std::int64_t{1}, n_only, log2_up(n_different)});
  }
  return sum;
}

// The path of a cell tells it from every cell of another class. Orders the cells by how many of those differ from it on
// one axis only, and returns how deep such a path must be at least.
std::int64_t SetFooling::order_by_sensitivity(const SetFunction& function) {
  std::vector<std::uint32_t> n_differ(function.n_cells(), 0);
  std::int64_t deepest = 0;
  for (std::size_t cell = 0; cell < function.n_cells(); ++cell) {
    std::int64_t depth = 0;
    for (const AxisInfo& axis : axes_) {
      const int here = value(cell, axis);
      const std::size_t line = cell - here * axis.stride;
      std::int64_t n_only = 0;
      ++next_mark_;
      bool differs = false;
      for (int other = 0; other < axis.size; ++other) {
        if (function.classes[line + other * axis.stride] == function.classes[cell]) continue;
        differs = true;
        ++n_differ[cell];
        const int test = axis.pairs->only_test[here * axis.size + other];
        if (test < 0 || mark_[axis.first_mark + test] == next_mark_) continue;
        mark_[axis.first_mark + test] = next_mark_;
        ++n_only;
      }
      depth += std::max<std::int64_t>(differs ? 1 : 0, n_only);
      spend(axis.size);
    }
    deepest = std::max(deepest, depth);
  }
  order_.resize(function.n_cells());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return n_differ[a] > n_differ[b]; });
  return deepest;
}

// Whether all cells of the hull have one class.
bool SetFooling::can_share_leaf(const SetFunction& function, std::size_t a, std::size_t b) {
  const Class wanted = function.classes[a];
  hull_.assign(1, a);
  for (const AxisInfo& axis : axes_) {
    const int u = value(a, axis), v = value(b, axis);
    const std::size_t n = hull_.size();
    for (std::uint64_t rest = axis.pairs->hull[u * axis.size + v]; rest != 0; rest &= rest - 1) {
      const int other = std::countr_zero(rest);
      if (other == u) continue;
      for (std::size_t at = 0; at < n; ++at) {
        const std::size_t cell = hull_[at] + other * axis.stride - u * axis.stride;
        if (function.classes[cell] != wanted) return false;
        hull_.push_back(cell);
      }
    }
  }
  return true;
}

// Whoever has most neighbours of other classes first: few other cells can share its leaf.
void SetFooling::choose(const SetFunction& function) {
  std::vector<std::uint32_t> open = order_;
  while (!open.empty() && left_ > 0) {
    const std::uint32_t taken = open.front();
    chosen_.push_back(taken);
    std::size_t kept = 0;
    for (const std::uint32_t other : open) {
      if (left_ <= 0) return;  // what was chosen stands
      if (other == taken) continue;
      bool is_open = true;
      if (function.classes[other] == function.classes[taken]) {
        is_open = !can_share_leaf(function, taken, other);
        spend(static_cast<double>(hull_.size()));
      }
      if (is_open) open[kept++] = other;
    }
    spend(static_cast<double>(open.size()));
    open.resize(kept);
  }
}

SetBounds SetFooling::bounds(const SetFunction& function) {
  chosen_.clear();
  left_ = work_;
  SetBounds bounds{count_classes(function.classes), 0};
  const double per_axis = static_cast<double>(function.n_cells()) * function.n_axes();
  if (function.is_constant() || per_axis > work_) {
    bounds.depth = log2_up(bounds.leaves);
    return bounds;
  }
  lay_out(function);
  bounds.leaves = std::max(bounds.leaves, 1 + splits_of_axes(function));
  const bool has_pairs =
      std::none_of(axes_.begin(), axes_.end(), [](const AxisInfo& axis) { return axis.pairs->empty(); });
  const int longest = *std::max_element(function.size.begin(), function.size.end());
  if (has_pairs && per_axis * longest < work_) {
    bounds.depth = order_by_sensitivity(function);
    choose(function);
    bounds.leaves = std::max(bounds.leaves, static_cast<std::int64_t>(chosen_.size()));
  }
  bounds.depth = std::max(bounds.depth, log2_up(bounds.leaves));
  return bounds;
}

}  // namespace onetree
