#include "search/score_fooling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace onetree {

namespace {

constexpr std::size_t kCellsBetweenTicks = 1 << 18;
constexpr std::size_t kManyCells = 1 << 16;  // from here on it is worth asking what they take
constexpr std::size_t kBytesPerCell = sizeof(std::pair<float, std::uint32_t>) + 1 + 2 * sizeof(std::uint32_t);

}  // namespace

std::size_t ScoreFooling::bytes() const {
  return order_.capacity() * sizeof order_[0] + excluded_.capacity() +
         (chosen_.capacity() + zone_.capacity()) * sizeof(std::uint32_t) +
         (least_.capacity() + most_.capacity() + scratch_.capacity()) * sizeof(Rank);
}

void ScoreFooling::pass(std::size_t n_cells) {
  cells_since_tick_ += n_cells;
  if (cells_since_tick_ <= kCellsBetweenTicks) return;
  cells_since_tick_ = 0;
  if (tick_) tick_();
}

void ScoreFooling::lay_out(const ScoreFunction& function) {
  n_admissions_ = function.n_admissions();
  n_columns_ = function.n_columns;
  stride_.resize(function.n_axes());
  std::size_t step = 1;
  for (int axis = function.n_axes(); axis-- > 0; step *= static_cast<std::size_t>(function.size[axis]))
    stride_[axis] = step;
  excluded_.assign(function.n_cells(), 0);
  chosen_.clear();
  most_blocked_ = 0;
  kept_.resize(function.n_axes());
}

ScoreFooling::Reach ScoreFooling::reach(const ScoreFunction& function, std::size_t cell, int axis) {
  const int slabs = function.size[axis], here = static_cast<int>(cell / stride_[axis] % slabs);
  if (function.is_set(axis)) return {0, slabs - 1};
  Reach found{here, here};
  for (const bool up : {false, true}) {
    least_.assign(n_columns_, 0);
    most_.assign(n_columns_, ~Rank{0});
    const std::uint32_t* at = function.cells.data() + cell;
    for (int slab = here; slab >= 0 && slab < slabs; slab += up ? 1 : -1) {
      bool fits = true;
      for (int c = 0; c < n_columns_; ++c) {
        least_[c] = std::max(least_[c], function.least[c * n_admissions_ + *at]);
        most_[c] = std::min(most_[c], function.most[c * n_admissions_ + *at]);
        fits = fits && least_[c] <= most_[c];
      }
      if (!fits) break;
      (up ? found.last : found.first) = slab;
      at += up ? stride_[axis] : -stride_[axis];
    }
  }
  return found;
}

// Cells whose leaves have least room come first: they exclude fewest others.
void ScoreFooling::order_by_room(const ScoreFunction& function) {
  order_.clear();
  for (std::size_t cell = 0; cell < function.n_cells(); ++cell) {
    pass(8);
    float room = 1;
    int blocked = 0;
    for (int axis = 0; axis < function.n_axes(); ++axis) {
      const Reach found = reach(function, cell, axis);
      room *= static_cast<float>(found.last - found.first + 1);
      blocked += (found.first > 0) + (found.last + 1 < function.size[axis]);
    }
    most_blocked_ = std::max(most_blocked_, blocked);
    order_.emplace_back(room, static_cast<std::uint32_t>(cell));
  }
  std::sort(order_.begin(), order_.end());
}

// Along one axis of the zone: what a cell admits becomes what all between it and the chosen cell's slab admit.
void ScoreFooling::spread(int axis, const std::vector<int>& hulls, std::size_t here, std::size_t inner) {
  const std::size_t slabs = kept_[axis].size(), block = slabs * inner;
  const auto each = [&](std::vector<Rank>& ranks, const auto& combine) {
    for (std::size_t first = 0; first < ranks.size(); first += block) {
      Rank* at = ranks.data() + first;
      const auto add = [&](std::size_t to, std::size_t from) {
        for (std::size_t i = 0; i < inner; ++i) at[to * inner + i] = combine(at[to * inner + i], at[from * inner + i]);
      };
      if (hulls.empty()) {
        for (std::size_t slab = here + 1; slab < slabs; ++slab) add(slab, slab - 1);
        for (std::size_t slab = here; slab-- > 0;) add(slab, slab + 1);
        continue;
      }
      // Pairs of a value and another that every leaf has which has it and that of the chosen cell.
      scratch_.assign(at, at + block);
      for (std::size_t i = 0; i < hulls.size(); i += 2)
        for (std::size_t k = 0; k < inner; ++k) {
          Rank& to = at[static_cast<std::size_t>(hulls[i]) * inner + k];
          to = combine(to, scratch_[static_cast<std::size_t>(hulls[i + 1]) * inner + k]);
        }
    }
  };
  each(least_, [](Rank a, Rank b) { return std::max(a, b); });
  each(most_, [](Rank a, Rank b) { return std::min(a, b); });
}

