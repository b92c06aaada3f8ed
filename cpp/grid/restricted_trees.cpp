#include "grid/restricted_trees.hpp"

#include <algorithm>

namespace onetree {

namespace {

constexpr std::size_t kEntriesBetweenChecks = std::size_t{1} << 22;

}  // namespace

RestrictedTrees::RestrictedTrees(const Ensemble& ensemble, const Levels& levels,
                                 const std::vector<int>& layer_of_feature, Control& control)
    : ensemble_(ensemble),
      levels_(levels),
      layer_of_feature_(layer_of_feature),
      control_(control),
      next_check_(kEntriesBetweenChecks) {
  import_trees();
}

void RestrictedTrees::import_trees() {
  for (int j = 0; j < ensemble_.n_features; ++j) {
    const int layer = layer_of_feature_[j];
    if (layer < 0) continue;
    if (slabs_of_layer_.size() <= static_cast<std::size_t>(layer)) {
      slabs_of_layer_.resize(layer + 1);
      feature_of_layer_.resize(layer + 1);
    }
    slabs_of_layer_[layer] = n_slabs_of(ensemble_, levels_, j);
    feature_of_layer_[layer] = j;
  }
  std::vector<std::int32_t> id_of(ensemble_.feature.size(), -1);
  std::vector<std::int32_t> todo;
  for (const std::int32_t root : ensemble_.roots) {
    todo.push_back(root);
    while (!todo.empty()) {
      const std::int32_t node = todo.back();
      const int feature = ensemble_.feature[node];
      if (feature < 0) {
        id_of[node] = make_leaf(node);
        todo.pop_back();
        continue;
      }
      const std::int32_t left = id_of[ensemble_.left[node]], right = id_of[ensemble_.right[node]];
      if (left < 0) todo.push_back(ensemble_.left[node]);
      if (right < 0) todo.push_back(ensemble_.right[node]);
      if (left < 0 || right < 0) continue;
      const std::vector<double>& t = levels_[feature];
      const int level = static_cast<int>(std::lower_bound(t.begin(), t.end(), ensemble_.threshold[node]) - t.begin());
      if (level == static_cast<int>(t.size()))
        id_of[node] = left;  // x <= +inf where NaN is no input
      else
        id_of[node] = make(feature, level, ensemble_.missing_left[node] != 0, left, right);
      todo.pop_back();
    }
    roots_.push_back(id_of[root]);
  }
}

std::int32_t RestrictedTrees::make(int feature, int level, bool missing_left, std::int32_t left, std::int32_t right) {
  if (left == right) return left;
  const std::int32_t key[] = {feature, 2 * level + missing_left, left, right};
  const auto [id, is_new] = interner_.intern(key);
  if (is_new) {
    const int layer = std::min({layer_of_feature_[feature], nodes_[left].layer, nodes_[right].layer});
    nodes_.push_back({layer, feature, level, missing_left, left, right, -1});
    for (int k = 0; k < ensemble_.n_outputs; ++k) bounds_.push_back(std::min(low(left)[k], low(right)[k]));
    for (int k = 0; k < ensemble_.n_outputs; ++k) bounds_.push_back(std::max(high(left)[k], high(right)[k]));
  }
  return id;
}

std::int32_t RestrictedTrees::make_leaf(std::int32_t ensemble_node) {
  ensemble_.leaf_key(ensemble_node, key_);
  const auto [id, is_new] = interner_.intern(key_);
  if (is_new) {
    const double* value = ensemble_.leaf_value(ensemble_node);
    nodes_.push_back({kLeafLayer, -1, 0, false, ensemble_node, -1, -1});
    for (int side = 0; side < 2; ++side) bounds_.insert(bounds_.end(), value, value + ensemble_.n_outputs);
  }
  return id;
}

bool RestrictedTrees::goes_left(const Node& node, int slab) const {
  if (ensemble_.is_set(node.feature))
    return ensemble_.sets[node.feature].contains(static_cast<int>(levels_[node.feature][node.level]), slab);
  const bool is_nan = ensemble_.nan_features[node.feature] && slab == static_cast<int>(levels_[node.feature].size());
  return is_nan ? node.missing_left : slab <= node.level;
}

// Hands out every slab once, with the tree that is left there below the splits on the layer's own feature. Goes down
// them with ranges of slabs, so that a chain of a hundred thousand costs one row and not one for each of its nodes.
template <typename Use>
void RestrictedTrees::spread(std::int32_t top, int layer, Use&& use) {
  const int feature = feature_of_layer_[layer], n_slabs = slabs_of_layer_[layer];
  const bool is_set = ensemble_.is_set(feature);
  const int n_numbers = is_set ? 0 : n_slabs - (ensemble_.nan_features[feature] ? 1 : 0);
  auto goes_on = [&](const Node& node) { return node.feature == feature && node.row < 0; };
  parts_.clear();
  if (n_numbers > 0) parts_.push_back({top, 0, n_numbers - 1});
  while (!parts_.empty()) {
    const auto [id, first, last] = parts_.back();
    parts_.pop_back();
    const Node& node = nodes_[id];
    if (!goes_on(node)) {
      use(id, first, last);
      continue;
    }
    if (last > node.level) parts_.push_back({node.right, std::max(first, node.level + 1), last});
    if (first <= node.level) parts_.push_back({node.left, first, std::min(last, node.level)});
  }
  for (int slab = n_numbers; slab < n_slabs; ++slab) {  // NaN, or the values of a set axis
    std::int32_t id = top;
    while (goes_on(nodes_[id])) id = goes_left(nodes_[id], slab) ? nodes_[id].left : nodes_[id].right;
    use(id, slab, slab);
  }
}

// Puts on the stack what must have its row before `top` can have one; false if there is nothing.
bool RestrictedTrees::wait_for_rows(std::int32_t top) {
  const Node& node = nodes_[top];
  const std::size_t before = stack_.size();
  auto wait = [&](std::int32_t id) {
    if (nodes_[id].layer == node.layer && nodes_[id].row < 0) stack_.push_back(id);
  };
  if (node.feature == feature_of_layer_[node.layer]) {
    spread(top, node.layer, [&](std::int32_t id, int, int) { wait(id); });
  } else {
    wait(node.left);
    wait(node.right);
  }
  return stack_.size() > before;
}

std::size_t RestrictedTrees::new_row(int n_slabs) {
  const std::size_t at = rows_.size(), size = at + static_cast<std::size_t>(n_slabs);
  // Vectors that grow are there twice for a while.
  const std::size_t bytes = std::max(rows_.capacity(), size) * sizeof(rows_[0]) + nodes_.capacity() * sizeof(Node) +
                            bounds_.capacity() * sizeof(double) + interner_.bytes();
  if (2 * bytes > control_.memory_limit) throw GridTooLarge("its restricted trees alone pass the memory limit");
  if (at >= next_check_) {
    control_.check("grid", -1, -1, static_cast<std::int64_t>(nodes_.size()));
    next_check_ = at + kEntriesBetweenChecks;
  }
  rows_.resize(size);
  return at;
}

void RestrictedTrees::fill_row(std::int32_t id) {
  // A stack of our own: a tree may be deeper than the machine's stack.
  stack_.assign(1, id);
  while (!stack_.empty()) {
    const std::int32_t top = stack_.back();
    if (nodes_[top].row < 0 && wait_for_rows(top)) continue;
    stack_.pop_back();
    if (nodes_[top].row >= 0) continue;
    const Node node = nodes_[top];  // a copy: new nodes are made below
    const int n_slabs = slabs_of_layer_[node.layer];
    const std::size_t at = new_row(n_slabs);
    std::int32_t* row = rows_.data() + at;
    auto on_slab = [&](std::int32_t child, int slab) {
      return nodes_[child].layer == node.layer ? rows_[nodes_[child].row + slab] : child;
    };
    if (node.feature == feature_of_layer_[node.layer]) {
      spread(top, node.layer, [&](std::int32_t part, int first, int last) {
        for (int slab = first; slab <= last; ++slab) row[slab] = on_slab(part, slab);
      });
    } else {
      for (int slab = 0; slab < n_slabs; ++slab)
        row[slab] =
            make(node.feature, node.level, node.missing_left, on_slab(node.left, slab), on_slab(node.right, slab));
    }
    nodes_[top].row = static_cast<std::int64_t>(at);
  }
}

}  // namespace onetree
