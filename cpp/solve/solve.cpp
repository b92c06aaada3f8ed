#include "solve/solve.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "bound/tree_bounds.hpp"
#include "grid/grid.hpp"
#include "grid/set_family.hpp"
#include "region/heuristic.hpp"
#include "region/planner.hpp"
#include "search/branch_and_bound.hpp"
#include "search/fooling.hpp"
#include "search/greedy.hpp"
#include "table/any_table.hpp"

namespace onetree {

namespace {

// Below this a search takes no longer than the first tree would, so that tree is made only if a limit asks for it.
constexpr double kFewBoxes = 2e6;
// From here on a tree that is good from the start is worth its time when the time is limited.
constexpr double kManyBoxes = 1e7;
constexpr double kBoxesOfFirstTree = 1e6;  // that the heuristic leaves to the exact engine at a time
// That the search leaves to the table. A fifth fewer states for the same time; from 1e5 on, half of them for a third
// more time.
constexpr double kBoxesAtBottom = 1e4;
constexpr int kMostSetsToCount = 4096;  // of an axis, for the statistics
constexpr double kPatience = 60;        // seconds
constexpr double kMostTimeForGrid = 0.5;
constexpr double kMostTimeForBounds = 0.25;  // of what is left

// Which of two trees the objective prefers.
bool is_better(const Solution& a, const Solution& b, Objective objective) {
  const bool leaves_first = objective == Objective::kLeaves || objective == Objective::kLeavesDepth;
  return leaves_first ? std::pair(a.leaves, a.depth) < std::pair(b.leaves, b.depth)
                      : std::pair(a.depth, a.leaves) < std::pair(b.depth, b.leaves);
}

// One grid, one objective, and the best that is known of it so far.
class Search {
 public:
  Search(const Ensemble& ensemble, Objective objective, Grid grid, Control& control)
      : ensemble_(ensemble), objective_(objective), control_(control), grid_(std::move(grid)) {
    statistics_.cells = static_cast<double>(grid_.n_cells());
    statistics_.boxes = grid_.has_sets() ? count_set_boxes(grid_, kMostSetsToCount).count : count_boxes(grid_);
  }

  // Returns whether the optimum is known without any search.
  bool is_settled() {
    if (!grid_.is_line() || statistics_.boxes < kFewBoxes) return false;
    first();
    record("line", 0, 0);
    return true;
  }

  // Returns whether the optimum is proven.
  bool by_interval_dp() {
    if (control_.is_limited() && statistics_.boxes > kManyBoxes) improve_first();
    std::int64_t max_splits = static_cast<std::int64_t>(grid_.n_cells()) - 1;
    if (statistics_.boxes > kFewBoxes && objective_ != Objective::kDepth) max_splits = first().leaves - 1;
    return with_table(max_splits, [&](auto& dp) { best_ = dp.solve(objective_); });
  }

  void by_branch_and_bound(Engine engine) {
    if (!control_.time_is_up() && statistics_.boxes > kFewBoxes) improve_first();
    BranchAndBound<ClassCells> search(grid_, first(), control_);
    if (engine == Engine::kCombined) search.use_tables_below(kBoxesAtBottom);
    Solution found = search.solve(objective_);
    found.depth_bound = std::max(found.depth_bound, best_->depth_bound);
    found.leaves_bound = std::max(found.leaves_bound, best_->leaves_bound);
    best_ = std::move(found);
    record("branch-and-bound", search.states(), search.peak_bytes());
  }

  // Returns whether the front is complete.
  bool front(std::vector<Solution>& solutions) {
    if (is_settled()) return true;
    if (control_.is_limited() && statistics_.boxes > kManyBoxes) improve_first();
    return with_table(first().leaves - 1, [&](auto& dp) { dp.pareto_front(solutions); });
  }

  Outcome outcome(std::vector<Solution> solutions = {}) {
    Outcome outcome;
    outcome.solutions = std::move(solutions);
    if (outcome.solutions.empty()) {
      first();
      outcome.solutions.push_back(*std::move(best_));
    }
    for (Solution& solution : outcome.solutions)
      rename_leaves(solution.tree, [this](std::int32_t cell_class) { return grid_.names[cell_class]; });
    statistics_.seconds = control_.elapsed();
    statistics_.work = control_.work();
    outcome.statistics = std::move(statistics_);
    return outcome;
  }

