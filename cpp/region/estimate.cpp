#include "region/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "region/piece.hpp"
#include "region/planner.hpp"
#include "region/region_ensemble.hpp"
#include "region/score_piece.hpp"
#include "tree/shared_tree.hpp"

namespace onetree {

namespace {

constexpr std::int64_t kMaxProbes = 400;
constexpr std::int64_t kMinProbes = 3;
constexpr double kPatience = 2;                           // budgets, until even a probe on its way is cut off
constexpr double kCutOff = kHopeless * 2.5 * kMaxProbes;  // a probe of more leaves makes the mean hopeless on its own
constexpr double kManyBoxes = 1e7;                        // a grid of more is not solved for an estimate
constexpr double kBytesPerNode = 100;                     // measured: tree, region memo and restricted trees together
constexpr double kDoubt = 2;                              // factor that an extrapolation may be wrong by

template <typename Piece>
struct Step {                  // one region or piece that probes may come by
  Region region;               // empty once it is planned
  std::optional<Piece> piece;  // of a painted grid; kept where it left work
  bool is_planned = false;
  // In a grid that the exact engine would take whole but that is too large to be solved here: probed on for the sake
  // of its leaves, while the time is that of the whole grid.
  bool is_inside = false;
  Plan::Kind kind = Plan::Kind::kLeaf;
  double leaves = 0;                    // of a leaf or grid
  double seconds = 0;                   // to plan it and, for a grid, to solve it
  double work = 0;                      // of a grid not solved yet
  std::int32_t below = -1, above = -1;  // steps; of a cut
  double chance_below = 0;
  double chance = 0;  // that a probe comes here, by the ways that are known
};

// What solving a grid takes, up to a factor: splits of all its boxes.
template <typename Piece>
double work_of(const Piece& piece) {
  double splits = 0;
  for (const int slabs : piece.function.size) splits += (slabs - 1) / 3.0;
  return boxes_of(piece) * splits;
}

// Mean, and the range of two standard errors around it in the logarithm, since the distribution has a long tail.
Quantity summarise(const std::vector<double>& samples) {
  const double n = static_cast<double>(samples.size());
  double mean = 0, square = 0;
  for (const double sample : samples) mean += sample / n;
  for (const double sample : samples) square += (sample - mean) * (sample - mean);
  const double error = n > 1 ? std::sqrt(square / (n - 1) / n) : mean;
  const double spread = mean > 0 ? 2 * std::min(error / mean, 5.0) : 0;
  return {mean, mean * std::exp(-spread), mean * std::exp(spread)};
}

template <typename Painter>
class Prober {
 public:
  using Piece = typename Painter::Piece;
  using Step = onetree::Step<Piece>;

  // `planned`: what a planner is made of, but the seed.
  template <typename... Planned>
  Prober(Objective objective, double budget, std::uint64_t seed, Painter painter, Control& control,
         Planned&&... planned)
      : control_(control),
        painter_(painter),
        objective_(objective),
        budget_(budget),
        start_(control.elapsed()),
        planner_(std::forward<Planned>(planned)..., seed),
        max_boxes_(planner_.max_boxes),
        state_(seed * 2 + 0x9E3779B97F4A7C15ULL) {
    within_ = control;
    within_.report = [this](const ProgressReport& report) {
      const double fraction = static_cast<double>(result_.n_probes) / static_cast<double>(kMaxProbes);
      return control_.report &&
             control_.report({"estimate", report.elapsed, -1, -1, result_.n_probes,
                              std::min(1.0, std::max(fraction, (report.elapsed - start_) / budget_))});
    };
  }

  Estimate run() {
    step_of(planner_.regions().whole());
    std::vector<double> leaves;
    while (result_.n_probes == 0 || (result_.n_probes < kMaxProbes && elapsed() < budget_) ||
           (result_.n_probes < kMinProbes && !is_late())) {
      leaves.push_back(probe());
      result_.n_probes += 1;
      if (steps_[0].kind != Plan::Kind::kCut) {  // nothing is left to chance
        result_.is_exact = true;
        break;
      }
    }
    result_.leaves = summarise(leaves);
    result_.is_beyond = result_.is_beyond || result_.leaves.mean >= kHopeless;
    find_chances();
    solve_large_grids();
    extrapolate();
    if (result_.is_exact)
      for (Quantity* quantity : {&result_.leaves, &result_.seconds, &result_.bytes})
        quantity->low = quantity->high = quantity->mean;
    return result_;
  }

 private:
  double elapsed() const { return control_.elapsed() - start_; }
  bool is_late() const { return elapsed() > kPatience * budget_; }

  double random() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

  std::int32_t step_of(Region&& region) {
    planner_.regions().key_of(region, key_);
    const auto [id, is_new] = keys_.intern(key_);
    if (!is_new) return step_of_region_[id];
    step_of_region_.push_back(static_cast<std::int32_t>(steps_.size()));
    steps_.emplace_back();
    steps_.back().region = std::move(region);
    return step_of_region_[id];
  }

