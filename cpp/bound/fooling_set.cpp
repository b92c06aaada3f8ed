#include "bound/fooling_set.hpp"

#include <algorithm>
#include <bit>

namespace onetree {

FoolingSet::FoolingSet(const SlabTree& tree)
    : tree_(tree),
      at_(static_cast<std::size_t>(tree.n_leaves()) * tree.n_axes()),
      low_(at_.size()),
      high_(at_.size()),
      reach_(static_cast<std::size_t>(tree.n_leaves()) * tree.n_sets()),
      n_joined_(tree.n_nodes()),
      has_joined_(tree.n_leaves()) {}

std::size_t FoolingSet::bytes_for(std::size_t n_leaves, std::size_t n_axes, std::size_t n_sets) {
  return n_leaves * (3 * n_axes * sizeof(Slab) + n_sets * sizeof(Values) + 3 * sizeof(std::uint32_t) + 1);
}

void FoolingSet::propose(std::uint32_t leaf, const HemmedCell& cell) {
  std::copy(cell.at.begin(), cell.at.end(), at_.begin() + static_cast<std::ptrdiff_t>(first(leaf)));
  std::copy(cell.low.begin(), cell.low.end(), low_.begin() + static_cast<std::ptrdiff_t>(first(leaf)));
  std::copy(cell.high.begin(), cell.high.end(), high_.begin() + static_cast<std::ptrdiff_t>(first(leaf)));
  std::copy(cell.reach.begin(), cell.reach.end(), reach_.begin() + static_cast<std::ptrdiff_t>(first_set(leaf)));
}

bool FoolingSet::join(std::uint32_t leaf) {
  if (class_ != tree_.class_of(leaf)) {
    class_ = tree_.class_of(leaf);
    std::fill(n_joined_.begin(), n_joined_.end(), 0);
    for (const std::uint32_t other : joined_)
      if (tree_.class_of(other) == class_) count(other);
  }
  if (shares_a_leaf(leaf)) return false;
  joined_.push_back(leaf);
  has_joined_[leaf] = true;
  count(leaf);
  return true;
}

void FoolingSet::count(std::uint32_t leaf) {
  std::uint32_t node = tree_.leaf(leaf);
  n_joined_[node] += 1;
  while (node != tree_.parent(node)) {
    node = tree_.parent(node);
    n_joined_[node] += 1;
  }
}

// Walks through the parts of the tree that hold cells of the set, from the nearest outwards. In each part, the nearest
// point is in the smallest box around the cell and any other of the part: if it has another class, nothing in the part
// can share a leaf with the cell.
bool FoolingSet::shares_a_leaf(std::uint32_t leaf) {
  const Slab* const at = cell(leaf);
  const Slab *const low = low_.data() + first(leaf), *const high = high_.data() + first(leaf);
  const Values* const reach = reach_.data() + first_set(leaf);
  nearest_.assign(at, at + tree_.n_axes());
  walks_.clear();
  walks_.push_back({0, SlabTree::kLeaf, 0});
  while (!walks_.empty()) {
    const Walk walk = walks_.back();
    walks_.pop_back();
    if (walk.node == kGoBack) {
      nearest_[walk.axis] = walk.to;
      continue;
    }
    if (walk.axis != SlabTree::kLeaf) {
      walks_.push_back({kGoBack, walk.axis, nearest_[walk.axis]});
      nearest_[walk.axis] = walk.to;
    }
    const std::size_t n_walks = walks_.size();
    std::uint32_t node = walk.node;
    while (tree_[node].axis != SlabTree::kLeaf) {
      const auto [axis, test, right] = tree_[node];
      const std::uint32_t left = node + 1;
      const Slab here = nearest_[axis];
      const SlabAxis& of = tree_.axis(axis);
      if (of.set >= 0) {
        const bool goes_left = (of.inside[test] >> here & 1) != 0;
        const std::uint32_t away = goes_left ? right : left;
        if (here == at[axis] && n_joined_[away] > 0) {
          const Values values = reach[of.set] & (goes_left ? ~of.inside[test] : of.inside[test]);
          for (Values rest = values; rest != 0; rest &= rest - 1)
            walks_.push_back({away, axis, static_cast<Slab>(std::countr_zero(rest))});
        }
        node = goes_left ? left : right;
      } else if (here <= test) {
        if (here >= at[axis] && test < high[axis] && n_joined_[right] > 0)
          walks_.push_back({right, axis, static_cast<Slab>(test + 1)});
        node = left;
      } else {
        if (here <= at[axis] && test >= low[axis] && n_joined_[left] > 0) walks_.push_back({left, axis, test});
        node = right;
      }
    }
    const std::uint32_t reached = tree_[node].right;
    if (tree_[node].test != class_ || !is_in(reached)) {
      walks_.resize(n_walks);
    } else if (has_joined_[reached] && reached != leaf && may_share(leaf, reached)) {
      return true;
    }
  }
  return false;
}

// Whether the nearest point leads to the leaf: it does not if a value was sent down a path that others had left.
bool FoolingSet::is_in(std::uint32_t leaf) const {
  if (tree_.n_sets() == 0) return true;
  const Values* const values = tree_.values_of(leaf);
  for (int axis = 0; axis < tree_.n_axes(); ++axis) {
    const int set = tree_.axis(axis).set;
    if (set >= 0 && (values[set] >> nearest_[axis] & 1) == 0) return false;
  }
  return true;
}

bool FoolingSet::reaches(std::uint32_t leaf, std::uint32_t other) const {
  const Slab *const low = low_.data() + first(leaf), *const high = high_.data() + first(leaf);
  const Slab* const at = cell(other);
  const int n_axes = tree_.n_axes();
  int beyond = 0;
  for (int axis = 0; axis < n_axes; ++axis) beyond |= static_cast<int>(at[axis] < low[axis]) | (at[axis] > high[axis]);
  if (beyond != 0) return false;
  if (tree_.n_sets() == 0) return true;
  const Values* const reach = reach_.data() + first_set(leaf);
  for (int axis = 0; axis < n_axes; ++axis) {
    const int set = tree_.axis(axis).set;
    if (set >= 0 && (reach[set] >> at[axis] & 1) == 0) return false;
  }
  return true;
}

// Whether the smallest box around the cells of two leaves of one class has that class throughout.
bool FoolingSet::may_share(std::uint32_t leaf, std::uint32_t other) {
  if (!reaches(leaf, other) || !reaches(other, leaf)) return false;
  const Slab *const a = cell(leaf), *const b = cell(other);
  box_low_.resize(tree_.n_axes());
  box_high_.resize(tree_.n_axes());
  box_values_.resize(tree_.n_sets());
  for (int axis = 0; axis < tree_.n_axes(); ++axis) {
    box_low_[axis] = std::min(a[axis], b[axis]);
    box_high_[axis] = std::max(a[axis], b[axis]);
    const SlabAxis& of = tree_.axis(axis);
    if (of.set >= 0) box_values_[of.set] = of.hull[static_cast<std::size_t>(a[axis]) * of.n_slabs + b[axis]];
  }
  todo_.assign(1, 0);
  while (!todo_.empty()) {
    std::uint32_t node = todo_.back();
    todo_.pop_back();
    while (tree_[node].axis != SlabTree::kLeaf) {
      const auto [axis, test, right] = tree_[node];
      const SlabAxis& of = tree_.axis(axis);
      const bool goes_left = of.set >= 0 ? (box_values_[of.set] & of.inside[test]) != 0 : box_low_[axis] <= test;
      const bool goes_right = of.set >= 0 ? (box_values_[of.set] & ~of.inside[test]) != 0 : box_high_[axis] > test;
      if (goes_left && goes_right) todo_.push_back(right);
      node = goes_left ? node + 1 : right;
    }
    if (tree_[node].test != class_ && meets_box(tree_[node].right)) return false;
  }
  return true;
}

// Values are not followed on their way down, so a leaf may have been reached by none of the box that are left there.
bool FoolingSet::meets_box(std::uint32_t leaf) const {
  const Values* const values = tree_.values_of(leaf);
  for (int set = 0; set < tree_.n_sets(); ++set)
    if ((values[set] & box_values_[set]) == 0) return false;
  return true;
}

}  // namespace onetree
