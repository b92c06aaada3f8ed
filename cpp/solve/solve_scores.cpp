// Trees whose leaves carry numbers: the engines of solve.cpp, on a grid of what cells admit.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "grid/score_grid.hpp"
#include "grid/set_family.hpp"
#include "search/branch_and_bound.hpp"
#include "search/greedy.hpp"
#include "solve/solve.hpp"
#include "table/any_table.hpp"
#include "tree/leaf_ranges.hpp"

namespace onetree {

namespace {

constexpr double kFewBoxes = 2e6;  // below this a tree in hand takes no time to speak of
constexpr int kMostSetsToCount = 4096;
constexpr double kBoxesAtBottom = 1e4;  // that the search leaves to the table
constexpr double kPatience = 60;        // seconds

class ScoreSearch {
 public:
  ScoreSearch(Objective objective, ScoreGrid grid, Control& control)
      : objective_(objective), control_(control), grid_(std::move(grid)) {
    statistics_.cells = static_cast<double>(grid_.n_cells());
    statistics_.boxes = grid_.has_sets() ? count_set_boxes(grid_, kMostSetsToCount).count : count_boxes(grid_);
    leaves_bound_ = ScoreRanks(grid_).fewest_leaves();
  }

  // Returns whether the optimum is proven.
  bool by_table() {
    return with_table([&](auto& dp) { best_ = dp.solve(objective_); });
  }

  void by_branch_and_bound(Engine engine) {
    BranchAndBound<ScoreCells> search(grid_, first(), control_);
    if (engine == Engine::kCombined) search.use_tables_below(kBoxesAtBottom);
    Solution found = search.solve(objective_);
    found.depth_bound = std::max(found.depth_bound, best_->depth_bound);
    found.leaves_bound = std::max(found.leaves_bound, best_->leaves_bound);
    best_ = std::move(found);
    record("branch-and-bound", search.states(), search.peak_bytes());
  }

  // Returns whether the front is complete.
  bool front(std::vector<Solution>& solutions) {
    return with_table([&](auto& dp) { dp.pareto_front(solutions); });
  }

  Outcome outcome(std::vector<Solution> solutions = {}) {
    Outcome outcome;
    outcome.solutions = std::move(solutions);
    if (outcome.solutions.empty()) {
      first();
      outcome.solutions.push_back(*std::move(best_));
    }
    LeafRanges ranges(grid_);
    for (Solution& solution : outcome.solutions) ranges.number_leaves(solution.tree);
    outcome.n_columns = ranges.n_columns();
    outcome.leaf_least = ranges.take_least();
    outcome.leaf_most = ranges.take_most();
    statistics_.seconds = control_.elapsed();
    statistics_.work = control_.work();
    outcome.statistics = std::move(statistics_);
    return outcome;
  }

 private:
  // Runs a job with the table that suits the grid; whether it came to its end.
  template <typename Job>
  bool with_table(Job&& job) {
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
      // Greedy trees say little of how wide words must be: the narrowest are tried first.
      return onetree::with_table(grid_, leaves_bound_ - 1, control_, run);
    } catch (const GridTooLarge&) {  // an axis of countless sets
    } catch (const LimitReached&) {
    }
    record("interval-dp", 0, 0);
    return false;
  }

  // A faithful tree, made when it is first asked for. With a tolerance an essential hyperplane need not be used: the
  // bounds are those of cells that exclude each other.
  const Solution& first() {
    if (!best_) {
      Control unhurried;
      Control& pace = statistics_.boxes > kFewBoxes ? control_ : unhurried;
      best_.emplace();
      best_->tree = greedy_tree(grid_, pace);
      best_->depth = best_->tree.depth();
      best_->leaves = best_->tree.n_leaves();
      best_->leaves_bound = leaves_bound_;
      best_->depth_bound = std::bit_width(static_cast<std::uint64_t>(leaves_bound_ - 1));
    }
    const bool leaves_first = objective_ == Objective::kLeaves || objective_ == Objective::kLeavesDepth;
    control_.known_lower = leaves_first ? best_->leaves_bound : best_->depth_bound;
    control_.known_upper = leaves_first ? best_->leaves : best_->depth;
    return *best_;
  }

  void record(const char* engine, std::int64_t states, std::size_t peak_bytes) {
    statistics_.engine = engine;
    statistics_.states = states;
    statistics_.peak_bytes = std::max(statistics_.peak_bytes, peak_bytes);
  }

  Objective objective_;
  Control& control_;
  ScoreGrid grid_;
  std::int64_t leaves_bound_;
  std::optional<Solution> best_;
  Statistics statistics_;
};

}  // namespace

Outcome solve_scores(const Ensemble& ensemble, int n_columns, const Admit& admit, Objective objective, Engine engine,
                     Control& control) {
  ScoreSearch search(objective, build_score_grid(ensemble, n_columns, admit, control), control);
  const bool by_table = engine == Engine::kAuto || engine == Engine::kIntervalDp || engine == Engine::kQuickTable;
  if (engine == Engine::kQuickTable) control.patience = control.time_limit > 0 ? control.time_limit : kPatience;
  const bool done = by_table && search.by_table();
  if (engine == Engine::kAuto && !done && !control.time_is_up()) engine = Engine::kCombined;
  if (!done && (engine == Engine::kBranchAndBound || engine == Engine::kCombined)) search.by_branch_and_bound(engine);
  return search.outcome();
}

Outcome score_front(const Ensemble& ensemble, int n_columns, const Admit& admit, Control& control) {
  ScoreSearch search(Objective::kDepthLeaves, build_score_grid(ensemble, n_columns, admit, control), control);
  std::vector<Solution> front;
  const bool is_complete = search.front(front);
  Outcome outcome = search.outcome(std::move(front));
  outcome.is_complete = is_complete;
  return outcome;
}

}  // namespace onetree
