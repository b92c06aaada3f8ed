#include "tree/solution.hpp"

#include <algorithm>

namespace onetree {

std::int32_t FlatTree::add_leaf(int leaf_class_) {
  feature.push_back(-1);
  threshold.push_back(0);
  left.push_back(-1);
  right.push_back(-1);
  leaf_class.push_back(leaf_class_);
  return static_cast<std::int32_t>(feature.size()) - 1;
}

std::int32_t FlatTree::add_split(int feature_, double threshold_) {
  feature.push_back(feature_);
  threshold.push_back(threshold_);
  left.push_back(-1);
  right.push_back(-1);
  leaf_class.push_back(-1);
  return static_cast<std::int32_t>(feature.size()) - 1;
}

std::int64_t FlatTree::n_leaves() const {
  std::vector<std::int64_t> below(feature.size(), 1);
  for (std::size_t node = feature.size(); node-- > 0;)  // children come after their parents
    if (feature[node] >= 0) below[node] = below[left[node]] + below[right[node]];
  return below[0];
}

std::int64_t FlatTree::depth() const {
  std::vector<std::int64_t> depth_of(feature.size(), 0);
  std::int64_t deepest = 0;
  for (std::size_t node = 0; node < feature.size(); ++node) {  // parents come before children
    deepest = std::max(deepest, depth_of[node]);
    if (feature[node] < 0) continue;
    for (const std::int32_t child : {left[node], right[node]})
      depth_of[child] = std::max(depth_of[child], depth_of[node] + 1);
  }
  return deepest;
}

}  // namespace onetree
