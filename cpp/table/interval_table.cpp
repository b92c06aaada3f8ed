#include "table/interval_table.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/compiler.hpp"
#include "base/fronts.hpp"
#include "kernel/row_plan.hpp"

namespace onetree {

namespace {

constexpr double kBytesPerSecond = 1.5e8;                     // that one thread fills, in tables of gigabytes
constexpr std::size_t kMostTasks = 20'000;                    // each takes about a kilobyte
constexpr std::size_t kMostListBytes = std::size_t{1} << 26;  // per thread, kept from task to task

// The class of a set of values at a cell of the other axes, where the values have several. Different for first and last
// cells, so that those of a box with such a set never agree.
constexpr CellClass kSeveralFirst = IntervalTable::kMostClasses, kSeveralLast = kSeveralFirst + 1;

// The classes of the first (or last) cells of all boxes that a row can stand for, one row for each cell of the loops;
// on axes without an order, for each set.
std::vector<std::uint8_t> corner_classes(const Grid& grid, const IntervalNest& nest, bool last, Control& control) {
  const std::vector<std::size_t> stride = cell_strides(grid);
  const RowShape& row = nest.row();
  std::vector<std::size_t> cell_of_box(row.n_boxes(), 0);
  for (int box = 0; box < row.n_boxes(); ++box)
    for (std::size_t i = 0; i < row.axes().size(); ++i) {
      const Interval& interval = row.intervals(box)[i];
      cell_of_box[box] += stride[row.axes()[i]] * (last ? interval.hi : interval.lo);
    }
  std::size_t n_corners = 1;
  for (int level = 0; level < nest.n_loops(); ++level) n_corners *= nest.n_ends(level);
  std::vector<std::uint8_t> corners(n_corners * row.bytes(), 0);
  std::uint8_t* out = corners.data();
  std::vector<int> slab(nest.n_loops(), 0);
  for (std::size_t corner = 0; corner < n_corners; ++corner, out += row.bytes()) {
    if (corner % (1 << 18) == 0) control.check("interval-dp", -1, -1, 0);
    std::size_t cell = 0;
    const SetSplit* split = nullptr;
    std::size_t split_level = 0, split_step = 0;  // bytes from set to set
    for (std::size_t level = 0, step = n_corners * row.bytes(); level < slab.size() && split == nullptr; ++level) {
      const GridParts::Sets* sets = nest.loop(static_cast<int>(level)).sets;
      step /= nest.n_ends(static_cast<int>(level));
      if (sets != nullptr && !sets->family.splits(slab[level]).empty()) {
        split = sets->family.splits(slab[level]).data();
        split_level = level;
        split_step = step;
      }
      cell += (sets != nullptr ? sets->family.least(slab[level]) : slab[level]) *
              stride[nest.loop(static_cast<int>(level)).axis];
    }
    if (split != nullptr) {
      // What the two sides agree on; they come first.
      const std::size_t set = slab[split_level];
      const std::uint8_t *inside = out - (set - split->inside) * split_step,
                         *outside = out - (set - split->outside) * split_step;
      for (std::size_t byte = 0; byte < row.bytes(); ++byte)
        out[byte] = inside[byte] == outside[byte] ? inside[byte] : last ? kSeveralLast : kSeveralFirst;
    } else {
      for (int box = 0; box < row.n_boxes(); ++box) out[row.place(box)] = grid.classes[cell + cell_of_box[box]];
    }
    for (int level = nest.n_loops(); level-- > 0;) {
      if (++slab[level] < nest.n_ends(level)) break;
      slab[level] = 0;
    }
  }
  return corners;
}

// What every box of a row may carry, for each cell of the loops: two planes of ranks per column.
template <typename Word>
void write_single_planes(const ScoreGrid& grid, const ScoreRanks& ranks, const IntervalNest& nest,
                         std::vector<std::uint8_t>& planes, Control& control) {
  const std::vector<std::size_t> stride = cell_strides(grid);
  const RowShape& row = nest.row();
  // Boxes of one cell have a place among the cells; others are the union of two boxes that come before.
  struct Source {
    int left, right;  // -1: one cell
    std::size_t cell;
  };
  std::vector<Source> sources;
  for (int box = 0; box < row.n_boxes(); ++box) {
    Source source{-1, -1, 0};
    for (std::size_t i = 0; i < row.axes().size(); ++i) {
      const auto [lo, hi] = row.intervals(box)[i];
      source.cell += stride[row.axes()[i]] * lo;
      if (lo == hi) continue;
      const int axis = static_cast<int>(i), others = box - row.share(axis, lo, hi);
      source.left = others + row.share(axis, lo, lo);
      source.right = others + row.share(axis, lo + 1, hi);
    }
    sources.push_back(source);
  }
  const std::size_t n_planes = static_cast<std::size_t>(ranks.n_planes());
  std::size_t n_singles = 1;
  for (int level = 0; level < nest.n_loops(); ++level) n_singles *= nest.loop(level).n_slabs;
  planes.assign(n_singles * n_planes * row.bytes(), 0);
  std::vector<int> slab(nest.n_loops(), 0);
  std::uint8_t* out = planes.data();
  for (std::size_t single = 0; single < n_singles; ++single) {
    if (single % (1 << 16) == 0) control.check("interval-dp", -1, -1, 0);
    std::size_t first = 0;
    for (int level = 0; level < nest.n_loops(); ++level) first += slab[level] * stride[nest.loop(level).axis];
    for (std::size_t plane = 0; plane < n_planes; ++plane, out += row.bytes()) {
      const auto at = [&](int box) { return reinterpret_cast<Word*>(out + row.place(box)); };
      for (int box = 0; box < row.n_boxes(); ++box) {
        const auto& [left, right, cell] = sources[box];
        if (left < 0)
          *at(box) = static_cast<Word>(ranks.rank(grid.cells[first + cell], plane));
        else
          *at(box) = plane % 2 == 0 ? std::max(*at(left), *at(right)) : std::min(*at(left), *at(right));
      }
    }
    for (int level = nest.n_loops(); level-- > 0;) {
      if (++slab[level] < nest.loop(level).n_slabs) break;
      slab[level] = 0;
    }
  }
}

std::vector<std::uint8_t> single_planes(const ScoreGrid& grid, const ScoreRanks& ranks, const IntervalNest& nest,
                                        Control& control) {
  std::vector<std::uint8_t> planes;
  if (nest.element_bytes() == 1)
    write_single_planes<std::uint8_t>(grid, ranks, nest, planes, control);
  else if (nest.element_bytes() == 2)
    write_single_planes<std::uint16_t>(grid, ranks, nest, planes, control);
  else
    write_single_planes<std::uint32_t>(grid, ranks, nest, planes, control);
  return planes;
}

// Fills a table. What all threads share is constant; each has its own Worker.
struct Filling {
  Filling(const Grid& grid, const IntervalNest& nest_, std::uint8_t* table_, Measure measure, Simd simd,
          Control& control)
      : Filling(nest_, table_, measure, simd) {
    lo_classes = corner_classes(grid, nest_, false, control);
    hi_classes = corner_classes(grid, nest_, true, control);
    std::size_t step = nest.row_bytes();
    for (int level = nest.n_loops(); level-- > 0; step *= nest.n_ends(level)) corner_stride[level] = step;
  }
  // Where leaves carry numbers: a corner is a cell of the loops, and matters only where boxes are no larger.
  Filling(const ScoreGrid& grid, const ScoreRanks& ranks, const IntervalNest& nest_, std::uint8_t* table_,
          Measure measure, Simd simd, Control& control)
      : Filling(nest_, table_, measure, simd) {
    mark_block = mark_block_for(simd, nest.element_bytes());
    n_planes = ranks.n_planes();
    singles = single_planes(grid, ranks, nest, control);
    lo_classes.assign(nest.row_bytes(), 0);
    hi_classes = lo_classes;
    std::size_t step = n_planes * nest.row_bytes();
    for (int level = nest.n_loops(); level-- > 0; step *= nest.loop(level).n_slabs) corner_stride[level] = step;
  }

