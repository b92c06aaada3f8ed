#include "solve.hpp"

#include <algorithm>
#include <bit>

#include "greedy.hpp"
#include "grid.hpp"
#include "interval_dp.hpp"

namespace onetree {

namespace {

// What holds without any search: every essential hyperplane is used by some node.
Solution first_solution(const Grid& grid, Control& control) {
  Solution solution;
  solution.tree = greedy_tree(grid, control);
  solution.depth = solution.tree.depth();
  solution.leaves = solution.tree.n_leaves();
  std::uint64_t n_hyperplanes = 0;
  for (const Axis& axis : grid.axes) n_hyperplanes += axis.thresholds.size();
  solution.depth_bound = std::bit_width(n_hyperplanes);
  solution.leaves_bound = static_cast<std::int64_t>(n_hyperplanes) + 1;
  return solution;
}

Statistics statistics_of(const Grid& grid, const IntervalDp& dp, const Control& control) {
  Statistics statistics;
  statistics.cells = static_cast<double>(grid.n_cells());
  statistics.boxes = count_boxes(grid);
  statistics.states = dp.states();
  statistics.peak_bytes = dp.peak_bytes();
  statistics.engine = "interval-dp";
  statistics.seconds = control.elapsed();
  return statistics;
}

}  // namespace

Outcome solve(const Ensemble& ensemble, Objective objective, Engine, Control& control) {
  const Grid grid = build_grid(ensemble, control);
  Solution best = first_solution(grid, control);
  IntervalDp dp(grid, best.leaves - 1, control);
  try {
    best = dp.solve(objective);
  } catch (const LimitReached&) {
    // The first tree stays, with the bounds that hold anyway.
  }
  Outcome outcome;
  outcome.solutions.push_back(std::move(best));
  outcome.statistics = statistics_of(grid, dp, control);
  return outcome;
}

Outcome pareto_front(const Ensemble& ensemble, Control& control) {
  const Grid grid = build_grid(ensemble, control);
  IntervalDp dp(grid, greedy_tree(grid, control).n_leaves() - 1, control);
  Outcome outcome;
  outcome.solutions = dp.pareto_front();
  outcome.statistics = statistics_of(grid, dp, control);
  return outcome;
}

}  // namespace onetree
