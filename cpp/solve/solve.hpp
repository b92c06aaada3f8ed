// From an ensemble in memory to its tree: chooses the engine, keeps the limits.
#pragma once

#include <string>
#include <vector>

#include "base/control.hpp"
#include "grid/score_grid.hpp"
#include "model/ensemble.hpp"
#include "region/score_bounds.hpp"
#include "tree/solution.hpp"

namespace onetree {

enum class Engine {
  kAuto,  // the table if it fits in memory, otherwise combined
  kIntervalDp,
  kBranchAndBound,
  kCombined,    // the search, with tables at its bottom
  kQuickTable,  // the table, if it fits and is expected to be done in time, or in a minute where there is no limit
};

struct Outcome {
  std::vector<Solution> solutions;  // one, or the Pareto front from the shallowest on
  Statistics statistics;
  bool is_complete = true;  // a front that a limit cut short: what is there is proven, or a single tree that is not
  // Where leaves carry numbers, the class of a leaf is a row here: what it may carry in each column, both inclusive.
  std::vector<double> leaf_least{}, leaf_most{};
  int n_columns = 0;
};

// Throws GridTooLarge or LimitReached when not even a first tree could be had within the limits.
Outcome solve(const Ensemble& ensemble, Objective objective, Engine engine, Control& control);
Outcome pareto_front(const Ensemble& ensemble, Control& control);

// The same for trees whose leaves carry numbers that all their cells admit. Throws std::invalid_argument, too, where
// `admit` breaks its promise.
Outcome solve_scores(const Ensemble& ensemble, int n_columns, const Admit& admit, Objective objective, Engine engine,
                     Control& control);
Outcome score_front(const Ensemble& ensemble, int n_columns, const Admit& admit, Control& control);

// A faithful tree of no proven size; throws LimitReached when it could not be completed.
Outcome heuristic(const Ensemble& ensemble, Objective objective, double max_boxes, std::uint64_t seed,
                  Control& control);
Outcome score_heuristic(const Ensemble& ensemble, const Scoring& scoring, Objective objective, double max_boxes,
                        std::uint64_t seed, Control& control);

}  // namespace onetree