  std::int32_t step_of(Piece&& piece, bool is_inside) {
    steps_.emplace_back();
    steps_.back().piece = std::move(piece);
    steps_.back().is_inside = is_inside;
    return static_cast<std::int32_t>(steps_.size()) - 1;
  }

  void plan(std::int32_t id) {
    const double before = control_.elapsed();
    Step planned;
    planned.is_planned = true;
    planned.is_inside = steps_[id].is_inside;
    std::optional<Piece> piece = std::exchange(steps_[id].piece, std::nullopt);
    if (!piece) piece = plan_region(std::exchange(steps_[id].region, {}), planned);
    if (piece) plan_piece(*std::move(piece), planned);
    planned.seconds = planned.is_inside ? 0 : control_.elapsed() - before;
    steps_[id] = std::move(planned);
  }

  // Returns the grid of the region, if it is painted.
  std::optional<Piece> plan_region(const Region& region, Step& planned) {
    Plan plan = planner_.first_look(region);
    if (plan.kind == Plan::Kind::kGrid) {
      if (std::optional<Piece> piece = painter_.painted(*RegionEnsemble(planner_.regions(), region), within_))
        return piece;
      plan.kind = Plan::Kind::kCut;
    }
    if (plan.kind == Plan::Kind::kCut) plan = planner_.cut(region, within_);
    planned.kind = plan.kind;
    planned.leaves = 1;
    if (plan.kind == Plan::Kind::kCut) {
      planned.chance_below = chance_of(plan.weight_below, plan.weight_above);
      planned.below = step_of(std::move(plan.below));
      planned.above = step_of(std::move(plan.above));
    }
    return std::nullopt;
  }

  void plan_piece(Piece&& piece, Step& planned) {
    const double boxes = boxes_of(piece);
    bool is_inside = planned.is_inside;
    double most = is_inside ? std::min(Planner::kFewBoxes, max_boxes_) : max_boxes_;
    if (boxes <= most) {
      largest_boxes_ = std::max(largest_boxes_, is_inside ? 0 : boxes);
      if (steps_.size() == 1) result_.boxes = boxes;
      if (boxes > kManyBoxes) {
        planned.work = work_of(piece);
        is_inside = true;
        most = Planner::kFewBoxes;
      }
    }
    if (boxes <= most || piece.function.is_constant()) {
      planned.kind = Plan::Kind::kGrid;
      planned.leaves = solve(piece);
      return;
    }
    planned.kind = Plan::Kind::kCut;
    auto parts = cut_of(piece, [this] { within_.check("estimate", -1, -1, result_.n_probes); });
    planned.chance_below = chance_of(std::sqrt(static_cast<double>(parts.below.function.n_cells())),
                                     std::sqrt(static_cast<double>(parts.above.function.n_cells())));
    planned.below = step_of(std::move(parts.below), is_inside);
    planned.above = step_of(std::move(parts.above), is_inside);
    if (planned.work > 0) planned.piece = std::move(piece);
  }

  static double chance_of(double weight_below, double weight_above) {
    return 0.1 + 0.8 * weight_below / (weight_below + weight_above);
  }

  // Leaves of the best tree of a grid.
  double solve(const Piece& piece) {
    const SharedTree::Id root = import_tree(piece, measured_tree(piece, small_), trees_);
    n_nodes_.push_back(trees_.size());
    return trees_.n_leaves(root);
  }

  struct Measured {
    double seconds = 0, work = 0, boxes = 0, bytes = 0;
  };

  FlatTree measured_tree(const Piece& piece, Measured& measured) {
    const double before = control_.elapsed();
    std::size_t table_bytes = 0;
    const auto expected = static_cast<std::int64_t>(kSplitsPerCell * static_cast<double>(piece.function.n_cells()));
    FlatTree tree = tree_of(piece, objective_, expected, within_, &table_bytes);
    measured.seconds += control_.elapsed() - before;
    measured.work += work_of(piece);
    measured.boxes += boxes_of(piece);
    measured.bytes += static_cast<double>(table_bytes);
    return tree;
  }

  // Large grids take less time by the box than small ones, nobody can say how much: as far as the budget goes, smallest
  // first, they are solved after all.
  void solve_large_grids() {
    std::vector<Step*> large;
    for (Step& step : steps_)
      if (step.work > 0) large.push_back(&step);
    std::stable_sort(large.begin(), large.end(), [](const Step* a, const Step* b) { return a->work < b->work; });
    within_.time_limit = start_ + budget_;
    try {
      for (Step* step : large) {
        const double before = control_.elapsed();
        const FlatTree tree = measured_tree(*step->piece, large_);
        step->seconds += control_.elapsed() - before;
        step->work = 0;
        if (step == &steps_[0]) {
          result_.is_exact = true;
          result_.leaves.mean = static_cast<double>(tree.n_leaves());
        }
      }
    } catch (const LimitReached&) {  // the others stay guesses
    }
  }

