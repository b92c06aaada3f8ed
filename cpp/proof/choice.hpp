// Which test a branch and bound takes next.
#pragma once

#include <vector>

#include "proof/box.hpp"
#include "proof/forest.hpp"

namespace onetree::proof {

struct Choice {
  Test test;
  double left, right;  // what is taken away on either side
};

// Among the tests at the roots, at least one, the one with the largest product of what it takes away on either side.
// More than `needed` is not counted. Sorts the splits.
Choice best_split(std::vector<Forest::Split>& splits, const Axes& axes, double needed);

}  // namespace onetree::proof
