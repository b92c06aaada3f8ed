#include "region/tree_store.hpp"

#include <algorithm>

namespace onetree {

namespace {

constexpr std::size_t kRemembered = std::size_t{1} << 16;

}  // namespace

TreeStore::TreeStore(const Ensemble& ensemble, const Levels& levels)
    : ensemble_(ensemble),
      levels_(levels),
      n_gains_(ensemble.combination == nullptr ? ensemble.n_classes : 2 * ensemble.n_outputs),
      gains_(ensemble.n_classes),
      remembered_(kRemembered) {
  for (const SetAxis& axis : ensemble_.sets) sets_.emplace_back(axis);
  for (const std::int32_t root : ensemble_.roots) roots_.push_back(import_tree(root));
  n_imported_ = size();
}

TreeStore::Id TreeStore::make_leaf(std::int32_t ensemble_node) {
  ensemble_.leaf_key(ensemble_node, key_);
  const auto [id, is_new] = interner_.intern(key_);
  if (is_new) nodes_.push_back({-1, 0, false, -1, -1, ensemble_node, 0});
  return id;
}

TreeStore::Id TreeStore::make(std::int32_t feature, std::int32_t level, bool missing_left, Id left, Id right) {
  if (left == right) return left;
  const std::int32_t key[] = {feature, 2 * level + missing_left, left, right};
  const auto [id, is_new] = interner_.intern(key);
  if (is_new) {
    const std::uint64_t features = nodes_[left].features | nodes_[right].features | std::uint64_t{1} << (feature & 63);
    Node node{feature, level, missing_left, left, right, nodes_[left].corner, features};
    if (ensemble_.is_set(feature) && !first_passes(node)) node.corner = nodes_[right].corner;
    nodes_.push_back(node);
  }
  return id;
}

TreeStore::Sides TreeStore::sides_of(std::int32_t node, const Range& range) {
  const int j = ensemble_.feature[node];
  Sides sides{false, false, range, range};
  if (ensemble_.is_set(j)) {
    const int test = static_cast<int>(ensemble_.threshold[node]);
    sides.left_range.values = sets_[j].part(range.values, test, true);
    sides.right_range.values = sets_[j].part(range.values, test, false);
    sides.left = sides.left_range.values != ValueSets::kEmpty;
    sides.right = sides.right_range.values != ValueSets::kEmpty;
    return sides;
  }
  const std::vector<double>& t = levels_[j];
  const int level = static_cast<int>(std::lower_bound(t.begin(), t.end(), ensemble_.threshold[node]) - t.begin());
  const bool missing_left = range.missing && ensemble_.missing_left[node];
  sides.left_range = {range.low, std::min(range.high, level), missing_left, range.values};
  sides.right_range = {std::max(range.low, level + 1), range.high, range.missing && !missing_left, range.values};
  sides.left = sides.left_range.low <= sides.left_range.high || sides.left_range.missing;
  sides.right = sides.right_range.low <= sides.right_range.high || sides.right_range.missing;
  return sides;
}

// Walks down with the slabs that can get there, so that splits with an empty side are left out.
TreeStore::Id TreeStore::import_tree(std::int32_t root) {
  std::vector<Range> ranges(ensemble_.n_features);
  for (int j = 0; j < ensemble_.n_features; ++j) {
    const bool missing = ensemble_.nan_features[j] != 0;
    ranges[j] = {0, static_cast<int>(levels_[j].size()) - missing, missing, ValueSets::kWhole};
  }
  struct Frame {
    std::int32_t node;
    Range range;  // of the node's feature, before the split
    Sides sides;
    Id left;  // -1: not yet known
  };
  std::vector<Frame> frames;
  std::int32_t node = root;
  for (;;) {
    // Down to a leaf, by the left where both sides can be reached.
    while (ensemble_.feature[node] >= 0) {
      Range& range = ranges[ensemble_.feature[node]];
      const Sides sides = sides_of(node, range);
      if (sides.left && sides.right) {
        frames.push_back({node, range, sides, -1});
        range = sides.left_range;
      }
      node = sides.left ? ensemble_.left[node] : ensemble_.right[node];
    }
    Id built = make_leaf(node);
    // Up, until a split whose right side is still to come.
    for (; !frames.empty() && frames.back().left >= 0; frames.pop_back()) {
      const auto& [at, range, sides, left] = frames.back();
      const int j = ensemble_.feature[at];
      const int last = static_cast<int>(levels_[j].size()) - 1;
      const Range &below = sides.left_range, &above = sides.right_range;
      if (ensemble_.is_set(j)) {
        const std::int32_t pair = sets_[j].pair(range.values, static_cast<int>(ensemble_.threshold[at]));
        built = make(j, pair, false, left, built);
      } else if (below.low <= below.high && above.low <= above.high) {
        built = make(j, above.low - 1, below.missing, left, built);
      } else if (below.low <= below.high) {
        built = make(j, last, false, left, built);  // only NaN goes right
      } else {
        built = make(j, last, false, built, left);
      }
      ranges[j] = range;
    }
    if (frames.empty()) return built;
    Frame& frame = frames.back();
    frame.left = built;
    ranges[ensemble_.feature[frame.node]] = frame.sides.right_range;
    node = ensemble_.right[frame.node];
  }
}

TreeStore::Remembered& TreeStore::remembered(Id tree, int feature, std::int32_t side) {
  const std::uint64_t hash = mix(mix(static_cast<std::uint32_t>(tree), feature), side);
  return remembered_[(hash ^ hash >> 32) & (kRemembered - 1)];
}

TreeStore::Id TreeStore::restricted(Id tree, const HalfSpace& half) {
  if (!may_split(tree, half.feature)) return tree;
  const std::int32_t side = 2 * half.level + half.below;
  Remembered& slot = remembered(tree, half.feature, side);
  if (slot.tree != tree || slot.feature != half.feature || slot.side != side)
    slot = {tree, half.feature, side, restrict_uncached(tree, half)};
  return slot.result;
}

TreeStore::Id TreeStore::restricted_to(Id tree, int feature, ValueSets::Id values) {
  if (!may_split(tree, feature)) return tree;
  Remembered& slot = remembered(tree, feature, values);
  if (slot.tree != tree || slot.feature != feature || slot.side != values)
    slot = {tree, feature, values, restrict_to_uncached(tree, feature, values)};
  return slot.result;
}

void TreeStore::begin_restriction() {
  stamp_of_.resize(2 * nodes_.size());
  result_of_.resize(2 * nodes_.size());
  if (++stamp_ == 0) {
    std::fill(stamp_of_.begin(), stamp_of_.end(), 0);
    stamp_ = 1;
  }
}

TreeStore::Id TreeStore::restrict_to_uncached(Id tree, int j, ValueSets::Id values) {
  begin_restriction();
  auto known = [&](Id id, Id& result) {
    if (!may_split(id, j)) {
      result = id;
    } else if (stamp_of_[id] == stamp_) {
      result = result_of_[id];
    } else {
      stack_.push_back(id);
      return false;
    }
    return true;
  };
  stack_.assign(1, tree);
  while (!stack_.empty()) {
    const Id id = stack_.back();
    if (stamp_of_[id] == stamp_) {  // met on another way in the meantime
      stack_.pop_back();
      continue;
    }
    const Node node = nodes_[id];
    Id left = node.left, right = node.right, result = -1;
    bool ready = true;
    std::int32_t level = node.level;
    bool goes_left = true, goes_right = true;
    if (node.feature == j) {
      ValueSets& sets = sets_[j];
      const int test = sets.test_of_pair(node.level);
      const ValueSets::Id met = sets.common(sets.set_of_pair(node.level), values);
      goes_left = sets.part(met, test, true) != ValueSets::kEmpty;
      goes_right = sets.part(met, test, false) != ValueSets::kEmpty;
      level = sets.pair(met, test);
    }
    if (goes_left) ready = known(node.left, left);
    if (goes_right) ready &= known(node.right, right);
    if (!ready) continue;
    if (goes_left && goes_right)
      result = make(node.feature, level, node.missing_left, left, right);
    else
      result = goes_left ? left : right;
    stack_.pop_back();
    stamp_of_[id] = stamp_;
    result_of_[id] = result;
  }
  return result_of_[tree];
}

TreeStore::Id TreeStore::restrict_uncached(Id tree, const HalfSpace& half) {
  const int j = half.feature, h = half.level;
  const int last = static_cast<int>(levels_[j].size()) - 1;
  const bool nan_alone = !half.below && ensemble_.nan_features[j] && h == last;
  begin_restriction();
  // The result for a subtree if it is known; otherwise it is put on the stack.
  auto known = [&](Id id, bool to_nan, Id& result) {
    const std::size_t item = 2 * static_cast<std::size_t>(id) + to_nan;
    if (!may_split(id, j)) {
      result = id;
    } else if (stamp_of_[item] == stamp_) {
      result = result_of_[item];
    } else {
      stack_.push_back(static_cast<std::int32_t>(item));
      return false;
    }
    return true;
  };
  // A stack of our own: a tree may be deeper than the machine's stack.
  stack_.assign(1, 2 * tree + nan_alone);
  while (!stack_.empty()) {
    const std::int32_t item = stack_.back();
    if (stamp_of_[item] == stamp_) {  // met on another way in the meantime
      stack_.pop_back();
      continue;
    }
    const bool to_nan = item & 1;
    const Node node = nodes_[item / 2];
    Id left = node.left, right = node.right, result = -1;
    bool ready = true;
    if (node.feature != j) {
      ready = known(node.left, to_nan, left);
      ready &= known(node.right, to_nan, right);
      if (ready) result = make(node.feature, node.level, node.missing_left, left, right);
    } else if (to_nan) {
      ready = known(node.missing_left ? node.left : node.right, true, result);
    } else if (half.below) {
      if (node.level >= h) {
        ready = known(node.left, false, result);
      } else {
        // Without NaN the left side lies below its split's level, and so does not change.
        if (node.missing_left) ready = known(node.left, false, left);
        ready &= known(node.right, false, right);
        if (ready) result = make(j, node.level, false, left, right);
      }
    } else if (node.level > h) {
      ready = known(node.left, false, left);
      if (ready) result = make(j, node.level, node.missing_left, left, right);
    } else if (!node.missing_left) {
      ready = known(node.right, false, result);
    } else {
      // All numbers go right, NaN goes left: a split of numbers from NaN.
      ready = known(node.left, true, left);
      ready &= known(node.right, false, right);
      if (ready) result = make(j, last, false, right, left);
    }
    if (!ready) continue;
    stack_.pop_back();
    stamp_of_[item] = stamp_;
    result_of_[item] = result;
  }
  return result_of_[2 * static_cast<std::size_t>(tree) + nan_alone];
}

const double* TreeStore::compute_gains(int candidate, Id tree) {
  Gains& gains = gains_[candidate];
  gains.row.resize(nodes_.size(), -1);
  stack_.assign(1, tree);
  while (!stack_.empty()) {
    const Id id = stack_.back();
    const Node& node = nodes_[id];
    if (gains.row[id] >= 0) {
      stack_.pop_back();
      continue;
    }
    if (node.feature >= 0) {
      const std::size_t waiting = stack_.size();
      if (gains.row[node.left] < 0) stack_.push_back(node.left);
      if (gains.row[node.right] < 0) stack_.push_back(node.right);
      if (stack_.size() > waiting) continue;
    }
    stack_.pop_back();
    const std::size_t at = gains.data.size();
    gains.data.resize(at + n_gains_);
    gains.row[id] = static_cast<std::int32_t>(at / n_gains_);
    double* gain = gains.data.data() + at;
    if (node.feature >= 0) {
      const double *left = row(gains, node.left), *right = row(gains, node.right);
      for (int k = 0; k < n_gains_; ++k) gain[k] = std::max(left[k], right[k]);
    } else if (ensemble_.combination != nullptr) {
      const double* value = ensemble_.leaf_value(node.corner);
      for (int k = 0; k < n_gains_; ++k) gain[k] = k % 2 == 0 ? value[k / 2] : -value[k / 2];
    } else {
      const double* value = ensemble_.leaf_value(node.corner);
      for (int k = 0; k < ensemble_.n_classes; ++k)
        if (k != candidate)
          gain[k] = ensemble_.n_outputs > 1 ? value[k] - value[candidate] : candidate == 0 ? value[0] : -value[0];
    }
  }
  return row(gains, tree);
}

void TreeStore::collect(Id mark, std::span<std::vector<Id>* const> live) {
  std::vector<Id> number(nodes_.size() - mark, -1);  // -1: not reached; afterwards the new number
  for (const std::vector<Id>* trees : live)
    for (const Id id : *trees)
      if (id >= mark) number[id - mark] = 0;
  // Children have smaller numbers: one sweep down reaches everything, one sweep up renumbers it.
  for (Id id = size() - 1; id >= mark; --id)
    if (number[id - mark] == 0 && !is_leaf(id))
      for (const Id child : {nodes_[id].left, nodes_[id].right})
        if (child >= mark) number[child - mark] = 0;
  auto renumbered = [&](Id id) { return id < mark ? id : number[id - mark]; };
  Interner kept(mark);
  for (Id id = 0; id < mark; ++id) kept.intern(interner_.key(id));
  Id next = mark;
  for (Id id = mark; id < size(); ++id) {
    if (number[id - mark] < 0) continue;
    Node node = nodes_[id];  // no leaf: those were all imported
    node.left = renumbered(node.left);
    node.right = renumbered(node.right);
    const std::int32_t key[] = {node.feature, 2 * node.level + node.missing_left, node.left, node.right};
    kept.intern(key);
    nodes_[next] = node;
    number[id - mark] = next++;
  }
  nodes_.resize(next);
  interner_ = std::move(kept);
  for (std::vector<Id>* trees : live)
    for (Id& id : *trees) id = renumbered(id);
  gains_.assign(ensemble_.n_classes, {});
  stamp_of_.clear();
  result_of_.clear();
  std::fill(remembered_.begin(), remembered_.end(), Remembered{});
}

}  // namespace onetree
