#include "search/fooling.hpp"

#include <algorithm>
#include <bit>

namespace onetree {

namespace {

constexpr std::size_t kRowsBetweenTicks = 1 << 18;
constexpr std::size_t kManyCells = 1 << 16;  // from here on it is worth asking what they take
constexpr std::size_t kMostInHull = 1 << 10;
constexpr std::size_t kWorkForGrid = 1 << 24;

int n_classes_of(const Function& function) {
  return 1 + *std::max_element(function.classes.begin(), function.classes.end());
}

// Whether rows of so many cells may hold the axis before as well.
bool fits_in_row(const Function& function, int axis, std::size_t row_cells) {
  return axis >= 0 && row_cells * function.size[axis] <= 64;
}

}  // namespace

void Fooling::pass(std::size_t n_rows) {
  rows_since_tick_ += n_rows;
  if (rows_since_tick_ <= kRowsBetweenTicks) return;
  rows_since_tick_ = 0;
  tick_();
}

std::size_t Fooling::bytes_for(const Function& function) {
  std::size_t row_cells = 1;
  for (int axis = function.n_axes(); fits_in_row(function, axis - 1, row_cells); --axis)
    row_cells *= function.size[axis - 1];
  const std::size_t n_planes = n_classes_of(function) + 4;  // the others are excluded_, in_zone_, scratch_ and exists_
  const std::size_t n_counters = function.has_sets() ? 2 : 1;
  const std::size_t row_bytes =
      n_planes * sizeof(Word) + n_counters * sizeof blocked_[0] + sizeof stamp_[0] + sizeof(Visited);
  return function.n_cells() / row_cells * row_bytes;
}

std::size_t Fooling::bytes() const {
  return (planes_.capacity() + excluded_.capacity() + in_zone_.capacity() + scratch_.capacity()) * sizeof(Word) +
         exists_.capacity() * sizeof(Directions) + (blocked_.capacity() + nodes_.capacity()) * sizeof blocked_[0] +
         stamp_.capacity() * sizeof stamp_[0] + queue_.capacity() * sizeof(Visited) +
         chosen_.capacity() * sizeof chosen_[0];
}

void Fooling::lay_out(const Function& function) {
  int axis = function.n_axes();
  row_cells_ = 1;
  inner_.clear();
  while (fits_in_row(function, axis - 1, static_cast<std::size_t>(row_cells_))) {
    --axis;
    inner_.push_back(
        {function.size[axis], row_cells_, function.is_set(axis) ? &shapes_.pairs(function.shape[axis]) : nullptr, {}});
    row_cells_ *= function.size[axis];
  }
  full_ = ~Word{0} >> (64 - row_cells_);
  for (InnerAxis& inner : inner_) {
    inner.slab.assign(inner.slabs, 0);
    for (int cell = 0; cell < row_cells_; ++cell) inner.slab[cell / inner.stride % inner.slabs] |= Word{1} << cell;
  }
  n_outer_ = axis;
  n_rows_ = function.n_cells() / row_cells_;
  outer_slabs_.assign(function.size.begin(), function.size.begin() + n_outer_);
  step_.clear();
  exists_.assign(n_rows_, 0);
  std::size_t step = n_rows_;
  for (int outer = 0; outer < n_outer_; ++outer) {
    const std::size_t block = step;
    step /= outer_slabs_[outer];
    step_.push_back(-static_cast<std::ptrdiff_t>(step));
    step_.push_back(static_cast<std::ptrdiff_t>(step));
    pass(n_rows_ / 4);
    for (std::size_t first = 0; first < n_rows_; first += block)
      for (std::size_t row = first; row < first + block - step; ++row) {
        exists_[row] |= Directions{2} << 2 * outer;
        exists_[row + step] |= Directions{1} << 2 * outer;
      }
  }
  most_blocked_ = 2 * function.n_axes();
  ordered_ways_ = ~Directions{0};
  sets_.clear();
  if (function.has_sets()) lay_out_sets(function);
}

void Fooling::lay_out_sets(const Function& function) {
  first_row_.assign(1, 0);
  int n_tests = 0, n_values = 0;
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    if (!function.is_set(axis)) continue;
    n_tests += shapes_.longest_path(function.shape[axis]);
    n_values += function.size[axis];
  }
  for (int outer = 0; outer < n_outer_; ++outer) {
    if (!function.is_set(outer)) continue;
    const int size = outer_slabs_[outer], shape = function.shape[outer];
    const auto step = static_cast<std::size_t>(step_[2 * outer + 1]);
    const Shapes::Pairs& pairs = shapes_.pairs(shape);
    sets_.push_back({size, step, pairs.empty() ? nullptr : &pairs});
    ordered_ways_ &= ~(Directions{3} << 2 * outer);
    const std::size_t n_slices = first_row_.size();
    for (int value = 1; value < size; ++value)
      for (std::size_t slice = 0; slice < n_slices; ++slice)
        first_row_.push_back(first_row_[slice] + static_cast<std::size_t>(value) * step);
  }
  counts_tests_ = most_blocked_ + n_tests < 1 << kCounterBits;
  counts_values_ = most_blocked_ + n_values < 1 << kCounterBits;
  if (counts_values_) most_blocked_ += n_values;
}

