// What the leaves of all trees have to add up to for one class to be possible beside another, whatever the rounding.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ensemble.hpp"

namespace onetree::question {

// "Class `winner` is not beaten by `rival`": the gains of the leaves, one per tree, reach `needed` at least. What falls
// short is proven impossible; what reaches it may still be a near-tie that only a whole evaluation decides.
struct Demand {
  int winner, rival;
  double needed;
  std::vector<double> gain;  // per node: by how much a leaf favours the winner
};

// Per wanted class, the demands that it has on every class that is not wanted. An input of a wanted class meets all
// demands of one of them.
std::vector<std::vector<Demand>> demands(const Ensemble& ensemble, const std::vector<bool>& wanted);

}  // namespace onetree::question
