#include "kernel/row_plan.hpp"

#include <algorithm>
#include <cassert>

namespace onetree {

namespace {

// The boxes that a split of a box leaves: the k-th of all, axis by axis.
struct Sides {
  int left, right;
};
Sides sides_of(const RowShape& shape, int box, int k) {
  std::size_t i = 0;
  const Interval* intervals = shape.intervals(box);
  for (; k >= intervals[i].length() - 1; ++i) k -= intervals[i].length() - 1;
  const auto [lo, hi] = intervals[i];
  const int others = box - shape.share(static_cast<int>(i), lo, hi);
  return {others + shape.share(static_cast<int>(i), lo, lo + k),
          others + shape.share(static_cast<int>(i), lo + k + 1, hi)};
}

void set_lane(GroupMask& mask, std::size_t place, std::size_t width, std::size_t from) {
  for (std::size_t byte = 0; byte < kVectorBytes; byte += kGroupBytes)
    for (std::size_t i = 0; i < width; ++i) mask.bytes[byte + place + i] = static_cast<std::uint8_t>(from + i);
}

void mark_lane(GroupMask& mask, std::size_t place, std::size_t width) {
  for (std::size_t byte = 0; byte < kVectorBytes; byte += kGroupBytes)
    for (std::size_t i = 0; i < width; ++i) mask.bytes[byte + place + i] = 0xFF;
}

GroupMask each_itself() {
  GroupMask mask;
  for (std::size_t byte = 0; byte < kVectorBytes; ++byte)
    mask.bytes[byte] = static_cast<std::uint8_t>(byte % kGroupBytes);
  return mask;
}

// `shape`: of a row of one group.
GroupPlan plan_group(const RowShape& shape) {
  GroupPlan plan{};
  const std::size_t width = shape.element_bytes();
  const int n_lanes = static_cast<int>(kGroupBytes / width);
  std::vector<std::vector<int>> boxes_of_level;
  for (int box = 0; box < shape.n_boxes(); ++box) {
    int n_splits = 0;
    for (std::size_t i = 0; i < shape.axes().size(); ++i) n_splits += shape.intervals(box)[i].length() - 1;
    if (n_splits == 0) mark_lane(plan.singles, shape.place(box), width);
    boxes_of_level.resize(std::max<std::size_t>(boxes_of_level.size(), n_splits + 1));
    boxes_of_level[n_splits].push_back(box);
  }
  plan.n_levels = static_cast<int>(boxes_of_level.size()) - 1;
  assert(plan.n_levels <= GroupPlan::kMostLevels);
  for (int n_splits = 1; n_splits <= plan.n_levels; ++n_splits) {
    GroupLevel& level = plan.levels[n_splits - 1];
    const std::vector<int>& boxes = boxes_of_level[n_splits];
    level.left = level.right = each_itself();
    std::vector<bool> is_taken(n_lanes, false);
    for (const int box : boxes) is_taken[shape.place(box) / width] = true;
    for (GroupMask& fold : level.folds) fold = each_itself();
    for (const int box : boxes) {
      mark_lane(level.lanes, shape.place(box), width);
      std::vector<std::size_t> slots{shape.place(box)};  // one for each split; the first is the box's own place
      for (int k = 0; k < n_splits; ++k) {
        if (k > 0) {
          const auto free = std::find(is_taken.begin(), is_taken.end(), false);
          assert(free != is_taken.end());
          *free = true;
          slots.push_back(static_cast<std::size_t>(free - is_taken.begin()) * width);
        }
        const auto [left, right] = sides_of(shape, box, k);
        set_lane(level.left, slots[k], width, shape.place(left));
        set_lane(level.right, slots[k], width, shape.place(right));
      }
      for (int fold = 0; 1 << fold < n_splits; ++fold)
        for (int k = 0, step = 1 << fold; k + step < n_splits; k += 2 * step)
          set_lane(level.folds[fold], slots[k], width, slots[k + step]);
    }
  }
  return plan;
}

// There are few kinds of groups, and tables of a heuristic run come by the thousand: each kind is planned once.
const GroupPlan& group_plan(const std::vector<int>& slabs, std::size_t element_bytes) {
  struct Kind {
    std::size_t element_bytes;
    std::vector<int> slabs;
    GroupPlan plan;
  };
  static const std::vector<Kind> kinds = [] {
    std::vector<Kind> all;
    for (const std::size_t width : {1, 2, 4})
      for (const std::vector<int>& each : {std::vector{2}, {3}, {4}, {5}, {2, 2}}) {
        int n_lanes = 1;
        std::vector<int> axes;
        for (const int n : each) {
          n_lanes *= count_intervals(n);
          axes.push_back(static_cast<int>(axes.size()));
        }
        if (n_lanes * width <= kGroupBytes) all.push_back({width, each, plan_group(RowShape(each, axes, width))});
      }
    return all;
  }();
  return std::find_if(kinds.begin(), kinds.end(),
                      [&](const Kind& kind) { return kind.element_bytes == element_bytes && kind.slabs == slabs; })
      ->plan;
}

}  // namespace

RowPlanner::RowPlanner(const RowShape& shape, int groups_at_once) : row_bytes_(shape.bytes()) {
  if (!shape.has_axes()) return;
  group_ = &group_plan(shape.group_slabs(), shape.element_bytes());
  std::vector<int> box_of_group(shape.n_groups());  // any of its boxes does
  for (int box = 0; box < shape.n_boxes(); ++box) box_of_group[shape.place(box) / kGroupBytes] = box;
  const auto start_of = [&](int box) {
    return static_cast<std::uint16_t>(shape.place(box) / kGroupBytes * kGroupBytes);
  };
  for (int group = 0; group < shape.n_groups();) {
    const int n_splits = shape.n_splits(group);
    int n = 1;
    while (n < groups_at_once && group + 2 * n <= shape.n_groups() && shape.n_splits(group + 2 * n - 1) == n_splits)
      n *= 2;
    chunks_.push_back({static_cast<std::uint16_t>(group * kGroupBytes), static_cast<std::uint8_t>(n),
                       static_cast<std::uint8_t>(n_splits), static_cast<std::uint32_t>(splits_.size())});
    for (int k = 0; k < n_splits; ++k)
      for (int i = 0; i < n; ++i) {
        const auto [left, right] = sides_of(shape, box_of_group[group + i], k);
        splits_.push_back({start_of(left), start_of(right)});
      }
    group += n;
  }
}

}  // namespace onetree