void Fooling::fill_rows(const Function& function) {
  n_classes_ = n_classes_of(function);
  planes_.assign(n_rows_ * n_classes_, 0);
  const CellClass* cell = function.classes.data();
  for (std::size_t row = 0; row < n_rows_; ++row) {
    pass(1);
    if (n_classes_ == 2) {
      Word ones = 0;
      for (int bit = 0; bit < row_cells_; ++bit) ones |= static_cast<Word>(*cell++) << bit;
      planes_[row] = full_ & ~ones;
      planes_[n_rows_ + row] = ones;
    } else {
      for (int bit = 0; bit < row_cells_; ++bit) planes_[*cell++ * n_rows_ + row] |= Word{1} << bit;
    }
  }
}

namespace {

template <std::size_t kBits>
void add(std::array<std::uint64_t, kBits>& counter, std::uint64_t ones) {
  for (std::size_t bit = 0; ones != 0; ++bit) {
    const std::uint64_t carry = counter[bit] & ones;
    counter[bit] ^= ones;
    ones = carry;
  }
}

}  // namespace

// Cells of a row that have another class than their neighbours in another one.
Fooling::Word Fooling::differing(std::size_t row, std::size_t other) const {
  Word differs = 0;  // the last class follows from the others
  for (int plane = 0; plane < std::max(1, n_classes_ - 1); ++plane)
    differs |= planes_[plane * n_rows_ + row] ^ planes_[plane * n_rows_ + other];
  return differs;
}

// Other values with another class; and of the tests that tell a cell from them, each that alone does it for one, or one
// if none does. `differing(other)`: cells of the row at value `here` that have another class than at the other value.
template <typename Differing>
void Fooling::count_blocking_tests(int here, int size, const Shapes::Pairs* pairs, std::size_t row,
                                   const Differing& differing) {
  Word any = 0, by_tests = 0;
  scratch_.assign(size, 0);  // per value: those told apart by the test that this value is the first to name
  for (int other = 0; other < size; ++other) {
    if (other == here) continue;
    const Word differs = differing(other);
    any |= differs;
    if (counts_values_) add(blocked_[row], differs);
    if (!counts_tests_ || pairs == nullptr) continue;
    const int* only_test = pairs->only_test.data() + here * size;
    if (only_test[other] < 0) continue;
    const int* const named = std::find(only_test, only_test + other, only_test[other]);
    scratch_[named - only_test] |= differs;
    by_tests |= differs;
  }
  if (!counts_values_) add(blocked_[row], any);
  for (const Word cells : scratch_) add(nodes_[row], cells);
  add(nodes_[row], any & ~by_tests);
}

// The most that the path of any cell needs.
int Fooling::most_nodes() const {
  int most = 0;
  for (const std::array<Word, kCounterBits>& counter : nodes_) {
    Word cells = full_;
    int count = 0;
    for (int bit = kCounterBits; bit-- > 0;)
      if ((cells & counter[bit]) != 0) {
        cells &= counter[bit];
        count |= 1 << bit;
      }
    most = std::max(most, count);
  }
  return most;
}

