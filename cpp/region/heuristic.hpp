// A faithful tree where the optimum is out of reach.
//
// Regions are cut, top down, where sampled cells say that it matters most, until the grid of what is left is small
// enough for the interval DP: the bottom of the tree is optimal, only its top is chosen by rule.
#pragma once

#include <cstdint>

#include "base/control.hpp"
#include "model/ensemble.hpp"
#include "region/score_bounds.hpp"
#include "tree/solution.hpp"

namespace onetree {

struct HeuristicResult {
  Solution solution;
  std::int64_t regions = 0, grids = 0;
  std::size_t peak_bytes = 0;
  double max_boxes = 0;  // of a grid that went to the exact engine
};

// Throws LimitReached when time or memory ends before the tree is whole.
HeuristicResult heuristic_tree(const Ensemble& ensemble, Objective objective, double max_boxes, std::uint64_t seed,
                               Control& control);
// A tree for scores; the classes of its leaves are numbers of `leaves`.
HeuristicResult heuristic_tree(const Ensemble& ensemble, const Scoring& scoring, ScoreLeaves& leaves,
                               Objective objective, double max_boxes, std::uint64_t seed, Control& control);

}  // namespace onetree
