#include "tree/shared_tree.hpp"

#include <algorithm>
#include <cstring>

namespace onetree {

SharedTree::Id SharedTree::make(std::int32_t feature, double threshold, std::int32_t left, std::int32_t right) {
  std::int32_t key[5] = {feature, 0, 0, left, right};
  std::memcpy(&key[1], &threshold, sizeof threshold);
  const auto [id, is_new] = interner_.intern(key);
  if (is_new) {
    leaves_.push_back(feature < 0 ? 1 : leaves_[left] + leaves_[right]);
    depth_.push_back(feature < 0 ? 0 : 1 + std::max(depth_[left], depth_[right]));
  }
  return id;
}

SharedTree::Id SharedTree::split(int feature, double threshold, Id left, Id right) {
  return left == right ? left : make(feature, threshold, left, right);
}

SharedTree::Id SharedTree::import(const FlatTree& tree) {
  std::vector<Id> id_of(tree.feature.size());
  for (std::size_t node = tree.feature.size(); node-- > 0;)
    id_of[node] = tree.feature[node] < 0 ? leaf(tree.leaf_class[node])
                                         : split(tree.feature[node], tree.threshold[node], id_of[tree.left[node]],
                                                 id_of[tree.right[node]]);
  return id_of[0];
}

FlatTree SharedTree::flatten(Id root) const {
  // Children have smaller numbers than their parents.
  std::vector<std::int32_t> place(root + 1, -1);
  place[root] = 0;
  FlatTree tree;
  for (Id id = root; id >= 0; --id) {
    if (place[id] < 0) continue;
    const std::span<const std::int32_t> key = interner_.key(id);
    double threshold;
    std::memcpy(&threshold, &key[1], sizeof threshold);
    place[id] = key[0] < 0 ? tree.add_leaf(key[3]) : tree.add_split(key[0], threshold);
    if (key[0] >= 0) place[key[3]] = place[key[4]] = 0;
  }
  for (Id id = root; id >= 0; --id) {
    const std::span<const std::int32_t> key = interner_.key(id);
    if (place[id] < 0 || key[0] < 0) continue;
    tree.left[place[id]] = place[key[3]];
    tree.right[place[id]] = place[key[4]];
  }
  return tree;
}

}  // namespace onetree