  const IntervalNest& nest;
  std::uint8_t* table;
  RowPlanner planner;
  RowPlan plan;
  FillBlock fill_block;
  MarkBlock mark_block = nullptr;  // null: leaves have classes
  int n_planes = 0;
  std::vector<std::uint8_t> singles;
  std::vector<std::uint8_t> lo_classes, hi_classes;
  std::vector<std::size_t> corner_stride;  // per loop: bytes from slab to slab

 private:
  Filling(const IntervalNest& nest_, std::uint8_t* table_, Measure measure, Simd simd)
      : nest(nest_),
        table(table_),
        planner(nest_.row(), groups_at_once(simd)),
        plan(planner.plan()),
        fill_block(fill_block_for(simd, measure, nest_.element_bytes(), planner.n_levels())),
        corner_stride(nest_.n_loops()) {}
};

using Node = IntervalNest::Node;

struct Pair {  // two nodes of one loop whose union is a third
  Node left, right;
};

struct Place {  // a node, with what is needed to fill all below it
  Node node{};
  bool single = true;
  std::size_t lo_corner = 0, hi_corner = 0;  // bytes
  std::vector<Pair> pairs;
};

class Worker {
 public:
  // `tick` is called some hundred times a second; it may throw.
  explicit Worker(
      const Filling& filling, std::function<void()> tick = [] {})
      : filling_(filling), nest_(filling.nest), tick_(std::move(tick)), lists_(nest_), levels_(nest_.n_loops()) {
    for (int level = 0; level < nest_.n_loops(); ++level) {
      const IntervalNest::Loop& loop = nest_.loop(level);
      levels_[level].own_slabs.resize(loop.n_slabs);
      levels_[level].slabs = loop.sets != nullptr ? loop.sets->set_of_end.data() : levels_[level].own_slabs.data();
    }
  }

