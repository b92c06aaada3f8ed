#include "region/planner.hpp"

#include <algorithm>
#include <cmath>

namespace onetree {

namespace {

constexpr std::size_t kCandidates = 16;
constexpr double kNearBest = 0.5;  // share of the best influence that makes a candidate
constexpr std::int64_t kProofBudget = 200;

}  // namespace

namespace {

double boxes_at_most(const Ensemble& ensemble, double max_boxes) {
  return max_boxes > 0 ? max_boxes : ensemble.sets.empty() ? Planner::kManyBoxes : Planner::kManySetBoxes;
}

}  // namespace

Planner::Planner(const Ensemble& ensemble, double max_boxes_, std::uint64_t seed)
    : max_boxes(boxes_at_most(ensemble, max_boxes_)),
      ensemble_(ensemble),
      regions_(ensemble),
      prover_(regions_),
      sampler_(regions_, seed),
      essential_(ensemble.n_features) {
  count_levels(max_boxes_ <= 0);
}

Planner::Planner(const Ensemble& scored_ensemble, const Ensemble& original, const Scoring& scoring, ScoreLeaves& leaves,
                 double max_boxes_, std::uint64_t seed)
    : max_boxes(boxes_at_most(scored_ensemble, max_boxes_)),
      ensemble_(scored_ensemble),
      regions_(scored_ensemble),
      prover_(regions_),
      scores_(std::make_unique<ScoreBounds>(original, scoring, regions_)),
      leaves_(&leaves),
      sampler_(regions_, seed, scores_.get()),
      essential_(scored_ensemble.n_features) {
  count_levels(max_boxes_ <= 0);
}

void Planner::count_levels(bool chooses_max_boxes) {
  std::size_t n_levels = 0;
  for (int j = 0; j < ensemble_.n_features; ++j) {
    essential_[j].assign(regions_.levels()[j].size(), 0);
    first_level_.push_back(n_levels);
    n_levels += regions_.levels()[j].size();
  }
  level_mark_.assign(n_levels, 0);
  // Where the top of the tree is small the exact engine can have much of it; where it is large there are too many
  // bottoms.
  if (chooses_max_boxes && cells_of(regions_.whole()) > most_cells()) max_boxes = kFewBoxes;
}

std::int64_t Planner::n_essential() const {
  std::int64_t n = 0;
  for (int j = 0; j < ensemble_.n_features; ++j) {
    const std::int64_t found = std::count(essential_[j].begin(), essential_[j].end(), 1);
    n += ensemble_.is_set(j) ? std::min<std::int64_t>(found, 1) : found;  // one test can do the work of several
  }
  return n;
}

void Planner::mark_essential(const std::vector<Axis>& axes) {
  for (const Axis& axis : axes)
    for (const double threshold : axis.thresholds) mark_essential(axis.feature, threshold);
}

void Planner::mark_essential(int feature, double threshold) {
  const std::vector<double>& levels = regions_.levels()[feature];
  essential_[feature][std::lower_bound(levels.begin(), levels.end(), threshold) - levels.begin()] = 1;
}

// Boxes grow about like the power 5/3 of cells; a grid much larger than the exact engine takes is not worth painting.
double Planner::most_cells() const {
  return 30 * std::pow(max_boxes, 0.6);
}

// As many as the hyperplanes of the region make, essential or not. Large forests ask this often, so no hyperplane is
// listed.
double Planner::cells_of(const Region& region) {
  const TreeStore& store = regions_.store();
  tree_mark_.resize(store.size(), 0);
  if (++mark_ == 0) {
    std::fill(tree_mark_.begin(), tree_mark_.end(), 0);
    std::fill(level_mark_.begin(), level_mark_.end(), 0);
    mark_ = 1;
  }
  std::vector<int> n_slabs(ensemble_.n_features, 1);
  todo_ = region.trees;
  while (!todo_.empty()) {
    const TreeStore::Id id = todo_.back();
    todo_.pop_back();
    if (store.is_leaf(id) || tree_mark_[id] == mark_) continue;
    tree_mark_[id] = mark_;
    const TreeStore::Node& node = store[id];
    if (ensemble_.is_set(node.feature)) {
      n_slabs[node.feature] = store.sets(node.feature).size(region.values[node.feature]);
    } else {
      std::uint32_t& level = level_mark_[first_level_[node.feature] + node.level];
      if (level != mark_) ++n_slabs[node.feature];
      level = mark_;
    }
    todo_.push_back(node.left);
    todo_.push_back(node.right);
  }
  double cells = 1;
  for (const int n : n_slabs) cells *= n;
  return cells;
}

void Planner::cut_at(const Region& region, int feature, int level, Plan& plan) {
  plan.kind = Plan::Kind::kCut;
  plan.feature = feature;
  plan.level = level;
  regions_.restrict(region, {feature, level, true}, plan.below);
  regions_.restrict(region, {feature, level, false}, plan.above);
  plan.weight_below = std::sqrt(cells_of(plan.below));
  plan.weight_above = std::sqrt(cells_of(plan.above));
}

// Its class, or the number of what it may carry; -1 where bounds do not tell.
int Planner::leaf_of(const Region& region) {
  if (!scores_) return regions_.classify(region);
  return scores_->is_leaf(region, least_, most_) ? leaves_->number(least_, most_) : -1;
}

Plan Planner::first_look(const Region& region) {
  Plan plan{};
  plan.leaf_class = leaf_of(region);
  plan.kind = plan.leaf_class >= 0               ? Plan::Kind::kLeaf
              : cells_of(region) <= most_cells() ? Plan::Kind::kGrid
                                                 : Plan::Kind::kCut;
  return plan;
}

Plan Planner::cut(const Region& region, Control& control) {
  Plan plan{};
  const std::vector<Hyperplane> hyperplanes = regions_.hyperplanes(region);
  const std::vector<Influence> influences = sampler_.sample(region, hyperplanes);
  if (influences[0].changes == 0) {
    // Perhaps one class, which sampling cannot prove.
    const int one_class = scores_ ? -1 : prover_.class_of(region, kProofBudget, control);
    if (one_class >= 0) {
      plan.kind = Plan::Kind::kLeaf;
      plan.leaf_class = one_class;
      return plan;
    }
    const auto heaviest =
        std::max_element(hyperplanes.begin(), hyperplanes.end(),
                         [](const Hyperplane& a, const Hyperplane& b) { return a.weight < b.weight; });
    cut_at(region, heaviest->feature, heaviest->level, plan);
    return plan;
  }
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < influences.size(); ++i) {
    const Influence& influence = influences[i];
    if (influence.is_witnessed)
      mark_essential(influence.feature, regions_.threshold(influence.feature, influence.level));
    if (i >= kCandidates || influence.changes < kNearBest * influences[0].changes) continue;
    Plan candidate{};
    cut_at(region, influence.feature, influence.level, candidate);
    if (candidate.weight_below + candidate.weight_above < best) {
      best = candidate.weight_below + candidate.weight_above;
      plan = std::move(candidate);
    }
  }
  return plan;
}

}  // namespace onetree
