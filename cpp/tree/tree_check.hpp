// Whether arrays are a tree: what everything that walks down one relies on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tree/walk.hpp"

namespace onetree {

enum class Defect { kNone, kFeature, kLeft, kRight, kThreshold, kInnerClass, kLeafChild, kLeafClass, kUnreachable };

struct FoundDefect {
  Defect defect = Defect::kNone;
  std::size_t node = 0;
};

// The first defect in the order above, at the first node that has it. Children come after their parents, so there is
// no cycle, and a node with a parent is reached from the root; subtrees may be shared.
FoundDefect find_defect(const NodesView& tree, std::int64_t n_features, std::int64_t n_classes);

}  // namespace onetree