// Excludes the cells that fit in one leaf with this one; returns how many cells were looked at. A hull is a product
// over the axes, so what it admits is found one axis after another.
std::size_t ScoreFooling::exclude_around(const ScoreFunction& function, std::size_t cell) {
  const int n_axes = function.n_axes();
  std::size_t n = 1;
  for (int axis = 0; axis < n_axes; ++axis) {
    const Reach found = reach(function, cell, axis);
    kept_[axis].resize(found.last - found.first + 1);
    std::iota(kept_[axis].begin(), kept_[axis].end(), found.first);
    n *= kept_[axis].size();
  }
  zone_.assign(1, 0);
  zone_.reserve(n);
  for (int axis = 0; axis < n_axes; ++axis) {
    std::vector<std::uint32_t> more;
    more.reserve(zone_.size() * kept_[axis].size());
    for (const std::uint32_t first : zone_)
      for (const int slab : kept_[axis]) more.push_back(static_cast<std::uint32_t>(first + slab * stride_[axis]));
    zone_.swap(more);
  }
  std::vector<std::uint8_t> fits(n, 1);
  for (int c = 0; c < n_columns_; ++c) {
    least_.resize(n);
    most_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t admission = function.cells[zone_[i]];
      least_[i] = function.least[c * n_admissions_ + admission];
      most_[i] = function.most[c * n_admissions_ + admission];
    }
    std::size_t inner = n;
    for (int axis = 0; axis < n_axes; ++axis) {
      inner /= kept_[axis].size();
      const int here = static_cast<int>(cell / stride_[axis] % function.size[axis]);
      std::vector<int> hulls;
      if (function.is_set(axis)) {
        const Shapes::Pairs& pairs = shapes_.pairs(function.shape[axis]);
        for (int value = 0; value < function.size[axis]; ++value) {
          // Of too many values to list hulls, at least the two.
          std::uint64_t hull = pairs.empty() ? 0 : pairs.hull[here * function.size[axis] + value];
          if (pairs.empty()) hulls.insert(hulls.end(), {value, here});
          for (; hull != 0; hull &= hull - 1) hulls.insert(hulls.end(), {value, std::countr_zero(hull)});
        }
      }
      spread(axis, hulls, static_cast<std::size_t>(here - kept_[axis][0]), inner);
    }
    for (std::size_t i = 0; i < n; ++i) fits[i] &= least_[i] <= most_[i];
  }
  for (std::size_t i = 0; i < n; ++i) excluded_[zone_[i]] |= fits[i];
  return n;
}

CellBounds ScoreFooling::bounds(const ScoreFunction& function) {
  if (function.n_cells() > 0xFFFFFFFF) {
    chosen_.clear();
    return {1, 0};
  }
  if (function.n_cells() > kManyCells && function.n_cells() * kBytesPerCell > memory_limit_)
    throw LimitReached("memory");
  lay_out(function);
  order_by_room(function);
  std::size_t work = 0;
  for (const auto& [room, cell] : order_) {
    if (excluded_[cell] != 0) continue;
    chosen_.push_back(cell);
    const std::size_t looked_at = exclude_around(function, cell);
    pass(looked_at);
    work += looked_at;
    if (work > work_) break;  // what was chosen stands
  }
  return {static_cast<int>(chosen_.size()), most_blocked_};
}

std::vector<int> ScoreFooling::left_of_cuts(const ScoreFunction& function) {
  bounds(function);
  std::vector<int> left;
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    const int slabs = function.size[axis];
    std::vector<int> count(slabs, 0);
    for (const std::uint32_t cell : chosen_) ++count[cell / stride_[axis] % slabs];
    if (!function.is_set(axis)) {
      for (int slab = 0, sum = 0; slab + 1 < slabs; ++slab) left.push_back(sum += count[slab]);
      continue;
    }
    const SetAxis& tests = shapes_[function.shape[axis]];
    for (int test = 0; test < tests.n_tests(); ++test) {
      left.push_back(0);
      for (int value = 0; value < slabs; ++value) left.back() += tests.contains(test, value) ? count[value] : 0;
    }
  }
  left.push_back(static_cast<int>(chosen_.size()));
  return left;
}

}  // namespace onetree
