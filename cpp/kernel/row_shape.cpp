#include "kernel/row_shape.hpp"

#include <algorithm>
#include <numeric>

#include "kernel/intervals.hpp"
#include "kernel/kernel.hpp"

namespace onetree {

namespace {

constexpr std::size_t kMostGroupAxes = 2, kMostNumberingAxes = 3;
static_assert(RowShape::kEnoughGroups <= kMostGroups);

// Calls `visit(chosen, product)` for every set of axes, the last of the order first, whose combinations of intervals
// are no more than `most`.
template <typename Visit>
void for_each_set(const std::vector<int>& slabs, const std::vector<int>& order, std::size_t most_axes, int most,
                  const Visit& visit) {
  std::vector<int> chosen;
  auto extend = [&](auto&& self, int from, int product) -> void {
    if (!chosen.empty()) visit(chosen, product);
    if (chosen.size() == most_axes) return;
    for (int i = from; i >= 0; --i) {
      if (slabs[order[i]] > most || product * count_intervals(slabs[order[i]]) > most) continue;
      chosen.push_back(order[i]);
      self(self, i - 1, product * count_intervals(slabs[order[i]]));
      chosen.pop_back();
    }
  };
  extend(extend, static_cast<int>(order.size()) - 1, 1);
}

}  // namespace

RowShape::RowShape(const std::vector<int>& slabs, const std::vector<int>& order, std::size_t element_bytes,
                   int most_groups)
    : element_bytes_(element_bytes), bytes_(element_bytes) {
  choose(slabs, order, most_groups);
  lay_out(slabs);
}

void RowShape::choose(const std::vector<int>& slabs, const std::vector<int>& order, int most_groups) {
  const int lanes = static_cast<int>(kGroupBytes / element_bytes_);
  int fill = 0;
  std::vector<int> group;
  for_each_set(slabs, order, kMostGroupAxes, lanes, [&](const std::vector<int>& chosen, int product) {
    if (product <= fill) return;
    fill = product;
    group = chosen;
  });
  // A row mostly empty wastes memory and time: one value a row is better then.
  if (group.empty() || (3 * fill < lanes && order.size() > group.size())) return;
  std::vector<int> rest;
  for (const int axis : order)
    if (std::find(group.begin(), group.end(), axis) == group.end()) rest.push_back(axis);
  int n_groups = 1;
  for_each_set(slabs, rest, kMostNumberingAxes, most_groups, [&](const std::vector<int>& chosen, int product) {
    if (product <= n_groups) return;
    n_groups = product;
    axes_ = chosen;
  });
  for (const int axis : group) group_slabs_.push_back(slabs[axis]);
  axes_.insert(axes_.end(), group.begin(), group.end());
}

void RowShape::lay_out(const std::vector<int>& slabs) {
  int n_boxes = 1;
  stride_.resize(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    stride_[i] = n_boxes;
    n_boxes *= count_intervals(slabs[axes_[i]]);
  }
  for (const int axis : axes_) slabs_.push_back(slabs[axis]);
  for (int box = 0; box < n_boxes; ++box)
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      int lo = box / stride_[i] % count_intervals(slabs_[i]), length = 1;
      for (; lo > slabs_[i] - length; ++length) lo -= slabs_[i] - length + 1;
      intervals_.push_back({lo, lo + length - 1});
    }
  const std::size_t n_numbering = axes_.size() - group_slabs_.size();
  const int in_group = n_numbering == 0 ? n_boxes : stride_[n_numbering - 1];
  const int n_groups = n_boxes / in_group;
  if (has_axes()) bytes_ = n_groups * kGroupBytes;
  std::vector<int> order(n_groups), n_splits(n_groups, 0), rank(n_groups);
  std::iota(order.begin(), order.end(), 0);
  for (int group = 0; group < n_groups; ++group)
    for (std::size_t i = 0; i < n_numbering; ++i) n_splits[group] += intervals(group * in_group)[i].length() - 1;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return n_splits[a] < n_splits[b]; });
  for (int at = 0; at < n_groups; ++at) {
    rank[order[at]] = at;
    splits_of_group_.push_back(n_splits[order[at]]);
  }
  for (int box = 0; box < n_boxes; ++box)
    place_.push_back(static_cast<std::uint16_t>(rank[box / in_group] * kGroupBytes + box % in_group * element_bytes_));
}

}  // namespace onetree