  Place root() const {
    Place place;
    if (nest_.n_loops() > 0) place.node = nest_.loop(0).nodes[0];
    return place;
  }

  // Calls `visit(q, child)` for every interval of the node's loop, in order. The last loop has rows, not nodes, for
  // children.
  template <typename Visit>
  void for_each_child(int level, const Place& place, const Visit& visit) {
    Level& here = levels_[level];
    const Intervals& intervals = prepare(level, place);
    for (int q = 0; q < intervals.size(); ++q) {
      make_child(level, place, intervals, q, here.child[0]);
      visit(q, here.child[0]);
    }
  }

  // All below a place, when nothing else is being filled.
  void fill(int level, const Place& place) {
    if (lists_.bytes() > kMostListBytes) lists_.clear();
    fill_below(level, place);
  }

 private:
  void fill_below(int level, const Place& place) {
    if (level + 1 >= nest_.n_loops()) {
      fill_block(level, place);
    } else if (level + 2 == nest_.n_loops()) {
      // A block's neighbours lie all over the table: they are fetched while the block before is being filled.
      Level& here = levels_[level];
      const Intervals& intervals = prepare(level, place);
      make_child(level, place, intervals, 0, here.child[0]);
      for (int q = 0; q < intervals.size(); ++q) {
        if (q + 1 < intervals.size()) {
          Place& next = here.child[(q + 1) & 1];
          make_child(level, place, intervals, q + 1, next);
          for (const Pair& pair : next.pairs) {
            ONETREE_PREFETCH(filling_.table + pair.left.first_child * nest_.row_bytes());
            ONETREE_PREFETCH(filling_.table + pair.right.first_child * nest_.row_bytes());
          }
        }
        fill_block(level + 1, here.child[q & 1]);
      }
    } else {
      for_each_child(level, place, [&](int, const Place& child) {
        tick_();
        fill_below(level + 1, child);
      });
    }
  }

  struct Level {
    const int* slabs;                // last grid slab of each slab of the node; the set of each end of a set
    std::vector<int> own_slabs;      // where these are, unless they are those of sets
    std::vector<RowPair> row_pairs;  // the place's pairs, with the lists that lead to their children
    Place child[2];
  };

  const Intervals& prepare(int level, const Place& place) {
    Level& here = levels_[level];
    if (nest_.loop(level).sets == nullptr) nest_.grid_slabs(level, place.node, here.own_slabs.data());
    here.row_pairs.resize(place.pairs.size());
    const IntervalLists::OfNode lists = lists_.of_node(level, place.node.mask);
    const std::size_t row_bytes = nest_.row_bytes();
    for (std::size_t p = 0; p < place.pairs.size(); ++p) {
      const auto& [left, right] = place.pairs[p];
      here.row_pairs[p] = {filling_.table + left.first_child * row_bytes, lists_.list(lists, left.mask),
                           filling_.table + right.first_child * row_bytes, lists_.list(lists, right.mask)};
    }
    return nest_.intervals(level, place.node);
  }

