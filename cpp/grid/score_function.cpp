#include "grid/score_function.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "grid/gather.hpp"

namespace onetree {

namespace {

using Rank = ScoreFunction::Rank;

constexpr std::size_t kMostWork = std::size_t{1} << 22;  // cells to look at for one cut that is not proven best
constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

// Ranks of the ends of one column, over the admissions that are left.
struct Column {
  std::vector<Rank> least, most;
  bool operator==(const Column&) const = default;
};

// Numbers ends anew: the number grows by one wherever, in ascending order, a lower end follows an upper one. So lower
// ends that nothing is at odds with get 0. Of equal ends the lower one comes first: such cells are not at odds. Returns
// the largest number.
Rank renumber(Column& column) {
  const Rank top = *std::max_element(column.most.begin(), column.most.end());
  std::vector<std::uint8_t> has_least(top + 2, 0), has_most(top + 2, 0);
  for (const Rank rank : column.least) has_least[rank] = 1;
  for (const Rank rank : column.most) has_most[rank] = 1;
  std::vector<Rank> number_of_least(top + 2), number_of_most(top + 2);
  Rank number = 0;
  bool after_most = false;
  for (Rank rank = 0; rank <= top; ++rank) {
    if (has_least[rank] != 0 && after_most) {
      ++number;
      after_most = false;
    }
    number_of_least[rank] = number_of_most[rank] = number;
    after_most = after_most || has_most[rank] != 0;
  }
  for (Rank& rank : column.least) rank = number_of_least[rank];
  for (Rank& rank : column.most) rank = number_of_most[rank];
  return number;
}

// Upside down, the same cells are at odds. Of the two ways, the one that comes first.
void orient(Column& column, Rank top) {
  Column flipped;
  for (std::size_t i = 0; i < column.least.size(); ++i) {
    flipped.least.push_back(top - column.most[i]);
    flipped.most.push_back(top - column.least[i]);
  }
  if (std::tie(flipped.least, flipped.most) < std::tie(column.least, column.most)) column = std::move(flipped);
}

// Which of two neighbouring slabs of an axis differ.
std::vector<char> differing_slabs(const std::vector<std::uint32_t>& cells, int slabs, std::size_t inner) {
  std::vector<char> differs(slabs - 1, 0);
  const std::size_t block = inner * static_cast<std::size_t>(slabs);
  for (int h = 0; h + 1 < slabs; ++h) {
    const std::uint32_t* here = cells.data() + h * inner;
    for (std::size_t first = 0; first < cells.size() && differs[h] == 0; first += block)
      differs[h] = std::memcmp(here + first, here + first + inner, inner * sizeof *here) != 0;
  }
  return differs;
}

// Puts a function whose ranks are right but not reduced into its reduced form.
class Reduction {
 public:
  explicit Reduction(ScoreFunction&& function) : function_(std::move(function)) {}

  ScoreFunction reduced(const Origin* origin, Origin* reduced_origin) {
    number_by_appearance();
    find_columns();
    join_equal_admissions();
    drop_idle_slabs(origin, reduced_origin);
    return std::move(function_);
  }

 private:
  // Admissions that no cell has any more are forgotten.
  void number_by_appearance() {
    std::vector<std::uint32_t> number(function_.n_admissions(), kAbsent);
    for (std::uint32_t& cell : function_.cells) {
      if (number[cell] == kAbsent) {
        number[cell] = static_cast<std::uint32_t>(present_.size());
        present_.push_back(cell);
      }
      cell = number[cell];
    }
  }

  void find_columns() {
    const std::size_t n = function_.n_admissions();
    for (int c = 0; c < function_.n_columns; ++c) {
      Column column;
      for (const std::uint32_t admission : present_) {
        column.least.push_back(function_.least[c * n + admission]);
        column.most.push_back(function_.most[c * n + admission]);
      }
      const Rank top = renumber(column);
      if (top == 0) continue;
      orient(column, top);
      if (std::find(columns_.begin(), columns_.end(), column) == columns_.end()) columns_.push_back(std::move(column));
    }
    function_.n_columns = static_cast<int>(columns_.size());
  }