void Fooling::count_blocked(bool has_sets) {
  blocked_.assign(n_rows_, {});
  nodes_.assign(has_sets ? n_rows_ : 0, {});
  const auto block = [&](std::size_t row, Word cells) {
    add(blocked_[row], cells);
    if (has_sets) add(nodes_[row], cells);
  };
  const int n_planes = std::max(1, n_classes_ - 1);  // the last class follows from the others
  for (std::size_t row = 0; row < n_rows_; ++row) {
    pass(1);
    for (const InnerAxis& inner : inner_) {
      if (inner.pairs != nullptr) {
        for (int here = 0; here < inner.slabs; ++here)
          count_blocking_tests(here, inner.slabs, inner.pairs, row, [&](int other) {
            const int up = std::max(0, here - other) * inner.stride, down = std::max(0, other - here) * inner.stride;
            Word differs = 0;
            for (int plane = 0; plane < n_planes; ++plane) {
              const Word cells = planes_[plane * n_rows_ + row];
              differs |= cells ^ cells << up >> down;
            }
            return differs & inner.slab[here];
          });
        continue;
      }
      Word differs = 0;
      for (int plane = 0; plane < n_planes; ++plane) {
        const Word cells = planes_[plane * n_rows_ + row];
        differs |= cells ^ cells >> inner.stride;
      }
      differs &= full_ & ~inner.slab.back();
      block(row, differs);
      block(row, differs << inner.stride);
    }
    for (int outer = 0; outer < n_outer_; ++outer) {
      if (!(exists_[row] & ordered_ways_ & Directions{2} << 2 * outer)) continue;
      const std::size_t next = row + step_[2 * outer + 1];
      const Word differs = differing(row, next);
      block(row, differs);
      block(next, differs);
    }
    for (const SetRows& axis : sets_) {
      const int here = axis.value(row);
      count_blocking_tests(here, axis.size, axis.pairs, row, [&](int other) {
        return differing(row, row + static_cast<std::size_t>(other) * axis.step - here * axis.step);
      });
    }
  }
}

int Fooling::degree() {
  int most = 0;
  std::vector<Word> with_count(inner_.size() + 1, 0);  // cells by how many of their inner slabs are not the first
  for (int cell = 0; cell < row_cells_; ++cell) {
    int count = 0;
    for (const InnerAxis& inner : inner_) count += cell / inner.stride % inner.slabs != 0;
    with_count[count] |= Word{1} << cell;
  }
  for (int plane = 0; plane < std::max(1, n_classes_ - 1); ++plane) {
    scratch_.assign(planes_.begin() + plane * n_rows_, planes_.begin() + (plane + 1) * n_rows_);
    for (Word& cells : scratch_)
      for (const InnerAxis& inner : inner_) cells ^= (cells & ~inner.slab.back()) << inner.stride;
    for (int outer = 0; outer < n_outer_; ++outer, pass(n_rows_ / 4))
      for (std::size_t row = n_rows_; row-- > 0;)
        if (exists_[row] >> (2 * outer) & 1) scratch_[row] ^= scratch_[row + step_[2 * outer]];
    constexpr Directions kDown = 0x5555555555555555ULL;
    for (std::size_t row = 0; row < n_rows_; ++row) {
      if (scratch_[row] == 0) continue;
      int inside = static_cast<int>(inner_.size());
      while (!(scratch_[row] & with_count[inside])) --inside;
      most = std::max(most, inside + std::popcount(exists_[row] & kDown));
    }
  }
  return most;
}

// How a bad cell of a row rules out those behind it, seen from a cell at this bit.
void Fooling::find_spreads(int bit) {
  spreads_.clear();
  for (const InnerAxis& inner : inner_) {
    const int at = bit / inner.stride % inner.slabs;
    if (inner.pairs != nullptr) {
      find_spreads_of_hulls(inner, at);
      continue;
    }
    for (int slab = at; slab + 1 < inner.slabs; ++slab) spreads_.push_back({inner.slab[slab], inner.stride, 0});
    for (int slab = at; slab > 0; --slab) spreads_.push_back({inner.slab[slab], 0, inner.stride});
  }
}