  void make_child(int level, const Place& place, const Intervals& intervals, int q, Place& child) {
    const Level& here = levels_[level];
    const Node* nodes = nest_.loop(level + 1).nodes.data();
    const auto [lo, hi] = intervals[q];
    child.node = nodes[place.node.first_child + q];
    child.single = place.single && lo == hi;
    child.lo_corner = place.lo_corner + static_cast<std::size_t>(here.slabs[lo]) * filling_.corner_stride[level];
    child.hi_corner = place.hi_corner + static_cast<std::size_t>(here.slabs[hi]) * filling_.corner_stride[level];
    const std::size_t n_pairs = place.pairs.size(), n_splits = intervals.n_splits(q);
    child.pairs.resize(n_pairs + n_splits);
    for (std::size_t p = 0; p < n_pairs; ++p)
      child.pairs[p] = {nodes[place.pairs[p].left.first_child + here.row_pairs[p].left_list[q]],
                        nodes[place.pairs[p].right.first_child + here.row_pairs[p].right_list[q]]};
    for (std::size_t s = 0; s < n_splits; ++s)
      child.pairs[n_pairs + s] = {nodes[place.node.first_child + intervals.splits(q)[s].left],
                                  nodes[place.node.first_child + intervals.splits(q)[s].right]};
  }

  void fill_block(int level, const Place& place) {
    static const Intervals alone(1, [] {});
    static const int first_slab = 0;
    const Intervals* intervals = &alone;
    Block block{};
    block.rows = filling_.table;
    block.grid_slabs = &first_slab;
    if (nest_.n_loops() > 0) {
      const Level& here = levels_[level];
      intervals = &prepare(level, place);
      block.rows += place.node.first_child * nest_.row_bytes();
      block.pairs = here.row_pairs.data();
      block.n_pairs = static_cast<int>(here.row_pairs.size());
      block.grid_slabs = here.slabs;
    }
    block.n_rows = intervals->size();
    block.intervals = intervals->data();
    block.splits = intervals->splits();
    block.first_split = intervals->first_split();
    block.single = place.single;
    if (filling_.mark_block == nullptr) {
      block.lo_classes = filling_.lo_classes.data() + place.lo_corner;
      block.hi_classes = filling_.hi_classes.data() + place.hi_corner;
    } else {
      mark(level, place, block);
    }
    const std::size_t n_sources = static_cast<std::size_t>(block.n_pairs) + intervals->n_slabs();
    if (sources_.size() < n_sources) sources_.resize(n_sources);
    block.sources = sources_.data();
    filling_.fill_block(block, filling_.plan);
  }

  // Which boxes of a block may not be leaves, where that is a matter of numbers.
  void mark(int level, const Place& place, Block& block) {
    const std::size_t row_bytes = nest_.row_bytes(), n_planes = static_cast<std::size_t>(filling_.n_planes);
    ScoreBlock scores{};
    scores.row_bytes = row_bytes;
    scores.n_planes = filling_.n_planes;
    scores.rows = block.rows;
    scores.n_rows = block.n_rows;
    scores.n_slabs = nest_.n_loops() == 0 ? 1 : nest_.n_slabs(level, place.node);
    scores.intervals = block.intervals;
    scores.splits = block.splits;
    scores.first_split = block.first_split;
    scores.pair = block.n_pairs > 0 ? block.pairs : nullptr;
    scores.grid_slabs = block.grid_slabs;
    scores.singles = filling_.singles.data() + (place.single ? place.lo_corner : 0);
    const std::size_t n_cut = static_cast<std::size_t>(scores.n_rows - scores.n_slabs);
    if (planes_.size() < (n_cut + 1) * n_planes * row_bytes) planes_.resize((n_cut + 1) * n_planes * row_bytes);
    if (differs_.size() < scores.n_rows * row_bytes) differs_.resize(scores.n_rows * row_bytes);
    scores.planes = planes_.data();
    if (nest_.n_loops() == 0) scores.rows = planes_.data() + n_planes * row_bytes;  // nothing else is made of them
    scores.differs = differs_.data();
    filling_.mark_block(scores);
    block.lo_classes = filling_.lo_classes.data();
    block.differs = differs_.data();
  }