  // In the order of appearance still, since the first of equal ones stands for them.
  void join_equal_admissions() {
    const auto n = static_cast<std::uint32_t>(present_.size());
    std::vector<std::uint32_t> order(n), joined(n);
    std::iota(order.begin(), order.end(), 0);
    const auto compare = [&](std::uint32_t a, std::uint32_t b) {
      for (const Column& column : columns_) {
        if (column.least[a] != column.least[b]) return column.least[a] < column.least[b] ? -1 : 1;
        if (column.most[a] != column.most[b]) return column.most[a] < column.most[b] ? -1 : 1;
      }
      return 0;
    };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const int sign = compare(a, b);
      return sign != 0 ? sign < 0 : a < b;
    });
    for (std::size_t i = 0; i < n; ++i)
      joined[order[i]] = i > 0 && compare(order[i - 1], order[i]) == 0 ? joined[order[i - 1]] : order[i];
    std::vector<std::uint32_t> number(n), kept;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (joined[i] == i) {
        number[i] = static_cast<std::uint32_t>(kept.size());
        kept.push_back(i);
      } else {
        number[i] = number[joined[i]];
      }
    }
    function_.least.clear();
    function_.most.clear();
    for (const Column& column : columns_)
      for (const std::uint32_t i : kept) {
        function_.least.push_back(column.least[i]);
        function_.most.push_back(column.most[i]);
      }
    if (kept.size() < n)
      for (std::uint32_t& cell : function_.cells) cell = number[cell];
  }

  // Of slabs that have become equal the last is kept: it carries the threshold. The order of appearance stays.
  void drop_idle_slabs(const Origin* origin, Origin* reduced_origin) {
    const int n_axes = function_.n_axes();
    std::vector<std::vector<int>> kept(n_axes);
    Extent extent;
    std::size_t inner = function_.n_cells(), n_kept = 1;
    for (int axis = 0; axis < n_axes; ++axis) {
      const int slabs = function_.size[axis];
      inner /= static_cast<std::size_t>(slabs);
      const std::vector<char> differs = differing_slabs(function_.cells, slabs, inner);
      const bool is_idle = std::find(differs.begin(), differs.end(), 1) == differs.end();
      for (int slab = 0; slab < slabs; ++slab)
        if (slab + 1 == slabs || (function_.is_set(axis) ? !is_idle : differs[slab] != 0)) kept[axis].push_back(slab);
      n_kept *= kept[axis].size();
      if (is_idle) continue;
      extent.size.push_back(static_cast<int>(kept[axis].size()));
      if (function_.has_sets()) extent.shape.push_back(function_.shape[axis]);
      if (origin == nullptr) continue;
      reduced_origin->axis.push_back(origin->axis[axis]);
      std::vector<int> slabs_of_grid;
      for (const int slab : kept[axis]) slabs_of_grid.push_back(origin->last_slab[axis][slab]);
      reduced_origin->last_slab.push_back(std::move(slabs_of_grid));
    }
    if (n_kept < function_.n_cells()) function_.cells = gather(function_.cells, function_.size, kept);
    forget_shapes_of_order(extent);
    static_cast<Extent&>(function_) = std::move(extent);
  }

  ScoreFunction function_;
  std::vector<std::uint32_t> present_;
  std::vector<Column> columns_;
};

// Ends of intervals by their place among all ends of their column.
void rank(const ScoreGrid& grid, ScoreFunction& function) {
  const std::size_t n = grid.n_admissions(), n_columns = static_cast<std::size_t>(grid.n_columns);
  function.n_columns = grid.n_columns;
  std::vector<double> ends;
  const auto rank_of = [&](double end) {
    return static_cast<Rank>(std::lower_bound(ends.begin(), ends.end(), end) - ends.begin());
  };
  for (std::size_t c = 0; c < n_columns; ++c) {
    ends.clear();
    for (std::size_t i = 0; i < n; ++i) {
      ends.push_back(grid.least[i * n_columns + c]);
      ends.push_back(grid.most[i * n_columns + c]);
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (std::size_t i = 0; i < n; ++i) {
      function.least.push_back(rank_of(grid.least[i * n_columns + c]));
      function.most.push_back(rank_of(grid.most[i * n_columns + c]));
    }
  }
}

}  // namespace

ScoreProfile::ScoreProfile(const ScoreFunction&, Shapes& shapes, std::function<void()> tick)
    : shapes_(shapes), tick_(std::move(tick)) {}

ScoreFunction function_of(const ScoreGrid& grid, Shapes& shapes, Origin* origin) {
  ScoreFunction function;
  std::vector<int> order;
  Origin whole;
  static_cast<Extent&>(function) = extent_of(grid, shapes, order, origin == nullptr ? nullptr : &whole);
  function.cells = reordered_cells<std::uint32_t>(grid, grid.cells, order);
  rank(grid, function);
  return Reduction(std::move(function)).reduced(origin == nullptr ? nullptr : &whole, origin);
}