 private:
  // Between the classes of the ensemble and those of the grid, where these are not the same.
  template <typename NameOf>
  void rename_leaves(FlatTree& tree, const NameOf& name_of) const {
    if (grid_.names.empty()) return;
    for (std::int32_t& leaf_class : tree.leaf_class)
      if (leaf_class >= 0) leaf_class = static_cast<std::int32_t>(name_of(leaf_class));
  }

  // Runs a job with the table that suits the grid; whether it came to its end.
  template <typename Job>
  bool with_table(std::int64_t max_splits, Job&& job) {
    const auto run = [&](auto& dp) {
      bool done = true;
      try {
        job(dp);
      } catch (const LimitReached&) {
        done = false;
      }
      record("interval-dp", dp.states(), dp.peak_bytes());
      return done;
    };
    try {
      return onetree::with_table(grid_, max_splits, control_, run);
    } catch (const GridTooLarge&) {  // an axis of countless sets
    } catch (const LimitReached&) {
    }
    record("interval-dp", 0, 0);
    return false;
  }

  // A faithful tree, made when it is first asked for; its bounds hold without any search, since every essential
  // hyperplane is used by some node.
  const Solution& first() {
    if (!best_) {
      Control unhurried;  // where time is up a small grid still gets its tree
      best_.emplace();
      Control& pace = statistics_.boxes > kFewBoxes ? control_ : unhurried;
      best_->tree = grid_.is_line() ? line_tree(grid_) : greedy_tree(grid_, pace);
      best_->depth = best_->tree.depth();
      best_->leaves = best_->tree.n_leaves();
      std::uint64_t n_hyperplanes = 0;
      for (const Axis& axis : grid_.axes) n_hyperplanes += axis.set ? 1 : axis.thresholds.size();
      best_->depth_bound = std::bit_width(n_hyperplanes);
      best_->leaves_bound = static_cast<std::int64_t>(n_hyperplanes) + 1;
      best_->optimal = grid_.is_line();
    }
    tell_bounds();
    return *best_;
  }

  // For progress reports: the objective's first measure.
  void tell_bounds() {
    const bool leaves_first = objective_ == Objective::kLeaves || objective_ == Objective::kLeavesDepth;
    control_.known_lower = leaves_first ? best_->leaves_bound : best_->depth_bound;
    control_.known_upper = leaves_first ? best_->leaves : best_->depth;
  }

  // Where a limit may well come first: a better tree, and better bounds from the cells alone.
  void improve_first() {
    const Solution& known = first();
    try {
      bound_by_cells();
      tell_bounds();
      Solution found = heuristic_tree(ensemble_, objective_, kBoxesOfFirstTree, 0, control_).solution;
      found.optimal = false;
      rename_leaves(found.tree, [this](std::int32_t leaf_class) {
        return std::lower_bound(grid_.names.begin(), grid_.names.end(), leaf_class) - grid_.names.begin();
      });
      bound_by_tree(found.tree);
      found.depth_bound = known.depth_bound;
      found.leaves_bound = known.leaves_bound;
      if (is_better(found, known, objective_)) best_ = std::move(found);
      tell_bounds();
    } catch (const LimitReached&) {
      // The greedy tree stays.
    }
  }

  void bound_by_cells() {
    const CellBounds bounds =
        bounds_of_grid(grid_, control_.memory_limit, [this] { control_.check("first tree", -1, -1, 0); });
    best_->leaves_bound = std::max<std::int64_t>(best_->leaves_bound, bounds.leaves);
    best_->depth_bound = std::max<std::int64_t>(best_->depth_bound, bounds.depth);
  }