  const Filling& filling_;
  const IntervalNest& nest_;
  std::function<void()> tick_;
  IntervalLists lists_;
  std::vector<Level> levels_;
  std::vector<Source> sources_;
  std::vector<std::uint8_t> planes_, differs_;  // of the rows of a block
};

// Nodes some loops down, in fronts: intervals of equal total length do not depend on each other, so each front can be
// filled by any number of threads, in any order, with the same result.
std::vector<std::vector<Place>> make_fronts(const Filling& filling, int depth) {
  std::vector<std::vector<Place>> fronts;
  Worker worker(filling);
  auto descend = [&](auto&& self, int level, const Place& place, std::size_t front) -> void {
    if (level == depth) {
      if (fronts.size() <= front) fronts.resize(front + 1);
      fronts[front].push_back(place);
      return;
    }
    const Intervals& intervals = filling.nest.intervals(level, place.node);
    worker.for_each_child(level, place,
                          [&](int q, const Place& child) { self(self, level + 1, child, front + intervals.rank(q)); });
  };
  descend(descend, 0, worker.root(), 0);
  return fronts;
}

void fill(const Filling& filling, Control& control) {
  const int n_threads = filling.nest.bytes() < (1U << 20) ? 1 : std::max(1, control.n_threads);
  if (n_threads == 1 && filling.nest.bytes() < (1U << 18)) {
    Worker worker(filling);
    worker.fill(0, worker.root());
    return;
  }
  int depth = std::min(3, std::max(0, filling.nest.n_loops() - 1));
  while (depth > 1 && filling.nest.loop(depth).nodes.size() > kMostTasks) --depth;
  const std::vector<std::vector<Place>> fronts = make_fronts(filling, depth);
  std::vector<std::size_t> sizes;
  for (const std::vector<Place>& front : fronts) sizes.push_back(front.size());
  const auto check = [&](double fraction) {
    control.check("interval-dp", -1, -1,
                  static_cast<std::int64_t>(fraction * static_cast<double>(filling.nest.n_rows())), fraction);
  };
  do_fronts(sizes, n_threads, check, [&](std::function<void()> tick) {
    return [&, worker = Worker(filling, std::move(tick))](std::size_t front, std::size_t i) mutable {
      worker.fill(depth, fronts[front][i]);
    };
  });
}

}  // namespace

IntervalTable::IntervalTable(const Grid& grid, const GridParts& parts, Measure measure, std::size_t element_bytes,
                             Control& control, Simd simd)
    : nest_(choose_nest(CellView(grid), parts, element_bytes, 0, control)) {
  allocate(control);
  const Filling filling(grid, nest_, memory_.get(), measure, simd, control);
  fill(filling, control);
}

IntervalTable::IntervalTable(const ScoreGrid& grid, const ScoreRanks& ranks, const GridParts& parts, Measure measure,
                             std::size_t element_bytes, Control& control, Simd simd)
    : nest_(
          choose_nest(CellView(grid), parts, std::max(element_bytes, ranks.rank_bytes()), ranks.n_planes(), control)) {
  allocate(control);
  const Filling filling(grid, ranks, nest_, memory_.get(), measure, simd, control);
  fill(filling, control);
}

void IntervalTable::allocate(const Control& control) {
  const double expected = static_cast<double>(bytes()) / kBytesPerSecond / control.n_threads;
  if (control.patience > 0 && expected > control.patience) throw LimitReached("time");
  memory_ = allocate_table(nest_.n_rows() * nest_.row_bytes());
}

std::vector<std::uint32_t> IntervalTable::all_values(const GridAxes& grid) const {
  std::vector<std::uint32_t> values;
  Box box(grid.n_axes());
  auto descend = [&](auto&& self, int axis) -> void {
    if (axis == grid.n_axes()) {
      values.push_back((*this)[box]);
      return;
    }
    const int n_slabs = grid.axes[axis].n_slabs();
    for (int length = 1; length <= n_slabs; ++length)
      for (int lo = 0; lo + length <= n_slabs; ++lo) {
        box[axis] = {lo, lo + length - 1};
        self(self, axis + 1);
      }
  };
  descend(descend, 0);
  return values;
}

}  // namespace onetree
