#include "region/heuristic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "region/bottom.hpp"
#include "region/planner.hpp"
#include "region/region_ensemble.hpp"
#include "tree/shared_tree.hpp"

namespace onetree {

namespace {

constexpr double kMostLeaves = 9e18;     // that the result can count
constexpr std::size_t kTreeBytes = 128;  // of a restricted tree
constexpr std::size_t kRound = 256;      // regions that are painted together, whatever the number of threads

// The top of the tree: regions that are cut, each once however many ways lead to it, down to those that are painted.
template <typename Painter>
class Top {
 public:
  // `planned`: what a planner is made of.
  template <typename... Planned>
  Top(Objective objective, Painter painter, Control& control, Planned&&... planned)
      : control_(told(control)),
        painter_(painter),
        planner_(std::forward<Planned>(planned)...),
        bottom_(objective, painter, shared_, control_) {}

  HeuristicResult run() {
    node_of(planner_.regions().whole(), 1);
    while (!todo_.empty() || !jobs_.empty()) {
      if (todo_.empty() || jobs_.size() == kRound)
        paint();
      else
        open();
    }
    return result();
  }

 private:
  struct Node {
    int feature = -1, level = 0;          // of the cut, once made
    std::int32_t below = -1, above = -1;  // nodes
    SharedTree::Id tree = -1;             // once known
  };
  struct Open {
    std::int32_t node;
    Region region;
    double share;  // of the whole space, if every cut halved it
  };

  // The engines below report their own small part: the caller hears of the whole.
  Control told(Control& control) {
    Control within = control;
    within.report = [this, &control](const ProgressReport& report) {
      const auto progress = bottom_.progress();
      return control.report && control.report({"heuristic", report.elapsed, -1, -1, std::llround(progress.n_leaves),
                                               std::min(progress.settled, 1.0)});
    };
    return within;
  }

  std::int32_t node_of(Region&& region, double share) {
    planner_.regions().key_of(region, key_);
    const auto [node, is_new] = keys_.intern(key_);
    if (is_new) {
      nodes_.emplace_back();
      todo_.push_back({node, std::move(region), share});
    } else {
      bottom_.settle(share, nodes_[node].tree);
    }
    return node;
  }

  void open() {
    Open here = std::move(todo_.back());
    todo_.pop_back();
    control_.check("heuristic", -1, -1, 0);
    peak_bytes_ = std::max(peak_bytes_, held_bytes() + shared_.bytes());
    if (held_bytes() + shared_.bytes() > control_.memory_limit) throw LimitReached("memory");
    const Plan plan = planner_.first_look(here.region);
    if (plan.kind == Plan::Kind::kLeaf) {
      make_leaf(here, plan.leaf_class);
    } else if (plan.kind == Plan::Kind::kGrid) {
      jobs_.push_back({std::make_unique<RegionEnsemble>(planner_.regions(), here.region), here.share, 0});
      painted_.push_back(std::move(here));
    } else {
      cut(here);
    }
  }

  void make_leaf(const Open& here, int leaf_class) {
    nodes_[here.node].tree = shared_.leaf(leaf_class);
    bottom_.settle(here.share, nodes_[here.node].tree);
  }

  void cut(const Open& here) {
    Plan plan = planner_.cut(here.region, control_);
    if (plan.kind == Plan::Kind::kLeaf) {
      make_leaf(here, plan.leaf_class);
      return;
    }
    n_cuts_ += 1;
    const std::int32_t above = node_of(std::move(plan.above), here.share / 2);
    const std::int32_t below = node_of(std::move(plan.below), here.share / 2);
    nodes_[here.node] = {plan.feature, plan.level, below, above, -1};
  }

