#include "table/set_dp.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace onetree {

namespace {

constexpr std::int64_t kDeepestNarrow = 7;  // no tree of this depth has more splits than fit in a byte

int byte_width(double most) {
  return most < 255 ? 1 : most < 65535 ? 2 : 4;
}

}  // namespace

SetDp::SetDp(const GridAxes& grid, double n_cells, Control& control)
    : grid_(grid), n_cells_(n_cells), control_(control), boxes_(grid, control) {
  root_ = boxes_.number(boxes_.whole());
  peak_bytes_ = boxes_.bytes();
}

SetDp::SetDp(const Grid& grid, Control& control) : SetDp(grid, static_cast<double>(grid.n_cells()), control) {
  leaves_.classes = grid.classes.data();
}

SetDp::SetDp(const ScoreGrid& grid, Control& control) : SetDp(grid, static_cast<double>(grid.n_cells()), control) {
  is_leaf_ = score_leaves(boxes_, grid, ScoreRanks(grid), control);
  leaves_.is_leaf = is_leaf_.data();
}

SetTable SetDp::fill(SetMeasure measure, int width) {
  layers_.clear();
  SetTable table(boxes_, leaves_, measure, width, control_);
  n_filled_ += static_cast<std::int64_t>(boxes_.size());
  peak_bytes_ = std::max(peak_bytes_, own_bytes() + table.bytes());
  return table;
}

// A narrow table that turns out too narrow has cost half of what the wide one costs, which is seldom needed.
SetTable SetDp::depth_table() {
  for (int width = 1; width < 4; width *= 2) {  // each is released before the next is made
    SetTable table = fill(SetMeasure::kDepth, width);
    if (table.at(root_) != table.saturated()) return table;
  }
  return fill(SetMeasure::kDepth, 4);
}

SetTable SetDp::splits_table() {
  const int widest = byte_width(n_cells_ - 1);
  for (int width = 1; width < widest; width *= 2) {
    SetTable table = fill(SetMeasure::kSplits, width);
    if (table.at(root_) != table.saturated()) return table;
  }
  return fill(SetMeasure::kSplits, widest);
}

SetTable SetDp::splits_depth_table() {
  for (int width = 2; width < 8; width *= 2) {
    SetTable table = fill(SetMeasure::kSplitsDepth, width);
    const SplitsDepth root(table.at(root_), width);
    if (root.splits_fit && root.depth_fits) return table;
  }
  return fill(SetMeasure::kSplitsDepth, 8);
}

std::size_t SetDp::layers_bytes() const {
  return std::accumulate(layers_.begin(), layers_.end(), own_bytes(),
                         [](std::size_t sum, const SetTable& layer) { return sum + layer.bytes(); });
}

// All layers up to this depth, of which the last ones may be too narrow.
void SetDp::need_layers(std::int64_t max_depth) {
  const std::int64_t n_new = max_depth + 1 - static_cast<std::int64_t>(layers_.size());
  if (n_new <= 0) return;
  const std::int64_t n_narrow =
      std::max<std::int64_t>(0, n_new - std::max<std::int64_t>(0, max_depth - kDeepestNarrow));
  const double bytes = boxes_.count() * static_cast<double>(n_narrow + (n_new - n_narrow) * wide_);
  if (static_cast<double>(layers_bytes()) + bytes > static_cast<double>(control_.memory_limit))
    throw LimitReached("memory");
  if (control_.patience > 0 && SetTable::seconds(boxes_) * static_cast<double>(n_new) > control_.patience)
    throw LimitReached("time");
  while (static_cast<std::int64_t>(layers_.size()) <= max_depth) {
    const int width = static_cast<std::int64_t>(layers_.size()) > kDeepestNarrow ? wide_ : 1;
    if (layers_.empty())
      layers_.emplace_back(boxes_, leaves_, SetMeasure::kLeaf, width, control_);
    else
      layers_.push_back(SetTable(boxes_, layers_.back(), width, control_));
    n_filled_ += static_cast<std::int64_t>(boxes_.size());
    peak_bytes_ = std::max(peak_bytes_, layers_bytes());
  }
}

// The same where a tree of that depth is known to exist.
void SetDp::need_fitting_layers(std::int64_t max_depth) {
  need_layers(max_depth);
  while (layers_[max_depth].at(root_) == layers_[max_depth].saturated()) {
    wide_ *= 2;
    while (static_cast<std::int64_t>(layers_.size()) > kDeepestNarrow + 1) layers_.pop_back();
    need_layers(max_depth);
  }
}

