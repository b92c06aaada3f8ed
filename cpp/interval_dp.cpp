#include "interval_dp.hpp"

#include <algorithm>

namespace onetree {

namespace {

constexpr std::int64_t kNone = std::int64_t{1} << 40;  // no tree of that depth

std::size_t leaves_width(std::int64_t max_splits) {
  return max_splits < 255 ? 1 : max_splits < 65535 ? 2 : 4;
}

std::size_t packed_width(std::int64_t max_splits) {
  return max_splits < (std::int64_t{1} << (16 - PackedBits<std::uint16_t>::kDepthBits)) - 1 ? 2 : 4;
}

Box whole(const Grid& grid) {
  Box box;
  for (const Axis& axis : grid.axes) box.push_back({0, axis.n_slabs() - 1});
  return box;
}

// Calls `visit` with the box cut down to each side in turn, then restores it.
template <typename Visit>
void with_sides(Box& box, int axis, int position, const Visit& visit) {
  const Interval kept = box[axis];
  box[axis] = {kept.lo, position};
  visit(box, true);
  box[axis] = {position + 1, kept.hi};
  visit(box, false);
  box[axis] = kept;
}

}  // namespace

IntervalDp::IntervalDp(const Grid& grid, std::int64_t max_splits, Control& control)
    : grid_(grid), max_splits_(max_splits), control_(control) {}

void IntervalDp::need_depth() {
  if (!depth_) {
    depth_ = std::make_unique<IntervalTable>(grid_, Measure::kDepth, 1, control_);
    if ((*depth_)[whole(grid_)] == depth_->saturated()) {
      depth_.reset();
      depth_ = std::make_unique<IntervalTable>(grid_, Measure::kDepth, 2, control_);
    }
  }
  peak_bytes_ = std::max(peak_bytes_, depth_->bytes());
}

void IntervalDp::need_leaves() {
  if (!leaves_) leaves_ = std::make_unique<IntervalTable>(grid_, Measure::kLeaves, leaves_width(max_splits_), control_);
  peak_bytes_ = std::max(peak_bytes_, leaves_->bytes());
}

void IntervalDp::need_leaves_depth(bool exact_depth) {
  if (!leaves_depth_)
    leaves_depth_ = std::make_unique<IntervalTable>(grid_, Measure::kLeavesDepth, packed_width(max_splits_), control_);
  if (exact_depth && !packed(leaves_depth_->offset(whole(grid_))).depth_known) {
    leaves_depth_.reset();
    leaves_depth_ = std::make_unique<IntervalTable>(grid_, Measure::kLeavesDepth, 4, control_);
  }
  peak_bytes_ = std::max(peak_bytes_, leaves_depth_->bytes() + (depth_ ? depth_->bytes() : 0));
}

IntervalDp::Packed IntervalDp::packed(std::size_t offset) const {
  const std::uint32_t word = leaves_depth_->at(offset);
  const int bits = leaves_depth_->element_bytes() == 2 ? PackedBits<std::uint16_t>::kDepthBits
                                                       : PackedBits<std::uint32_t>::kDepthBits;
  const std::uint32_t largest = (1U << bits) - 1;
  return {static_cast<std::int64_t>(word >> bits), static_cast<std::int64_t>(word & largest),
          (word & largest) != largest};
}

// Fewest splits of a tree for the box that is at most `max_depth` deep. The two tables settle most boxes at once:
// either the tree with fewest leaves is shallow enough, or no tree is.
std::int64_t IntervalDp::fewest_splits(Box& box, std::int64_t max_depth) {
  if (static_cast<std::int64_t>((*depth_)[box]) > max_depth) return kNone;
  const std::size_t offset = leaves_depth_->offset(box);
  const Packed here = packed(offset);
  if (here.depth_known && here.depth <= max_depth) return here.splits;
  const std::uint64_t key =
      static_cast<std::uint64_t>(offset) << 8 | static_cast<std::uint64_t>(std::min<std::int64_t>(max_depth, 255));
  if (const auto known = search_memo_.find(key); known != search_memo_.end()) return known->second;
  if (search_memo_.size() % 1024 == 0) control_.check("depth-leaves", -1, -1, states());

  struct Candidate {
    std::int64_t bound;
    Cut cut;
  };
  std::vector<Candidate> candidates;
  for (int axis = 0; axis < grid_.n_axes(); ++axis)
    for (int position = box[axis].lo; position < box[axis].hi; ++position) {
      std::int64_t bound = 1;
      with_sides(box, axis, position, [&](Box& side, bool) {
        if (static_cast<std::int64_t>((*depth_)[side]) > max_depth - 1) bound += kNone;
        const Packed best = packed(leaves_depth_->offset(side));
        bound += best.splits + (best.depth > max_depth - 1 ? 1 : 0);
      });
      if (bound < kNone) candidates.push_back({bound, {axis, position}});
    }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
  std::int64_t best = kNone;
  for (const Candidate& candidate : candidates) {
    if (candidate.bound >= best) break;
    std::int64_t splits = 1;
    with_sides(box, candidate.cut.axis, candidate.cut.position,
               [&](Box& side, bool) { splits += fewest_splits(side, max_depth - 1); });
    best = std::min(best, splits);
  }
  search_memo_.emplace(key, best);
  return best;
}

// Reads a tree back from the tables. `is_best(box, axis, position, depth)` tells whether this cut keeps the optimum at
// a node of that depth; of all that do, the most balanced is taken, then the lower feature, then the lower threshold.
template <typename IsBest>
FlatTree IntervalDp::read_tree(const IsBest& is_best) {
  FlatTree tree;
  std::vector<std::size_t> cell_stride(grid_.n_axes());
  std::size_t step = 1;
  for (int axis = grid_.n_axes(); axis-- > 0; step *= grid_.axes[axis].n_slabs()) cell_stride[axis] = step;
  std::vector<int> by_feature(grid_.n_axes());
  for (int axis = 0; axis < grid_.n_axes(); ++axis) by_feature[axis] = axis;
  std::sort(by_feature.begin(), by_feature.end(),
            [&](int a, int b) { return grid_.axes[a].feature < grid_.axes[b].feature; });

  struct Task {
    Box box;
    int depth;
    std::int32_t parent;
    bool is_left;
  };
  std::vector<Task> tasks{{whole(grid_), 0, -1, false}};
  while (!tasks.empty()) {
    Task task = std::move(tasks.back());
    tasks.pop_back();
    std::size_t corner = 0;
    for (int axis = 0; axis < grid_.n_axes(); ++axis) corner += task.box[axis].lo * cell_stride[axis];
    Cut best{-1, 0};
    int best_difference = 0, best_length = 1;
    const IntervalTable& table = depth_ ? *depth_ : leaves_ ? *leaves_ : *leaves_depth_;
    if (table[task.box] != 0) {
      for (const int axis : by_feature) {
        const auto [lo, hi] = task.box[axis];
        for (int position = lo; position < hi; ++position) {
          const int difference = std::abs((position - lo + 1) - (hi - position)), length = hi - lo + 1;
          if (best.axis >= 0 && difference * best_length >= best_difference * length) continue;
          if (!is_best(task.box, axis, position, task.depth)) continue;
          best = {axis, position};
          best_difference = difference;
          best_length = length;
        }
      }
    }
    const std::int32_t node =
        best.axis < 0 ? tree.add_leaf(grid_.classes[corner])
                      : tree.add_split(grid_.axes[best.axis].feature, grid_.axes[best.axis].thresholds[best.position]);
    if (task.parent >= 0) (task.is_left ? tree.left : tree.right)[task.parent] = node;
    if (best.axis < 0) continue;
    Task right = task;
    right.box[best.axis].lo = best.position + 1;
    task.box[best.axis].hi = best.position;
    for (Task* child : {&right, &task}) {
      child->depth += 1;
      child->parent = node;
      child->is_left = child == &task;
    }
    tasks.push_back(std::move(right));
    tasks.push_back(std::move(task));
  }
  return tree;
}

Solution IntervalDp::depth_limited(std::int64_t max_depth) {
  Box box = whole(grid_);
  Solution solution;
  const std::int64_t splits = fewest_splits(box, max_depth);
  solution.tree = read_tree([&](Box& at, int axis, int position, int depth) {
    const std::int64_t wanted = fewest_splits(at, max_depth - depth);
    std::int64_t found = 1;
    with_sides(at, axis, position, [&](Box& side, bool) {
      if (found <= wanted) found += fewest_splits(side, max_depth - depth - 1);
    });
    return found == wanted;
  });
  solution.depth = solution.tree.depth();
  solution.leaves = solution.leaves_bound = splits + 1;
  return solution;
}

Solution IntervalDp::solve(Objective objective) {
  Solution solution;
  Box root = whole(grid_);
  switch (objective) {
    case Objective::kDepth: {
      need_depth();
      const IntervalTable& table = *depth_;
      solution.tree = read_tree([&](Box& box, int axis, int position, int) {
        std::uint32_t deepest = 0;
        const std::uint32_t value = table[box];
        with_sides(box, axis, position, [&](Box& side, bool) { deepest = std::max(deepest, table[side]); });
        return deepest + 1 == value;
      });
      solution.depth_bound = table[root];
      break;
    }
    case Objective::kLeaves: {
      need_leaves();
      const IntervalTable& table = *leaves_;
      solution.tree = read_tree([&](Box& box, int axis, int position, int) {
        std::uint32_t splits = 1;
        const std::uint32_t value = table[box];
        with_sides(box, axis, position, [&](Box& side, bool) { splits += table[side]; });
        return splits == value;
      });
      solution.leaves_bound = static_cast<std::int64_t>(table[root]) + 1;
      break;
    }
    case Objective::kLeavesDepth: {
      need_leaves_depth(true);
      solution.tree = read_tree([&](Box& box, int axis, int position, int) {
        const Packed value = packed(leaves_depth_->offset(box));
        std::int64_t splits = 1, deepest = 0;
        with_sides(box, axis, position, [&](Box& side, bool) {
          const Packed part = packed(leaves_depth_->offset(side));
          splits += part.splits;
          deepest = std::max(deepest, part.depth);
        });
        return splits == value.splits && deepest + 1 == value.depth;
      });
      const Packed value = packed(leaves_depth_->offset(root));
      solution.leaves_bound = value.splits + 1;
      solution.depth_bound = value.depth;
      break;
    }
    case Objective::kDepthLeaves: {
      need_depth();
      need_leaves_depth(false);
      const std::int64_t depth = (*depth_)[root];
      solution = depth_limited(depth);
      solution.depth_bound = depth;
      break;
    }
  }
  solution.depth = solution.tree.depth();
  solution.leaves = solution.tree.n_leaves();
  solution.optimal = true;
  return solution;
}

std::vector<Solution> IntervalDp::pareto_front() {
  need_depth();
  need_leaves_depth(true);
  Box root = whole(grid_);
  const Packed last = packed(leaves_depth_->offset(root));
  std::vector<Solution> front;
  std::int64_t fewest = kNone;
  for (std::int64_t depth = (*depth_)[root]; depth <= last.depth; ++depth) {
    if (fewest_splits(root, depth) >= fewest) continue;
    fewest = fewest_splits(root, depth);
    Solution solution = depth_limited(depth);
    solution.depth_bound = solution.depth;
    solution.optimal = true;
    front.push_back(std::move(solution));
  }
  return front;
}

}  // namespace onetree