// What a leaf contains besides two values rules out the second of them if it is bad. It contains the same or less
// besides one of these, so it does not matter that one spread adds to what the next begins with.
void Fooling::find_spreads_of_hulls(const InnerAxis& inner, int here) {
  for (int value = 0; value < inner.slabs; ++value)
    for (Word rest = inner.pairs->hull[here * inner.slabs + value]; rest != 0; rest &= rest - 1) {
      const int between = std::countr_zero(rest), distance = (value - between) * inner.stride;
      if (between != value) spreads_.push_back({inner.slab[between], std::max(0, distance), std::max(0, -distance)});
    }
}

Fooling::Word Fooling::shadowed(Word bad) const {
  for (const Spread& spread : spreads_) bad |= (bad & spread.from) << spread.up >> spread.down;
  return bad;
}

// The zone of a cell x: all y of its slice whose bounding box with x is homogeneous, that is, y has the class of x and
// every neighbour of y that is one step closer to x is in the zone. Rows are met by distance, each once: from the
// neighbour on its last axis. Appends them to the queue.
void Fooling::find_zone(std::uint32_t chosen, int bit, const Word* same_class, bool excludes) {
  stamp_[chosen] = zone_;
  in_zone_[chosen] = full_ & ~shadowed(full_ & ~same_class[chosen]);
  if (excludes) excluded_[chosen] |= in_zone_[chosen];
  std::size_t at = queue_.size();
  queue_.push_back({chosen, 0});
  for (; at < queue_.size(); ++at) {
    const auto [from, moved] = queue_[at];
    Directions ways = exists_[from] & ordered_ways_;
    if (moved != 0) {
      const int last = std::bit_width(moved) - 1;
      ways &= Directions{1} << last | ~Directions{0} << 1 << (last | 1);  // further on this axis, or a later one
    }
    for (; ways != 0; ways &= ways - 1) {
      const int way = std::countr_zero(ways);
      const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(from) + step_[way];
      if (!(same_class[to] >> bit & 1)) continue;
      Word closer = in_zone_[from];
      bool inside = true;
      for (Directions other = moved & ~(Directions{1} << way); other != 0 && inside; other &= other - 1) {
        const std::ptrdiff_t neighbour = to - step_[std::countr_zero(other)];
        inside = stamp_[neighbour] == zone_;
        closer &= in_zone_[neighbour];
      }
      if (!inside) continue;
      if (const Word bad = closer & ~same_class[to]; bad != 0) closer &= ~shadowed(bad);
      stamp_[to] = zone_;
      in_zone_[to] = closer;
      if (excludes) excluded_[to] |= closer;
      queue_.push_back({static_cast<std::uint32_t>(to), moved | Directions{1} << way});
    }
  }
}

// The slices of the values that every leaf has which has the values of both slices; of many, only these two.
void Fooling::list_hull(std::size_t slice, std::size_t other) {
  hull_.assign(1, 0);
  bool is_whole = true;
  for (const SetRows& axis : sets_) {
    const int u = axis.value(first_row_[slice]), v = axis.value(first_row_[other]);
    const Word values = axis.pairs == nullptr ? 0 : axis.pairs->hull[u * axis.size + v];
    const std::size_t n = hull_.size();
    is_whole = is_whole && axis.pairs != nullptr && n * std::popcount(values) <= kMostInHull;
    if (!is_whole) break;
    std::vector<std::size_t> more;
    for (Word rest = values; rest != 0; rest &= rest - 1)
      for (const std::size_t first : hull_) more.push_back(first + std::countr_zero(rest) * axis.step);
    hull_.swap(more);
  }
  if (!is_whole) hull_ = {first_row_[slice], first_row_[other]};
}