ScoreFunction side_of(const ScoreFunction& function, const ScoreProfile& profile, const Cut& cut, bool left,
                      const Origin* origin, Origin* origin_of_side) {
  profile.tick();
  ScoreFunction side;
  std::vector<std::vector<int>> kept(function.n_axes());
  side.size = function.size;
  side.shape = function.shape;
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    kept[axis].resize(function.size[axis]);
    std::iota(kept[axis].begin(), kept[axis].end(), 0);
  }
  const int shape = keep_on_cut_axis(function, profile.shapes(), cut, left, kept[cut.axis]);
  side.size[cut.axis] = static_cast<int>(kept[cut.axis].size());
  if (function.has_sets()) side.shape[cut.axis] = shape;
  side.cells = gather(function.cells, function.size, kept);
  side.n_columns = function.n_columns;
  side.least = function.least;
  side.most = function.most;
  if (origin == nullptr) return Reduction(std::move(side)).reduced(nullptr, nullptr);
  Origin whole = *origin;
  whole.last_slab[cut.axis].clear();
  for (const int slab : kept[cut.axis]) whole.last_slab[cut.axis].push_back(origin->last_slab[cut.axis][slab]);
  return Reduction(std::move(side)).reduced(&whole, origin_of_side);
}

Cut cut_of_fewest_cells(const ScoreFunction& function, const ScoreProfile& profile) {
  if (function.n_axes() == 1 && !function.has_sets()) {
    const std::vector<int> ends = ends_of_leaves(function);
    return {0, ends[(ends.size() - 2) / 2]};
  }
  const int n = n_cuts(function, profile.shapes());
  const int most = static_cast<int>(std::min<std::size_t>(n, std::max<std::size_t>(4, kMostWork / function.n_cells())));
  Cut best{0, 0};
  double least = HUGE_VAL;
  for (int i = 0; i < most; ++i) {
    const Cut cut =
        cut_at(function, profile.shapes(), static_cast<int>((2 * i + 1) * static_cast<std::int64_t>(n) / (2 * most)));
    double cost = 0;
    for (const bool left : {true, false})
      cost += std::sqrt(static_cast<double>(side_of(function, profile, cut, left).n_cells()));
    if (cost >= least) continue;
    least = cost;
    best = cut;
  }
  return best;
}

std::vector<int> ends_of_leaves(const ScoreFunction& function) {
  std::vector<int> ends;
  const std::size_t n = function.n_admissions();
  std::vector<Rank> least(function.n_columns), most(function.n_columns);
  for (int slab = 0; slab < static_cast<int>(function.n_cells()); ++slab) {
    const auto admits = [&](int c, bool anew) {
      const Rank low = function.least[c * n + function.cells[slab]], high = function.most[c * n + function.cells[slab]];
      least[c] = anew ? low : std::max(least[c], low);
      most[c] = anew ? high : std::min(most[c], high);
      return least[c] <= most[c];
    };
    bool fits = slab > 0;
    for (int c = 0; c < function.n_columns && slab > 0; ++c) fits = admits(c, false) && fits;
    if (fits || function.n_columns == 0) continue;
    if (slab > 0) ends.push_back(slab - 1);
    for (int c = 0; c < function.n_columns; ++c) admits(c, true);
  }
  ends.push_back(static_cast<int>(function.n_cells()) - 1);
  return ends;
}

ScoreGrid grid_of(const ScoreFunction& function, const Shapes& shapes) {
  ScoreGrid grid;
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    grid.axes.push_back({axis, {}});
    if (function.is_set(axis)) grid.axes[axis].set = shapes[function.shape[axis]];
    for (int cut = 0; cut < n_cuts(function, shapes, axis); ++cut) grid.axes[axis].thresholds.push_back(cut);
  }
  grid.cells = function.cells;
  grid.n_columns = std::max(1, function.n_columns);
  const std::size_t n = function.n_admissions();
  for (std::size_t i = 0; i < n; ++i)
    for (int c = 0; c < grid.n_columns; ++c) {
      grid.least.push_back(function.n_columns == 0 ? 0 : function.least[c * n + i]);
      grid.most.push_back(function.n_columns == 0 ? 0 : function.most[c * n + i]);
    }
  return grid;
}

}  // namespace onetree