// Reads a tree back. `value(box, depth)` is 0 at a leaf; `fit(value, inside, outside, depth)` tells whether a split
// into these sides, given by number, keeps the optimum. Of all splits that do, the most balanced is taken, then the
// lower feature, then the lower test.
template <typename Value, typename Fit>
FlatTree SetDp::read_tree(const Value& value, const Fit& fit) const {
  std::vector<int> by_feature(grid_.n_axes());
  std::iota(by_feature.begin(), by_feature.end(), 0);
  std::sort(by_feature.begin(), by_feature.end(),
            [&](int a, int b) { return grid_.axes[a].feature < grid_.axes[b].feature; });
  struct Task {
    SetBox box;
    int depth;
    std::int32_t parent;
    bool is_left;
  };
  FlatTree tree;
  std::vector<Task> tasks{{boxes_.whole(), 0, -1, false}};
  while (!tasks.empty()) {
    const Task task = std::move(tasks.back());
    tasks.pop_back();
    const std::size_t number = boxes_.number(task.box);
    const std::uint64_t wanted = value(number, task.depth);
    Choice best{-1, {}};
    std::int64_t best_difference = 1, best_size = 0;  // of the two sides, and of both together
    for (std::size_t rank = 0; wanted != 0 && rank < by_feature.size(); ++rank) {
      const int axis = by_feature[rank];
      const SetFamily& family = boxes_.family(axis);
      const std::int64_t size = family.count(task.box[axis]);
      for (const SetSplit& split : family.splits(task.box[axis])) {
        const std::int64_t difference = std::abs(size - 2 * family.count(split.inside));
        if (best.axis >= 0 && difference * best_size >= best_difference * size) continue;
        if (!fit(wanted, boxes_.with_set(number, task.box, axis, split.inside),
                 boxes_.with_set(number, task.box, axis, split.outside), task.depth))
          continue;
        best = {axis, split};
        best_difference = difference;
        best_size = size;
      }
    }
    const std::int32_t node = best.axis < 0 ? tree.add_leaf(leaf_class(task.box))
                                            : tree.add_split(grid_.axes[best.axis].feature,
                                                             grid_.axes[best.axis].thresholds[best.split.test]);
    if (task.parent >= 0) (task.is_left ? tree.left : tree.right)[task.parent] = node;
    if (best.axis < 0) continue;
    for (const bool left : {false, true}) {  // the left side is popped, and numbered, first
      Task child{task.box, task.depth + 1, node, left};
      child.box[best.axis] = static_cast<int>(left ? best.split.inside : best.split.outside);
      tasks.push_back(std::move(child));
    }
  }
  return tree;
}

template <typename Fit>
FlatTree SetDp::read_tree(const SetTable& table, const Fit& fit) const {
  return read_tree([&](std::size_t box, int) { return table.at(box); },
                   [&](std::uint64_t value, std::size_t inside, std::size_t outside, int) {
                     return fit(value, table.at(inside), table.at(outside));
                   });
}

Solution SetDp::depth_limited(std::int64_t max_depth) {
  need_fitting_layers(max_depth);
  Solution solution;
  solution.tree = read_tree([&](std::size_t box, int depth) { return layers_[max_depth - depth].at(box); },
                            [&](std::uint64_t value, std::size_t inside, std::size_t outside, int depth) {
                              const SetTable& below = layers_[max_depth - depth - 1];
                              return below.at(inside) + below.at(outside) + 1 == value;
                            });
  solution.leaves_bound = static_cast<std::int64_t>(layers_[max_depth].at(root_)) + 1;
  return solution;
}

Solution SetDp::solve(Objective objective) {
  Solution solution;
  switch (objective) {
    case Objective::kDepth: {
      const SetTable table = depth_table();
      solution.tree = read_tree(table, [](std::uint64_t value, std::uint64_t inside, std::uint64_t outside) {
        return std::max(inside, outside) + 1 == value;
      });
      solution.depth_bound = static_cast<std::int64_t>(table.at(root_));
      break;
    }
    case Objective::kLeaves: {
      const SetTable table = splits_table();
      solution.tree = read_tree(table, [](std::uint64_t value, std::uint64_t inside, std::uint64_t outside) {
        return inside + outside + 1 == value;
      });
      solution.leaves_bound = static_cast<std::int64_t>(table.at(root_)) + 1;
      break;
    }
    case Objective::kLeavesDepth: {
      const SetTable table = splits_depth_table();
      const auto unpacked = [&](std::uint64_t word) { return SplitsDepth(word, table.width()); };
      solution.tree = read_tree(table, [&](std::uint64_t value, std::uint64_t inside, std::uint64_t outside) {
        const SplitsDepth whole = unpacked(value), in = unpacked(inside), out = unpacked(outside);
        return in.splits + out.splits + 1 == whole.splits && std::max(in.depth, out.depth) + 1 == whole.depth;
      });
      solution.leaves_bound = static_cast<std::int64_t>(unpacked(table.at(root_)).splits) + 1;
      solution.depth_bound = static_cast<std::int64_t>(unpacked(table.at(root_)).depth);
      break;
    }
    case Objective::kDepthLeaves: {
      const std::int64_t depth = static_cast<std::int64_t>(depth_table().at(root_));
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

void SetDp::pareto_front(std::vector<Solution>& front) {
  const std::uint64_t fewest = splits_table().at(root_);
  std::int64_t depth = static_cast<std::int64_t>(depth_table().at(root_));
  std::uint64_t last = ~std::uint64_t{0};
  for (; last != fewest; ++depth) {
    need_fitting_layers(depth);
    if (layers_[depth].at(root_) >= last) continue;
    last = layers_[depth].at(root_);
    Solution solution = depth_limited(depth);
    solution.depth = solution.depth_bound = solution.tree.depth();
    solution.leaves = solution.tree.n_leaves();
    solution.optimal = true;
    front.push_back(std::move(solution));
  }
}

}  // namespace onetree