// A cell of another slice fits in a leaf with the chosen one if all slices between them have it in their zones.
void Fooling::exclude_hulls(std::uint32_t chosen, int bit, const Word* same_class) {
  std::size_t own_first = 0, own = 0;
  for (const SetRows& axis : sets_) own_first += axis.value(chosen) * axis.step;
  zone_begin_.clear();
  for (const std::size_t first : first_row_) {
    const auto row = static_cast<std::uint32_t>(chosen - own_first + first);
    if (first == own_first) own = zone_begin_.size();
    zone_begin_.push_back(queue_.size());
    if (same_class[row] >> bit & 1) find_zone(row, bit, same_class, first == own_first);
  }
  zone_begin_.push_back(queue_.size());
  for (std::size_t slice = 0; slice < first_row_.size(); ++slice) {
    if (slice == own || zone_begin_[slice] == zone_begin_[slice + 1]) continue;
    list_hull(own, slice);
    for (std::size_t at = zone_begin_[slice]; at < zone_begin_[slice + 1]; ++at) {
      const std::size_t row = queue_[at].row;
      Word shared = in_zone_[row];
      for (std::size_t k = 0; k < hull_.size() && shared != 0; ++k) {
        const std::size_t between = row - first_row_[slice] + hull_[k];
        shared = stamp_[between] == zone_ ? shared & in_zone_[between] : 0;
      }
      excluded_[row] |= shared;
    }
  }
}

CellBounds Fooling::bounds(const Function& function) {
  chosen_.clear();
  // No grid of more axes or cells fits in memory; the bounds that hold for it anyway.
  if (2 * function.n_axes() >= 1 << kCounterBits || function.n_cells() > 0xFFFFFFFF) return {1, 0};
  if (function.n_cells() > kManyCells && bytes_for(function) > memory_limit_) throw LimitReached("memory");
  lay_out(function);
  fill_rows(function);
  count_blocked(function.has_sets());
  excluded_.assign(n_rows_, 0);
  if (stamp_.size() < n_rows_) {
    stamp_.resize(n_rows_, 0);
    in_zone_.resize(n_rows_);
  }
  if (zone_ > 0xFFFFFFFF - function.n_cells()) {
    std::fill(stamp_.begin(), stamp_.end(), 0);
    zone_ = 0;
  }
  CellBounds bounds{0, 0};
  // Cells with most blocked directions first: they have the smallest zones.
  std::size_t work = 0;
  for (int count = most_blocked_; count >= 0 && work <= work_; --count, pass(n_rows_ / 4))
    for (std::uint32_t row = 0; row < n_rows_ && work <= work_; ++row) {
      Word cells = full_ & ~excluded_[row];
      for (int bit = 0; bit < kCounterBits && cells != 0; ++bit)
        cells &= count >> bit & 1 ? blocked_[row][bit] : ~blocked_[row][bit];
      while (cells != 0) {
        const int bit = std::countr_zero(cells);
        if (!function.has_sets()) bounds.depth = std::max(bounds.depth, count);
        ++bounds.leaves;
        chosen_.push_back(static_cast<std::uint64_t>(row) * row_cells_ + bit);
        const Word* same_class = planes_.data();
        while (!(same_class[row] >> bit & 1)) same_class += n_rows_;
        ++zone_;
        queue_.clear();
        find_spreads(bit);
        if (sets_.empty()) {
          find_zone(row, bit, same_class, true);
        } else {
          exclude_hulls(row, bit, same_class);
          work += first_row_.size() + queue_.size();
          if (work > work_) break;  // what was chosen stands
        }
        pass(queue_.size());
        cells &= ~excluded_[row];
      }
    }
  if (function.has_sets()) bounds.depth = most_nodes();
  if (bounds.depth < function.n_axes()) bounds.depth = std::max(bounds.depth, degree());
  return bounds;
}

CellBounds bounds_of_grid(const Grid& grid, std::size_t memory_limit, std::function<void()> tick) {
  Shapes shapes;
  Function function = function_of(grid, shapes);
  rename_classes(function.classes);
  if (Fooling::bytes_for(function) > memory_limit) return {1, 0};
  return Fooling(shapes, memory_limit, kWorkForGrid, std::move(tick)).bounds(function);
}

std::vector<int> Fooling::left_of_cuts(const Function& function) {
  bounds(function);
  std::vector<int> left;
  std::size_t inner = function.n_cells();
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    const int slabs = function.size[axis];
    inner /= slabs;
    std::vector<int> count(slabs, 0);
    for (const std::uint64_t cell : chosen_) ++count[cell / inner % slabs];
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
