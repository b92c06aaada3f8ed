#include "tree/tree_check.hpp"

#include <limits>
#include <vector>

namespace onetree {

namespace {

bool is_later_node(std::int32_t child, std::size_t node, std::size_t n_nodes) {
  return child >= 0 && static_cast<std::size_t>(child) > node && static_cast<std::size_t>(child) < n_nodes;
}

}  // namespace

FoundDefect find_defect(const NodesView& tree, std::int64_t n_features, std::int64_t n_classes) {
  const std::size_t n_nodes = tree.n_nodes;
  FoundDefect found;
  std::vector<bool> has_parent(n_nodes);
  if (n_nodes > 0) has_parent[0] = true;
  const auto defect_of = [&](std::size_t node) {
    const std::int32_t left = tree.left[node], right = tree.right[node], own = tree.leaf_value[node];
    if (tree.feature[node] == -1) {
      if (left != -1 || right != -1) return Defect::kLeafChild;
      return own < 0 || own >= n_classes ? Defect::kLeafClass : Defect::kNone;
    }
    if (tree.feature[node] < 0 || tree.feature[node] >= n_features) return Defect::kFeature;
    if (!is_later_node(left, node, n_nodes)) return Defect::kLeft;
    if (!is_later_node(right, node, n_nodes)) return Defect::kRight;
    has_parent[static_cast<std::size_t>(left)] = has_parent[static_cast<std::size_t>(right)] = true;
    if (!(tree.threshold[node] > -std::numeric_limits<double>::infinity())) return Defect::kThreshold;
    return own != -1 ? Defect::kInnerClass : Defect::kNone;
  };
  for (std::size_t node = 0; node < n_nodes; ++node) {
    const Defect defect = defect_of(node);
    if (defect != Defect::kNone && (found.defect == Defect::kNone || defect < found.defect)) found = {defect, node};
  }
  for (std::size_t node = 0; node < n_nodes && found.defect == Defect::kNone; ++node)
    if (!has_parent[node]) found = {Defect::kUnreachable, node};
  return found;
}

}  // namespace onetree