  void paint() {
    for (auto& job : jobs_) job.max_boxes = planner_.max_boxes;
    const auto results = bottom_.run(std::exchange(jobs_, {}), held_bytes());
    const std::vector<Open> painted = std::exchange(painted_, {});
    for (std::size_t i = 0; i < results.size(); ++i) {
      nodes_[painted[i].node].tree = results[i].tree;
      planner_.mark_essential(results[i].axes);
      planner_.max_boxes = std::min(planner_.max_boxes, results[i].max_boxes);
      is_cut_ = is_cut_ || results[i].is_cut;
    }
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i].tree < 0) cut(painted[i]);
  }

  std::size_t held_bytes() {
    return keys_.bytes() + nodes_.size() * sizeof(Node) +
           static_cast<std::size_t>(planner_.regions().store().size()) * kTreeBytes;
  }

  // Joins the trees of all nodes, children first.
  SharedTree::Id join() {
    std::vector<std::int32_t> todo{0};
    while (!todo.empty()) {
      Node& node = nodes_[todo.back()];
      if (node.tree < 0) {
        const SharedTree::Id below = nodes_[node.below].tree, above = nodes_[node.above].tree;
        if (above < 0) todo.push_back(node.above);
        if (below < 0) todo.push_back(node.below);
        if (above < 0 || below < 0) continue;
        node.tree =
            painter_.join(shared_, node.feature, planner_.regions().threshold(node.feature, node.level), below, above);
      }
      todo.pop_back();
    }
    return nodes_[0].tree;
  }

  HeuristicResult result() {
    HeuristicResult result;
    const SharedTree::Id root = join();
    const auto progress = bottom_.progress();
    result.regions = n_cuts_ + progress.n_pieces;
    result.grids = progress.n_grids;
    result.peak_bytes = std::max(peak_bytes_, bottom_.peak_bytes());
    result.max_boxes = planner_.max_boxes;
    Solution& solution = result.solution;
    solution.tree = shared_.flatten(root);
    solution.depth = shared_.depth(root);
    solution.leaves = static_cast<std::int64_t>(std::min(shared_.n_leaves(root), kMostLeaves));
    // Of scores, a hyperplane that matters need not be cut.
    const auto n_hyperplanes =
        std::is_same_v<Painter, ClassPainter> ? static_cast<std::uint64_t>(planner_.n_essential()) : std::uint64_t{0};
    solution.depth_bound = std::bit_width(n_hyperplanes);
    solution.leaves_bound = static_cast<std::int64_t>(n_hyperplanes) + 1;
    if (n_cuts_ == 0 && !is_cut_) {  // the exact engine did it all
      solution.optimal = true;
      solution.depth_bound = solution.depth;
      solution.leaves_bound = solution.leaves;
    }
    return result;
  }

  Control control_;
  const Painter painter_;
  Planner planner_;
  SharedTree shared_;
  Bottom<Painter> bottom_;
  Interner keys_;  // of regions: their numbers are those of the nodes
  std::vector<std::int32_t> key_;
  std::vector<Node> nodes_;
  std::vector<Open> todo_;                           // the last one first
  std::vector<typename Bottom<Painter>::Job> jobs_;  // regions to be painted
  std::vector<Open> painted_;                        // the same
  std::int64_t n_cuts_ = 0;
  bool is_cut_ = false;  // some painted grid was
  std::size_t peak_bytes_ = 0;
};

}  // namespace

HeuristicResult heuristic_tree(const Ensemble& ensemble, Objective objective, double max_boxes, std::uint64_t seed,
                               Control& control) {
  return Top<ClassPainter>(objective, {}, control, ensemble, max_boxes, seed).run();
}

HeuristicResult heuristic_tree(const Ensemble& ensemble, const Scoring& scoring, ScoreLeaves& leaves,
                               Objective objective, double max_boxes, std::uint64_t seed, Control& control) {
  const Ensemble view = scored(ensemble, scoring);
  return Top<ScorePainter>(objective, {&scoring, &leaves}, control, view, ensemble, scoring, leaves, max_boxes, seed)
      .run();
}

}  // namespace onetree