  // Leaves that one descent stands for.
  double probe() {
    paths_.emplace_back();
    double weight = 1;
    for (std::int32_t id = 0;;) {
      within_.check("estimate", -1, -1, result_.n_probes);
      if (!steps_[id].is_planned) plan(id);
      paths_.back().push_back(id);
      const Step& step = steps_[id];
      if (step.kind != Plan::Kind::kCut) return weight * step.leaves;
      if (weight > kCutOff || is_late()) {
        result_.is_beyond = true;
        return weight;
      }
      const bool below = random() < step.chance_below;
      weight /= below ? step.chance_below : 1 - step.chance_below;
      id = below ? step.below : step.above;
    }
  }

  // From the top down: a region is done when all known ways to it are.
  void find_chances() {
    std::vector<int> n_ways(steps_.size(), 0);
    for (const Step& step : steps_)
      if (step.below >= 0) ++n_ways[step.below], ++n_ways[step.above];
    std::vector<std::int32_t> ready{0};
    steps_[0].chance = 1;
    while (!ready.empty()) {
      const Step& step = steps_[ready.back()];
      ready.pop_back();
      if (step.below < 0) continue;
      steps_[step.below].chance += step.chance * step.chance_below;
      steps_[step.above].chance += step.chance * (1 - step.chance_below);
      for (const std::int32_t child : {step.below, step.above})
        if (--n_ways[child] == 0) ready.push_back(child);
    }
  }

  // Time and memory of the whole, from the regions met.
  void extrapolate() {
    const Measured& measured = large_.work > 0 ? large_ : small_;
    const double rate = measured.work > 0 ? measured.seconds / measured.work : kSecondsPerSplit;
    std::vector<double> times;
    double n_grids = 0, predicted = 0, n_paths = static_cast<double>(paths_.size());
    for (const std::vector<std::int32_t>& path : paths_) {
      double time = 0;
      for (const std::int32_t id : path) {
        const Step& step = steps_[id];
        time += (step.seconds + step.work * rate) / step.chance;
        predicted += step.work * rate / step.chance / n_paths;
        if (step.kind == Plan::Kind::kGrid) n_grids += 1 / step.chance / n_paths;
      }
      times.push_back(time);
    }
    Quantity& seconds = result_.seconds;
    seconds = summarise(times);
    if (predicted > 0) {
      seconds.low -= (seconds.low / seconds.mean) * predicted * (1 - 1 / kDoubt);
      seconds.high += (seconds.high / seconds.mean) * predicted * (kDoubt - 1);
    }
    // The more trees are known, the fewer of the nodes of another are new: a power law.
    double nodes = result_.leaves.mean;
    if (!n_nodes_.empty()) {
      const auto n = static_cast<double>(n_nodes_.size());
      const double half = static_cast<double>(n_nodes_[(n_nodes_.size() - 1) / 2]);
      const double power = n < 4 ? 1 : std::clamp(std::log2(static_cast<double>(n_nodes_.back()) / half), 0.2, 1.0);
      nodes = std::min(2 * nodes, static_cast<double>(n_nodes_.back()) * std::pow(std::max(1.0, n_grids / n), power));
    }
    const double table = measured.boxes > 0 ? measured.bytes / measured.boxes * largest_boxes_ : largest_boxes_;
    const double bytes = nodes * kBytesPerNode + table;
    const Quantity& leaves = result_.leaves;
    result_.bytes = {bytes, bytes * leaves.low / leaves.mean / kDoubt, bytes * leaves.high / leaves.mean * kDoubt};
  }

  static constexpr double kSecondsPerSplit = 1e-9;  // where nothing was solved
  static constexpr double kSplitsPerCell = 0.05;    // a guess

  Control& control_;
  const Painter painter_;
  Control within_;
  const Objective objective_;
  const double budget_, start_;
  Planner planner_;
  const double max_boxes_;
  std::uint64_t state_;
  Estimate result_;
  Interner keys_;
  std::vector<std::int32_t> key_;
  std::vector<Step> steps_;
  std::vector<std::int32_t> step_of_region_;      // by the number of its key
  std::vector<std::vector<std::int32_t>> paths_;  // steps of each probe
  SharedTree trees_;                              // of the grids solved
  std::vector<std::int32_t> n_nodes_;             // held after each of them
  Measured small_, large_;
  double largest_boxes_ = 0;
};

}  // namespace

Estimate estimate(const Ensemble& ensemble, Objective objective, double max_boxes, double seconds, std::uint64_t seed,
                  Control& control) {
  return Prober<ClassPainter>(objective, seconds, seed, {}, control, ensemble, max_boxes).run();
}

Estimate estimate(const Ensemble& ensemble, const Scoring& scoring, Objective objective, double max_boxes,
                  double seconds, std::uint64_t seed, Control& control) {
  const Ensemble view = scored(ensemble, scoring);
  ScoreLeaves leaves(scoring.n_columns);
  const ScorePainter painter{&scoring, &leaves};
  return Prober<ScorePainter>(objective, seconds, seed, painter, control, view, ensemble, scoring, leaves, max_boxes)
      .run();
}

}  // namespace onetree
