#include "table/interval_nest.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "grid/function.hpp"

namespace onetree {

namespace {

constexpr int kMaxReducedSlabs = 32;              // bits of a mask, and the last slab needs none
constexpr double kManyBoxes = 1e6;                // from here on a second order is worth a try
constexpr std::size_t kLargeTable = 100'000'000;  // bytes; from here on short rows are worth a try
constexpr int kShortRow = 3;                      // groups
constexpr double kShortRowCost = 1.5;             // of a byte of short rows, in bytes of long ones: 1.0 to 1.5 measured
constexpr int kMaxTabledSlabs = 9;                // pairs of masks up to here are found by index
constexpr std::ptrdiff_t kCellsBetweenChecks = 1 << 20;
constexpr std::size_t kChildrenBetweenChecks = 1 << 18;
constexpr std::size_t kListOverhead = 64;    // of a list: its place in a map, and what the allocator adds
constexpr double kMostIntervalBytes = 1e10;  // splits are numbered with 31 bits

// Axes without an order count as too long for a row.
std::vector<int> slabs_of(const GridAxes& grid, const GridParts& parts) {
  std::vector<int> slabs;
  for (int axis = 0; axis < grid.n_axes(); ++axis)
    slabs.push_back(parts.sets(axis) != nullptr ? 1 << 14 : grid.axes[axis].n_slabs());
  return slabs;
}

// Orders the axes by the number of boxes that are left when one axis alone is a loop.
std::vector<int> order_by_reach(const CellView& cells, Control& control) {
  const GridAxes& grid = cells.grid;
  Shapes none;
  // It is only about a ranking: sets of values are taken as intervals of them, and of admissions the last byte.
  Function function;
  function.classes.assign(cells.classes.begin(), cells.classes.end());
  for (const std::uint32_t admission : cells.admissions) function.classes.push_back(static_cast<CellClass>(admission));
  for (const Axis& axis : grid.axes) function.size.push_back(axis.n_slabs());
  const Profile profile(function, none, [&] { control.check("interval-dp", -1, -1, 0); });
  const int n = grid.n_axes();
  std::vector<std::pair<double, int>> ranked;
  for (int first = 0; first < n; ++first) {
    double boxes = 0;
    for (int lo = 0; lo < grid.axes[first].n_slabs(); ++lo)
      for (int hi = lo; hi < grid.axes[first].n_slabs(); ++hi) {
        double product = 1;
        for (int axis = 0; axis < n; ++axis) {
          if (axis == first) continue;
          int slabs = 1;
          for (int h = 0; h + 1 < grid.axes[axis].n_slabs(); ++h) {
            const Profile::Range& range = profile.range(axis, h, first);
            slabs += range.first <= hi && range.last >= lo;
          }
          product *= count_intervals(slabs);
        }
        boxes += product;
      }
    ranked.emplace_back(boxes, first);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<int> order;
  for (const auto& [boxes, axis] : ranked) order.push_back(axis);
  return order;
}

// Keeps the best of the nests that it tries. One that does not fit in memory is none.
class NestChoice {
 public:
  NestChoice(const CellView& cells, const GridParts& parts, std::size_t element_bytes, int n_planes, Control& control)
      : cells_(cells), parts_(parts), element_bytes_(element_bytes), n_planes_(n_planes), control_(control) {}

  void consider(const std::vector<int>& order, int most_groups) {
    const std::size_t whole_limit = control_.memory_limit;
    if (best_) control_.memory_limit -= std::min(whole_limit, best_->bytes_of_nodes());  // both are held for a while
    try {
      IntervalNest nest(cells_, parts_, order, element_bytes_, n_planes_, most_groups, control_);
      control_.memory_limit = whole_limit;
      const double cost = static_cast<double>(nest.bytes()) * (most_groups == kShortRow ? kShortRowCost : 1.0);
      if (best_ && cost >= cost_) return;
      best_ = std::move(nest);
      order_ = order;
      cost_ = cost;
    } catch (const LimitReached&) {
      control_.memory_limit = whole_limit;
      if (control_.time_is_up()) throw;
    }
  }

  bool fits() const { return best_.has_value(); }
  std::size_t bytes() const { return best_->bytes(); }
  const std::vector<int>& order() const { return order_; }
  IntervalNest take() {
    if (!best_) throw LimitReached("memory");
    return *std::move(best_);
  }

 private:
  const CellView& cells_;
  const GridParts& parts_;
  std::size_t element_bytes_;
  int n_planes_;
  Control& control_;
  std::optional<IntervalNest> best_;
  std::vector<int> order_;
  double cost_ = 0;
};

}  // namespace

IntervalNest choose_nest(const CellView& cells, const GridParts& parts, std::size_t element_bytes, int n_planes,
                         Control& control) {
  const GridAxes& grid = cells.grid;
  const auto sets_first = [&](std::vector<int> axes) {
    std::stable_partition(axes.begin(), axes.end(), [&](int axis) { return parts.sets(axis) != nullptr; });
    return axes;
  };
  std::vector<int> own(grid.n_axes());
  std::iota(own.begin(), own.end(), 0);
  own = sets_first(own);
  constexpr int kLong = RowShape::kEnoughGroups;
  if (count_boxes(grid) < kManyBoxes) return IntervalNest(cells, parts, own, element_bytes, n_planes, kLong, control);
  NestChoice choice(cells, parts, element_bytes, n_planes, control);
  choice.consider(own, kLong);
  const std::vector<int> by_reach = sets_first(order_by_reach(cells, control));
  choice.consider(by_reach, kLong);
  if (!choice.fits() || choice.bytes() >= kLargeTable)
    for (const std::vector<int>& order : {own, by_reach})
      if (!choice.fits() || order == choice.order()) choice.consider(order, kShortRow);
  return choice.take();
}

double count_boxes(const GridAxes& grid) {
  double boxes = 1;
  for (const Axis& axis : grid.axes) boxes *= axis.n_slabs() * (axis.n_slabs() + 1.0) / 2;
  return boxes;
}

IntervalNest::IntervalNest(const CellView& cells, const GridParts& parts, const std::vector<int>& order,
                           std::size_t element_bytes, int n_planes, int most_groups, Control& control)
    : row_(slabs_of(cells.grid, parts), order, element_bytes, most_groups), n_planes_(n_planes) {
  make_loops(cells.grid, parts, order, control);
  build(cells, control);
}

// Of the axes that do not share the row; they keep their order.
void IntervalNest::make_loops(const GridAxes& grid, const GridParts& parts, const std::vector<int>& order,
                              Control& control) {
  const std::vector<int>& row_axes = row_.axes();
  level_of_axis_.resize(grid.n_axes());
  for (const int axis : order) {
    const auto in_row = std::find(row_axes.begin(), row_axes.end(), axis) - row_axes.begin();
    const bool is_loop = in_row == static_cast<std::ptrdiff_t>(row_axes.size());
    level_of_axis_[axis] = is_loop ? n_loops() : -1 - static_cast<int>(in_row);
    if (!is_loop) continue;
    const int slabs = grid.axes[axis].n_slabs();
    const GridParts::Sets* sets = parts.sets(axis);
    loops_.push_back({axis, slabs, sets == nullptr && slabs <= kMaxReducedSlabs, sets, {}});
    if (sets != nullptr) continue;
    if (static_cast<int>(intervals_.size()) <= slabs) intervals_.resize(slabs + 1);
    for (int size = loops_.back().reduces ? 1 : slabs; size <= slabs; ++size) {
      if (intervals_[size]) continue;
      const double bytes = Intervals::bytes_for(size);
      if (bytes > kMostIntervalBytes || bytes_of_intervals_ + bytes > static_cast<double>(control.memory_limit))
        throw LimitReached("memory");
      bytes_of_intervals_ += bytes;
      intervals_[size] = std::make_unique<Intervals>(size, [&] { control.check("interval-dp", -1, -1, 0); });
    }
  }
}

// Per loop, for one slab on each loop before it: the hyperplanes across which cells differ somewhere.
template <typename Cell>
std::vector<std::vector<IntervalNest::Mask>> IntervalNest::single_masks(const GridAxes& grid,
                                                                        std::span<const Cell> own_cells,
                                                                        Control& control) const {
  std::vector<std::vector<Mask>> masks(loops_.size());
  std::size_t n_before = 1;
  for (std::size_t level = 0; level < loops_.size(); ++level) {
    masks[level].assign(n_before, 0);
    n_before *= loops_[level].n_slabs;
  }
  // The cells with the loops' axes outermost, in their order: what follows a slab is then one run of memory.
  std::vector<int> order;
  for (const Loop& loop : loops_) order.push_back(loop.axis);
  order.insert(order.end(), row_.axes().begin(), row_.axes().end());
  const std::vector<Cell> cells = reordered_cells(grid, own_cells, order);
  std::size_t below = cells.size();
  for (std::size_t level = 0; level < loops_.size(); ++level) {
    const Loop& loop = loops_[level];
    below /= loop.n_slabs;
    const Cell *here = cells.data(), *next_check = here;
    if (loop.reduces)
      for (Mask& mask : masks[level]) {
        if (here >= next_check) {
          control.check("interval-dp", -1, -1, 0);
          next_check = here + kCellsBetweenChecks;
        }
        for (int h = 0; h + 1 < loop.n_slabs; ++h, here += below)
          if (std::memcmp(here, here + below, below * sizeof(Cell)) != 0) mask |= Mask{1} << h;
        here += below;
      }
  }
  return masks;
}

void IntervalNest::build(const CellView& cells, Control& control) {
  if (loops_.empty()) return;
  const std::vector<std::vector<Mask>> singles = cells.admissions.empty()
                                                     ? single_masks(cells.grid, cells.classes, control)
                                                     : single_masks(cells.grid, cells.admissions, control);
  // A node is the union of two others, its witnesses, so its mask is the union of theirs. Nodes of one slab per loop
  // have none (right is kNoWitness, left numbers the cell): the cells tell.
  constexpr std::uint32_t kNoWitness = ~std::uint32_t{0};
  struct Witness {
    std::uint32_t left, right;
  };
  std::vector<Witness> witnesses{{0, kNoWitness}}, next_witnesses;
  loops_[0].nodes.push_back({singles[0][0], 0});
  std::vector<int> slabs(1);
  double total = bytes_of_intervals_;  // bytes that stay until the end
  for (const std::vector<Mask>& masks : singles) total += static_cast<double>(masks.size()) * sizeof(Mask);
  for (int level = 0; level < n_loops(); ++level) {
    Loop& here = loops_[level];
    const bool last = level + 1 == n_loops();
    slabs.resize(here.n_slabs);
    // Counted first, so that nothing is allocated that does not fit, and nothing twice.
    const std::size_t n_planes = last ? static_cast<std::size_t>(n_planes_) : 0;  // per slab
    std::size_t n_children = 0;
    for (const Node& node : here.nodes) n_children += intervals(level, node).size() + n_planes * n_slabs(level, node);
    if (n_children > 0xFFFFFFFFU) throw LimitReached("memory");
    total += static_cast<double>(here.nodes.size()) * sizeof(Node);
    const double kept = total + static_cast<double>(witnesses.size()) * sizeof(Witness);
    if (kept + static_cast<double>(n_children) * (last ? row_bytes() : sizeof(Node) + sizeof(Witness)) >
        static_cast<double>(control.memory_limit))
      throw LimitReached("memory");
    next_witnesses.clear();
    if (!last) {
      next_witnesses.reserve(n_children);
      loops_[level + 1].nodes.reserve(n_children);
    }
    n_rows_ = n_children;
    n_children = 0;
    std::size_t next_check = 0;
    for (std::size_t id = 0; id < here.nodes.size(); ++id) {
      Node& node = here.nodes[id];
      const Intervals& all = intervals(level, node);
      n_children += n_planes * n_slabs(level, node);
      node.first_child = static_cast<std::uint32_t>(n_children);
      n_children += all.size();
      if (n_children >= next_check) {
        control.check("interval-dp", -1, -1, static_cast<std::int64_t>(n_children));
        next_check = n_children + kChildrenBetweenChecks;
      }
      if (last) continue;
      std::vector<Node>& children = loops_[level + 1].nodes;
      const Witness witness = witnesses[id];
      if (here.sets == nullptr) grid_slabs(level, node, slabs.data());
      for (int q = 0; q < all.size(); ++q) {
        const int slab = here.sets != nullptr ? here.sets->family.least(q) : slabs[all[q].lo];
        Witness found;
        if (all.n_splits(q) > 0) {
          found = {node.first_child + all.splits(q)->left, node.first_child + all.splits(q)->right};
        } else if (witness.right == kNoWitness) {
          found = {witness.left * static_cast<std::uint32_t>(here.n_slabs) + slab, kNoWitness};
        } else if (here.sets != nullptr) {
          found = {here.nodes[witness.left].first_child + q, here.nodes[witness.right].first_child + q};
        } else {
          const Node &left = here.nodes[witness.left], &right = here.nodes[witness.right];
          const int in_left = slab_of(level, left, slab), in_right = slab_of(level, right, slab);
          found = {left.first_child + static_cast<std::uint32_t>(in_left),
                   right.first_child + static_cast<std::uint32_t>(in_right)};
        }
        const Mask mask = found.right == kNoWitness ? singles[level + 1][found.left]
                                                    : children[found.left].mask | children[found.right].mask;
        children.push_back({mask, 0});
        next_witnesses.push_back(found);
      }
    }
    witnesses = std::exchange(next_witnesses, {});
  }
}

std::size_t IntervalNest::bytes() const {
  return n_rows_ * row_bytes() + bytes_of_nodes();
}

std::size_t IntervalNest::bytes_of_nodes() const {
  std::size_t total = static_cast<std::size_t>(bytes_of_intervals_);
  for (const Loop& loop : loops_) total += loop.nodes.size() * sizeof(Node);
  return total;
}

void IntervalNest::grid_slabs(int level, const Node& node, int* slabs) const {
  const Loop& loop = loops_[level];
  if (!loop.reduces) {
    for (int slab = 0; slab < loop.n_slabs; ++slab) slabs[slab] = slab;
    return;
  }
  int n = 0;
  for (Mask rest = node.mask; rest != 0; rest &= rest - 1) slabs[n++] = std::countr_zero(rest);
  slabs[n] = loop.n_slabs - 1;
}

IntervalNest::Trace IntervalNest::trace(const Box& box) const {
  Trace trace;
  std::size_t index = 0;
  for (int level = 0; level < n_loops(); ++level) {
    trace.node[level] = static_cast<std::uint32_t>(index);
    index = child_of(level, index, box[loops_[level].axis]);
  }
  trace.row = index;
  trace.box = 0;
  for (std::size_t i = 0; i < row_.axes().size(); ++i) {
    const auto [lo, hi] = box[row_.axes()[i]];
    trace.box += row_.share(static_cast<int>(i), lo, hi);
  }
  trace.offset = index * row_bytes() + row_.place(trace.box);
  return trace;
}

std::size_t IntervalNest::offset(const Box& box, const Trace& trace, int axis, const Interval& interval) const {
  const int at = level_of_axis_[axis];
  if (at < 0) {
    const int i = -1 - at;
    const int moved = row_.share(i, interval.lo, interval.hi) - row_.share(i, box[axis].lo, box[axis].hi);
    return trace.row * row_bytes() + row_.place(trace.box + moved);
  }
  std::size_t index = child_of(at, trace.node[at], interval);
  for (int level = at + 1; level < n_loops(); ++level) index = child_of(level, index, box[loops_[level].axis]);
  return index * row_bytes() + row_.place(trace.box);
}

IntervalLists::IntervalLists(const IntervalNest& nest)
    : nest_(nest), tabled_(nest.n_loops()), scattered_(nest.n_loops()) {
  for (int level = 0; level < nest.n_loops(); ++level) {
    const IntervalNest::Loop& loop = nest.loop(level);
    if (loop.reduces && loop.n_slabs <= kMaxTabledSlabs)
      tabled_[level].resize(std::size_t{1} << (2 * (loop.n_slabs - 1)), nullptr);
  }
}

void IntervalLists::clear() {
  for (std::vector<const std::uint32_t*>& lists : tabled_) std::fill(lists.begin(), lists.end(), nullptr);
  for (auto& lists : scattered_) lists.clear();
  storage_.clear();
  bytes_ = 0;
}

const std::uint32_t* IntervalLists::make_list(const OfNode& of_node, IntervalNest::Mask fewer) {
  const int level = of_node.level;
  const std::uint32_t** place = of_node.by_mask != nullptr ? &of_node.by_mask[fewer] : nullptr;
  if (place == nullptr) {
    place = &scattered_[level][static_cast<std::uint64_t>(of_node.mask) << 32 | fewer];
    if (*place != nullptr) return *place;
  }
  const IntervalNest::Node node{of_node.mask, 0}, other{fewer, 0};
  const Intervals& all = nest_.intervals(level, node);
  auto list = std::make_unique<std::uint32_t[]>(all.size());
  std::vector<int> slabs(nest_.loop(level).n_slabs);
  nest_.grid_slabs(level, node, slabs.data());
  const int n_other = nest_.n_slabs(level, other);
  const bool has_sets = nest_.loop(level).sets != nullptr;  // nothing is dropped there
  if (has_sets) std::iota(list.get(), list.get() + all.size(), 0U);
  for (int q = 0; q < all.size() && !has_sets; ++q) {
    const int lo = nest_.slab_of(level, other, slabs[all[q].lo]), hi = nest_.slab_of(level, other, slabs[all[q].hi]);
    list[q] = static_cast<std::uint32_t>(interval_index(n_other, lo, hi));
  }
  *place = list.get();
  storage_.push_back(std::move(list));
  bytes_ += static_cast<std::size_t>(all.size()) * sizeof(std::uint32_t) + kListOverhead;
  return *place;
}

}  // namespace onetree
