#include "bound/slab_tree.hpp"

#include <algorithm>
#include <map>

namespace onetree {

namespace {

constexpr int kMostValues = 64;
constexpr std::size_t kMost16 = 0xFFFE;
constexpr std::uint32_t kBetweenChecks = 1 << 16;  // nodes
constexpr std::size_t kMostAxes = 1 << 14;         // so that sums over them fit in an int

const SetAxis* set_of(std::span<const SetAxis> sets, int feature) {
  return sets.empty() || !sets[feature] ? nullptr : &sets[feature];
}

Values all_of(int n_values) {
  return ~Values{0} >> (kMostValues - n_values);
}

std::map<int, std::vector<double>> thresholds_of(const FlatTree& tree) {
  std::map<int, std::vector<double>> thresholds;
  for (std::size_t node = 0; node < tree.feature.size(); ++node)
    if (tree.feature[node] >= 0) thresholds[tree.feature[node]].push_back(tree.threshold[node]);
  for (auto& [feature, of_feature] : thresholds) {
    std::sort(of_feature.begin(), of_feature.end());
    of_feature.erase(std::unique(of_feature.begin(), of_feature.end()), of_feature.end());
  }
  return thresholds;
}

}  // namespace

bool SlabTree::can_hold(const FlatTree& tree, std::span<const SetAxis> sets) {
  const std::map<int, std::vector<double>> thresholds = thresholds_of(tree);
  return thresholds.size() < kMostAxes && std::all_of(
                                              thresholds.begin(), thresholds.end(),
                                              [&](const auto& entry) {
                                                const SetAxis* set = set_of(sets, entry.first);
                                                return set != nullptr
                                                           ? set->n_values <= kMostValues &&
                                                                 static_cast<std::size_t>(set->n_tests()) < kMost16
                                                           : entry.second.size() < kMost16;
                                              });
}

SlabTree::SlabTree(const FlatTree& tree, std::span<const SetAxis> sets, std::size_t most_leaves, Control& control) {
  find_axes(tree, sets);
  unfold(tree, part_of(tree, most_leaves), control);
  axis_of_node_ = test_of_node_ = {};
  std::vector<std::uint32_t> depth_of(nodes_.size(), 0);
  for (std::uint32_t node = 1; node < nodes_.size(); ++node) {  // parents come before children
    depth_of[node] = depth_of[parent_[node]] + 1;
    depth_ = std::max(depth_, depth_of[node]);
  }
}

void SlabTree::find_axes(const FlatTree& tree, std::span<const SetAxis> sets) {
  const std::map<int, std::vector<double>> thresholds = thresholds_of(tree);
  std::map<int, int> axis_of;
  for (const auto& [feature, of_feature] : thresholds) {
    axis_of[feature] = n_axes();
    SlabAxis& axis = axes_.emplace_back();
    axis.feature = feature;
    axis.n_slabs = static_cast<int>(of_feature.size()) + 1;
    const SetAxis* set = set_of(sets, feature);
    if (set == nullptr) continue;
    axis.n_slabs = set->n_values;
    axis.set = n_sets_++;
    root_values_.push_back(all_of(set->n_values));
    for (int test = 0; test < set->n_tests(); ++test) {
      Values& inside = axis.inside.emplace_back(0);
      for (int value = 0; value < set->n_values; ++value)
        if (set->contains(test, value)) inside |= Values{1} << value;
    }
    for (int a = 0; a < set->n_values; ++a)
      for (int b = 0; b < set->n_values; ++b) {
        Values& hull = axis.hull.emplace_back(all_of(set->n_values));
        for (const Values inside : axis.inside)
          if ((inside >> a & 1) == (inside >> b & 1)) hull &= (inside >> a & 1) != 0 ? inside : ~inside;
      }
  }
  axis_of_node_.assign(tree.feature.size(), kLeaf);
  test_of_node_.assign(tree.feature.size(), 0);
  for (std::size_t node = 0; node < tree.feature.size(); ++node) {
    if (tree.feature[node] < 0) continue;
    const int axis = axis_of[tree.feature[node]];
    const std::vector<double>& levels = thresholds.at(tree.feature[node]);
    axis_of_node_[node] = static_cast<std::uint16_t>(axis);
    test_of_node_[node] = static_cast<std::uint16_t>(
        axes_[axis].set >= 0 ? static_cast<std::ptrdiff_t>(tree.threshold[node])
                             : std::lower_bound(levels.begin(), levels.end(), tree.threshold[node]) - levels.begin());
  }
  low_.assign(axes_.size(), 0);
  for (const SlabAxis& axis : axes_) high_.push_back(static_cast<Slab>(axis.n_slabs - 1));
}

// The node whose tree is unfolded; narrows the box to that of the node.
std::int32_t SlabTree::part_of(const FlatTree& tree, std::size_t most_leaves) {
  std::vector<double> n_leaves(tree.feature.size(), 1);
  for (std::size_t node = tree.feature.size(); node-- > 0;)  // children come after their parents
    if (tree.feature[node] >= 0) n_leaves[node] = n_leaves[tree.left[node]] + n_leaves[tree.right[node]];
  std::int32_t node = 0;
  while (n_leaves[node] > static_cast<double>(most_leaves)) {
    const int axis = axis_of_node_[node], test = test_of_node_[node];
    bool left = n_leaves[tree.left[node]] >= n_leaves[tree.right[node]];
    if (axes_[axis].set >= 0) {
      Values& values = root_values_[axes_[axis].set];
      const Values inside = axes_[axis].inside[test];
      if ((values & (left ? inside : ~inside)) == 0) left = !left;
      values &= left ? inside : ~inside;
    } else {
      if (left ? low_[axis] > test : high_[axis] <= test) left = !left;
      if (left)
        high_[axis] = std::min(high_[axis], static_cast<Slab>(test));
      else
        low_[axis] = std::max(low_[axis], static_cast<Slab>(test + 1));
    }
    node = left ? tree.left[node] : tree.right[node];
  }
  return node;
}

void SlabTree::unfold(const FlatTree& tree, std::int32_t root, Control& control) {
  enum class What : std::uint8_t { kRoot, kLeft, kRight, kRestore };
  struct Task {
    What what;
    std::uint16_t axis;
    Slab low, high;  // of the axis
    Values values;   // of the axis
    std::int32_t node;
    std::uint32_t parent;
  };
  std::vector<Slab> low = low_, high = high_;
  std::vector<Values> values = root_values_;
  std::vector<Task> tasks = {{What::kRoot, 0, 0, 0, 0, root, 0}};
  while (!tasks.empty()) {
    const Task task = tasks.back();
    tasks.pop_back();
    if (task.what != What::kRoot) {
      if (axes_[task.axis].set >= 0) {
        values[axes_[task.axis].set] = task.values;
      } else {
        low[task.axis] = task.low;
        high[task.axis] = task.high;
      }
      if (task.what == What::kRestore) continue;
    }
    std::int32_t node = task.node;
    Task left{}, right{}, restore{};
    while (tree.feature[node] >= 0) {
      const std::uint16_t axis = axis_of_node_[node], test = test_of_node_[node];
      left = {What::kLeft, axis, low[axis], high[axis], 0, tree.left[node], 0};
      right = left;
      restore = left;
      right.what = What::kRight;
      right.node = tree.right[node];
      restore.what = What::kRestore;
      bool has_left, has_right;
      if (axes_[axis].set >= 0) {
        const Values inside = axes_[axis].inside[test];
        restore.values = values[axes_[axis].set];
        left.values = restore.values & inside;
        right.values = restore.values & ~inside;
        has_left = left.values != 0;
        has_right = right.values != 0;
      } else {
        has_left = low[axis] <= test;
        has_right = high[axis] > test;
        left.high = test;
        right.low = static_cast<Slab>(test + 1);
      }
      if (has_left && has_right) break;
      node = has_left ? tree.left[node] : tree.right[node];
    }
    const auto here = static_cast<std::uint32_t>(nodes_.size());
    if (here % kBetweenChecks == 0) control.check("bound", -1, -1, here);
    parent_.push_back(task.parent);
    if (task.what == What::kRight) nodes_[task.parent].right = here;
    if (tree.feature[node] < 0) {
      nodes_.push_back({kLeaf, static_cast<std::uint16_t>(tree.leaf_class[node]), n_leaves()});
      leaves_.push_back(here);
      values_.insert(values_.end(), values.begin(), values.end());
      continue;
    }
    nodes_.push_back({axis_of_node_[node], test_of_node_[node], 0});
    left.parent = right.parent = here;
    tasks.push_back(restore);
    tasks.push_back(right);
    tasks.push_back(left);
  }
}

}  // namespace onetree
