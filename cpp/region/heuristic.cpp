#include "region/heuristic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/interner.hpp"
#include "region/planner.hpp"
#include "tree/shared_tree.hpp"

namespace onetree {

namespace {

constexpr double kFewestBoxes = 1e3;     // a grid that does not even fit with so few is not cut up further
constexpr double kMostLeaves = 9e18;     // that the result can count
constexpr std::size_t kTreeBytes = 128;  // of a restricted tree

}  // namespace

HeuristicResult heuristic_tree(const Ensemble& ensemble, Objective objective, double max_boxes, std::uint64_t seed,
                               Control& control) {
  HeuristicResult result;
  Planner planner(ensemble, max_boxes, seed);
  Regions& regions = planner.regions();
  SharedTree shared;
  Interner region_keys;
  std::vector<SharedTree::Id> tree_of_region;  // -1: being built
  std::vector<std::int32_t> key;

  struct Task {
    Region region;
    int feature = -1, level = 0;  // of the cut, once made
    std::int32_t number = -1;     // of the region, among those met
    double share = 1;             // of the whole space, if every cut halved it
    SharedTree::Id left = -1;
  };
  std::vector<Task> stack;
  std::vector<Region> waiting;  // the right sides of the cuts on the stack
  double settled = 0;           // share of the space
  double n_leaves = 0;          // of the tree that covers it, unfolded
  bool is_whole = false;        // the last leaf or grid was all there is
  SharedTree::Id done = -1;     // what the last finished task gave

  auto start = [&](Region&& region, double share) {
    Task task;
    task.region = std::move(region);
    task.share = share;
    stack.push_back(std::move(task));
    waiting.emplace_back();
  };
  auto finish = [&](SharedTree::Id id) {
    if (stack.back().number >= 0) tree_of_region[stack.back().number] = id;
    stack.pop_back();
    waiting.pop_back();
    done = id;
  };
  // The limit holds for each table of the exact engine; two-stage objectives have two at once.
  const std::size_t n_tables = objective == Objective::kDepth || objective == Objective::kLeaves ? 1 : 2;
  // The engines below report their own small part: the caller hears of the whole.
  Control within = control;
  within.report = [&](const ProgressReport& report) {
    return control.report && control.report({"heuristic", report.elapsed, -1, -1, std::llround(n_leaves), settled});
  };
  start(regions.whole(), 1);
  while (!stack.empty()) {
    Task& task = stack.back();
    if (task.feature >= 0) {  // a child has come back
      if (task.left < 0) {
        task.left = done;
        start(std::move(waiting.back()), task.share / 2);
      } else {
        finish(shared.split(task.feature, regions.threshold(task.feature, task.level), task.left, done));
      }
      continue;
    }
    result.regions += 1;
    within.check("heuristic", -1, -1, 0);
    const std::size_t bytes =
        shared.bytes() + region_keys.bytes() + static_cast<std::size_t>(regions.store().size()) * kTreeBytes;
    result.peak_bytes = std::max(result.peak_bytes, bytes);
    if (bytes > control.memory_limit) throw LimitReached("memory");
    within.memory_limit = (control.memory_limit - bytes) / n_tables;
    regions.key_of(task.region, key);
    const auto [number, is_new] = region_keys.intern(key);
    if (is_new) tree_of_region.push_back(-1);
    if (tree_of_region[number] >= 0) {
      settled += task.share;
      n_leaves += shared.n_leaves(tree_of_region[number]);
      finish(tree_of_region[number]);
      continue;
    }
    task.number = number;
    Plan plan = planner.plan(task.region, within);
    if (plan.kind == Plan::Kind::kCut) {
      task.feature = plan.feature;
      task.level = plan.level;
      waiting.back() = std::move(plan.above);
      const double share = task.share / 2;
      start(std::move(plan.below), share);
      continue;
    }
    is_whole = stack.size() == 1;
    SharedTree::Id built;
    if (plan.kind == Plan::Kind::kLeaf) {
      built = shared.leaf(plan.leaf_class);
    } else {
      result.grids += 1;
      try {
        std::size_t table_bytes = 0;
        built = shared.import(tree_of_grid(plan.grid, objective, within, &table_bytes));
        result.peak_bytes = std::max(result.peak_bytes, bytes + table_bytes);
      } catch (const LimitReached&) {
        if (control.time_is_up() || planner.max_boxes < kFewestBoxes) throw;
        planner.max_boxes /= 8;  // too much for the memory: the region is cut up further
        continue;
      }
    }
    settled += task.share;
    n_leaves += shared.n_leaves(built);
    finish(built);
  }
  result.max_boxes = planner.max_boxes;
  Solution& solution = result.solution;
  solution.tree = shared.flatten(done);
  solution.depth = shared.depth(done);
  solution.leaves = static_cast<std::int64_t>(std::min(shared.n_leaves(done), kMostLeaves));
  const auto n_hyperplanes = static_cast<std::uint64_t>(planner.n_essential());
  solution.depth_bound = std::bit_width(n_hyperplanes);
  solution.leaves_bound = static_cast<std::int64_t>(n_hyperplanes) + 1;
  if (is_whole) {  // nothing was cut: the exact engine did it all
    solution.optimal = true;
    solution.depth_bound = solution.depth;
    solution.leaves_bound = solution.leaves;
  }
  return result;
}

}  // namespace onetree
