#include "table/set_boxes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace onetree {

namespace {

// A row should fill a few vector registers; the splits inside it are listed one by one.
constexpr std::size_t kWideRow = 64, kLongRow = 4096;
constexpr std::size_t kMostRuns = 20'000;  // unless the first axis alone has more sets

}  // namespace

SetBoxes::SetBoxes(const GridAxes& grid, Control& control)
    : order_(grid.n_axes()), stride_(grid.n_axes()), cell_stride_(grid.n_axes()) {
  std::vector<double> splits_per_set;
  for (const Axis& axis : grid.axes) {
    const SetFamily& family = families_.emplace_back(tests_of(axis), control);
    splits_per_set.push_back(static_cast<double>(family.n_splits()) / family.size());
    count_ *= family.size();
  }
  for (const double splits : splits_per_set) n_joins_ += splits * count_;
  // Few splits along the axes of a row: those are the ones that are not filled many boxes at a time.
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return splits_per_set[a] > splits_per_set[b]; });
  std::size_t cell_step = 1, step = 1;
  for (int axis = grid.n_axes(); axis-- > 0; cell_step *= grid.axes[axis].n_slabs()) cell_stride_[axis] = cell_step;
  n_outer_ = order_.size();
  while (n_outer_ > 0) {
    const std::size_t longer = row_size_ * families_[order_[n_outer_ - 1]].size();
    if (row_size_ >= kWideRow || (row_size_ > 1 && longer > kLongRow)) break;
    row_size_ = longer;
    --n_outer_;
  }
  // Wraps around where there are far too many boxes for any table.
  for (std::size_t place = order_.size(); place-- > 0; step *= families_[order_[place]].size())
    stride_[order_[place]] = step;
  lay_out_row(n_outer_);
}

void SetBoxes::lay_out_row(std::size_t n_outer) {
  SetBox sets(order_.size(), 0);
  for (std::uint32_t box = 0; box < row_size_; ++box) {
    std::size_t cell = 0;
    Inner inner{box, static_cast<std::uint32_t>(inner_joins_.size()), 0, 0, 0};
    for (std::size_t place = n_outer; place < order_.size(); ++place)
      cell += families_[order_[place]].least(sets[place]) * cell_stride_[order_[place]];
    for (std::size_t place = n_outer; place < order_.size(); ++place) {
      const int axis = order_[place];
      const SetFamily& family = families_[axis];
      const std::size_t others = box - sets[place] * stride_[axis];
      for (const SetSplit& split : family.splits(sets[place])) {
        if (inner_joins_.size() == inner.first_join) {
          const std::size_t other_cells = cell - family.least(sets[place]) * cell_stride_[axis];
          inner.inside_cell = other_cells + family.least(split.inside) * cell_stride_[axis];
          inner.outside_cell = other_cells + family.least(split.outside) * cell_stride_[axis];
        }
        inner_joins_.push_back({others + split.inside * stride_[axis], others + split.outside * stride_[axis]});
      }
    }
    inner.last_join = static_cast<std::uint32_t>(inner_joins_.size());
    if (inner.last_join == inner.first_join)
      cells_.push_back({box, cell});
    else
      inner_.push_back(inner);
    for (std::size_t place = order_.size(); place-- > n_outer; sets[place] = 0)
      if (++sets[place] < families_[order_[place]].size()) break;
  }
}

std::size_t SetBoxes::bytes() const {
  std::size_t bytes =
      cells_.capacity() * sizeof(Cell) + inner_.capacity() * sizeof(Inner) + inner_joins_.capacity() * sizeof(Join);
  for (const SetFamily& family : families_) bytes += family.bytes();
  return bytes;
}

SetBox SetBoxes::whole() const {
  SetBox box;
  for (const SetFamily& family : families_) box.push_back(family.size() - 1);
  return box;
}

std::size_t SetBoxes::number(const SetBox& box) const {
  std::size_t number = 0;
  for (int axis = 0; axis < n_axes(); ++axis) number += box[axis] * stride_[axis];
  return number;
}

std::size_t SetBoxes::least_cell(const SetBox& box) const {
  std::size_t cell = 0;
  for (int axis = 0; axis < n_axes(); ++axis) cell += families_[axis].least(box[axis]) * cell_stride_[axis];
  return cell;
}

SetBoxes::Runs SetBoxes::runs() const {
  Runs runs;
  std::size_t n_runs = 1, n_axes = 0;  // the runs are the combinations of sets on the first axes
  for (; n_axes < n_outer_; ++n_axes) {
    const std::size_t more = n_runs * families_[order_[n_axes]].size();
    if (n_axes > 0 && more > kMostRuns) break;
    n_runs = more;
  }
  for (std::size_t place = n_axes; place < n_outer_; ++place) runs.n_rows *= families_[order_[place]].size();
  std::vector<std::uint32_t> front_of_run{0};
  for (std::size_t place = 0; place < n_axes; ++place) {
    const SetFamily& family = families_[order_[place]];
    std::vector<std::uint32_t> rank(family.size(), 0), longer;
    for (int set = 0; set < family.size(); ++set)
      for (const SetSplit& split : family.splits(set))
        rank[set] = std::max(rank[set], 1 + std::max(rank[split.inside], rank[split.outside]));
    for (const std::uint32_t front : front_of_run)
      for (const std::uint32_t own : rank) longer.push_back(front + own);
    front_of_run = std::move(longer);
  }
  for (std::size_t run = 0; run < n_runs; ++run) {
    if (front_of_run[run] >= runs.fronts.size()) runs.fronts.resize(front_of_run[run] + 1);
    runs.fronts[front_of_run[run]].push_back(run * runs.n_rows);
  }
  return runs;
}

SetBoxes::Rows::Rows(const SetBoxes& boxes, std::size_t first_row, std::size_t n_rows)
    : boxes_(boxes), sets_(boxes.n_outer_), first_box_(first_row * boxes.row_size_), n_left_(n_rows) {
  for (std::size_t place = sets_.size(); place-- > 0;) {
    const auto n_sets = static_cast<std::size_t>(boxes.families_[boxes.order_[place]].size());
    sets_[place] = static_cast<int>(first_row % n_sets);
    first_row /= n_sets;
  }
  if (n_rows > 0) look();
}

void SetBoxes::Rows::advance() {
  first_box_ += boxes_.row_size_;
  std::size_t place = sets_.size();
  while (place > 0 && ++sets_[place - 1] == boxes_.families_[boxes_.order_[place - 1]].size()) sets_[--place] = 0;
  if (--n_left_ > 0) look();
}

void SetBoxes::Rows::look() {
  joins_.clear();
  least_ = 0;
  for (std::size_t place = 0; place < sets_.size(); ++place) {
    const int axis = boxes_.order_[place];
    least_ += boxes_.families_[axis].least(sets_[place]) * boxes_.cell_stride_[axis];
  }
  for (std::size_t place = 0; place < sets_.size(); ++place) {
    const int axis = boxes_.order_[place];
    const SetFamily& family = boxes_.families_[axis];
    const std::size_t stride = boxes_.stride_[axis], cell_stride = boxes_.cell_stride_[axis];
    const std::size_t others = first_box_ - sets_[place] * stride;
    for (const SetSplit& split : family.splits(sets_[place])) {
      if (joins_.empty()) {
        const std::size_t other_cells = least_ - family.least(sets_[place]) * cell_stride;
        least_inside_ = other_cells + family.least(split.inside) * cell_stride;
        least_outside_ = other_cells + family.least(split.outside) * cell_stride;
      }
      joins_.push_back({others + split.inside * stride, others + split.outside * stride});
    }
  }
}

}  // namespace onetree