  void bound_by_tree(const FlatTree& tree) {
    Control within = control_;
    within.time_limit = part_of(control_.time_limit, control_.elapsed());
    within.work_limit = part_of(control_.work_limit, control_.work());
    const TreeBounds bounds = bounds_from_tree(tree, ensemble_.sets, within);
    best_->leaves_bound = std::max(best_->leaves_bound, bounds.leaves);
    best_->depth_bound = std::max(best_->depth_bound, bounds.depth);
  }
  template <typename Amount>
  static Amount part_of(Amount limit, Amount used) {
    return limit > 0 ? used + static_cast<Amount>(kMostTimeForBounds * static_cast<double>(limit - used)) : 0;
  }

  void record(const char* engine, std::int64_t states, std::size_t peak_bytes) {
    statistics_.engine = engine;
    statistics_.states = states;
    statistics_.peak_bytes = std::max(statistics_.peak_bytes, peak_bytes);
  }

  const Ensemble& ensemble_;
  Objective objective_;
  Control& control_;
  Grid grid_;
  std::optional<Solution> best_;
  Statistics statistics_;
};

}  // namespace

namespace {

// Where the caller has another way, a grid that takes long must leave it some of the time.
Grid quick_grid(const Ensemble& ensemble, Control& control) {
  Control within = control;
  within.time_limit *= kMostTimeForGrid;
  try {
    return build_grid(ensemble, within);
  } catch (const LimitReached&) {
    if (control.time_is_up()) throw;
    throw GridTooLarge("it takes more than half of the time to look at");
  }
}

}  // namespace

Outcome solve(const Ensemble& ensemble, Objective objective, Engine engine, Control& control) {
  Grid grid = engine == Engine::kQuickTable ? quick_grid(ensemble, control) : build_grid(ensemble, control);
  Search search(ensemble, objective, std::move(grid), control);
  // The table is the faster way wherever it fits in memory; otherwise the search takes what time is left.
  const bool by_table = engine == Engine::kAuto || engine == Engine::kIntervalDp || engine == Engine::kQuickTable;
  if (engine == Engine::kQuickTable) control.patience = control.time_limit > 0 ? control.time_limit : kPatience;
  // An engine that is asked for by name searches, so that there is something to compare with the others.
  const bool is_free = engine == Engine::kAuto || engine == Engine::kQuickTable;
  const bool done = (is_free && search.is_settled()) || (by_table && search.by_interval_dp());
  if (engine == Engine::kAuto && !done && !control.time_is_up()) engine = Engine::kCombined;
  if (!done && (engine == Engine::kBranchAndBound || engine == Engine::kCombined)) search.by_branch_and_bound(engine);
  return search.outcome();
}

Outcome pareto_front(const Ensemble& ensemble, Control& control) {
  Search search(ensemble, Objective::kDepthLeaves, build_grid(ensemble, control), control);
  std::vector<Solution> front;
  const bool is_complete = search.front(front);
  Outcome outcome = search.outcome(std::move(front));
  outcome.is_complete = is_complete;
  return outcome;
}

namespace {

Outcome outcome_of(HeuristicResult&& result, const Control& control) {
  Outcome outcome;
  outcome.solutions.push_back(std::move(result.solution));
  outcome.statistics.engine = "heuristic";
  outcome.statistics.states = result.regions;
  outcome.statistics.peak_bytes = result.peak_bytes;
  outcome.statistics.seconds = control.elapsed();
  outcome.statistics.work = control.work();
  return outcome;
}

}  // namespace

Outcome heuristic(const Ensemble& ensemble, Objective objective, double max_boxes, std::uint64_t seed,
                  Control& control) {
  return outcome_of(heuristic_tree(ensemble, objective, max_boxes, seed, control), control);
}

Outcome score_heuristic(const Ensemble& ensemble, const Scoring& scoring, Objective objective, double max_boxes,
                        std::uint64_t seed, Control& control) {
  ScoreLeaves leaves(scoring.n_columns);
  Outcome outcome = outcome_of(heuristic_tree(ensemble, scoring, leaves, objective, max_boxes, seed, control), control);
  ScoreLeaves::Rows rows = leaves.rows_of(outcome.solutions[0].tree);
  outcome.n_columns = scoring.n_columns;
  outcome.leaf_least = std::move(rows.least);
  outcome.leaf_most = std::move(rows.most);
  return outcome;
}

}  // namespace onetree
