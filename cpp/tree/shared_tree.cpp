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

// Numbers do not depend on the order in which the nodes were made.
FlatTree SharedTree::flatten(Id root) const {
  constexpr std::int32_t kUnseen = -1, kOpen = -2;
  std::vector<std::int32_t> place(root + 1, kUnseen);
  std::vector<Id> todo{root}, children_first;
  while (!todo.empty()) {
    const Id id = todo.back();
    const std::span<const std::int32_t> key = interner_.key(id);
    if (place[id] == kUnseen && key[0] >= 0) {
      place[id] = kOpen;
      for (const Id child : {key[3], key[4]})  // the right one comes first here, and so last in the end
        if (place[child] == kUnseen) todo.push_back(child);
      continue;
    }
    todo.pop_back();
    if (place[id] >= 0) continue;  // met on another way in the meantime
    place[id] = static_cast<std::int32_t>(children_first.size());
    children_first.push_back(id);
  }
  FlatTree tree;
  const auto last = static_cast<std::int32_t>(children_first.size()) - 1;
  for (std::int32_t at = last; at >= 0; --at) {
    const std::span<const std::int32_t> key = interner_.key(children_first[at]);
    double threshold;
    std::memcpy(&threshold, &key[1], sizeof threshold);
    if (key[0] < 0) {
      tree.add_leaf(key[3]);
      continue;
    }
    const std::int32_t node = tree.add_split(key[0], threshold);
    tree.left[node] = last - place[key[3]];
    tree.right[node] = last - place[key[4]];
  }
  return tree;
}

}  // namespace onetree
