#include "region/planner.hpp"

#include <algorithm>
#include <cmath>

#include "grid/function.hpp"
#include "grid/set_family.hpp"
#include "search/greedy.hpp"
#include "table/any_table.hpp"

namespace onetree {

namespace {

constexpr std::size_t kFewStates = 20'000;  // of a region's decision diagram
constexpr std::size_t kCandidates = 8;
constexpr double kNearBest = 0.7;  // share of the best influence that makes a candidate
constexpr std::int64_t kProofBudget = 200;
constexpr int kMostSets = 4096;  // of an axis that the exact engine gets

// A region written out as an ensemble of its own.
class RegionEnsemble {
 public:
  RegionEnsemble(Regions& regions, const Region& region) {
    const Ensemble& whole = regions.ensemble();
    const TreeStore& store = regions.store();
    for (const TreeStore::Id root : region.trees) {
      // Preorder with a stack of our own; every tree gets its own copy of a shared subtree.
      struct Task {
        TreeStore::Id id;
        std::int32_t parent;
        bool is_left;
      };
      std::vector<Task> tasks{{root, -1, false}};
      roots_.push_back(static_cast<std::int32_t>(feature_.size()));
      while (!tasks.empty()) {
        const Task task = tasks.back();
        tasks.pop_back();
        const TreeStore::Node& node = store[task.id];
        const auto here = static_cast<std::int32_t>(feature_.size());
        if (task.parent >= 0) (task.is_left ? left_ : right_)[task.parent] = here;
        const bool leaf = store.is_leaf(task.id);
        feature_.push_back(node.feature);
        threshold_.push_back(leaf ? 0 : regions.threshold(node.feature, store.level_of(node)));
        missing_left_.push_back(node.missing_left);
        left_.push_back(-1);
        right_.push_back(-1);
        for (int k = 0; k < whole.n_outputs; ++k) value_.push_back(leaf ? whole.leaf_value(node.corner)[k] : 0);
        if (leaf) continue;
        tasks.push_back({node.right, here, false});
        tasks.push_back({node.left, here, true});
      }
    }
    base_ = region.base;
    for (int j = 0; j < static_cast<int>(whole.sets.size()); ++j) {
      SetAxis& axis = sets_.emplace_back();
      if (!whole.sets[j]) continue;
      const std::vector<int> values = store.sets(j).values(region.values[j]);
      axis.n_values = static_cast<int>(values.size());
      for (int test = 0; test < whole.sets[j].n_tests(); ++test)
        for (const int value : values) axis.member.push_back(whole.sets[j].contains(test, value));
    }
    view_ = Ensemble{whole.n_features, whole.n_outputs, whole.n_classes, roots_, feature_,           left_,      right_,
                     threshold_,       missing_left_,   value_,          base_,  whole.nan_features, whole.rule, sets_};
  }
  const Ensemble& operator*() const { return view_; }

 private:
  std::vector<std::int32_t> roots_, feature_, left_, right_;
  std::vector<double> threshold_, value_, base_;
  std::vector<std::uint8_t> missing_left_;
  std::vector<SetAxis> sets_;
  Ensemble view_{};
};

}  // namespace

double boxes_of(const Grid& grid) {
  if (grid.is_line()) return static_cast<double>(grid.n_cells());
  if (!grid.has_sets()) return count_boxes(grid);
  const BoxCount boxes = count_set_boxes(grid, kMostSets);
  return boxes.is_listed ? boxes.count : HUGE_VAL;
}

FlatTree tree_of_grid(const Grid& grid, Objective objective, Control& control, std::size_t* peak_bytes) {
  if (grid.is_line()) {
    if (peak_bytes != nullptr) *peak_bytes = 0;
    return line_tree(grid);
  }
  std::int64_t max_splits = static_cast<std::int64_t>(grid.n_cells()) - 1;
  if (max_splits > 254 && objective != Objective::kDepth) max_splits = greedy_tree(grid, control).n_leaves() - 1;
  return with_table(grid, max_splits, control, [&](auto& dp) {
    FlatTree tree = std::move(dp.solve(objective).tree);
    if (peak_bytes != nullptr) *peak_bytes = dp.peak_bytes();
    return tree;
  });
}

Planner::Planner(const Ensemble& ensemble, double max_boxes_, std::uint64_t seed)
    : max_boxes(max_boxes_ > 0          ? max_boxes_
                : ensemble.sets.empty() ? kManyBoxes
                                        : kManySetBoxes),
      ensemble_(ensemble),
      regions_(ensemble),
      prover_(regions_),
      sampler_(regions_, seed),
      essential_(ensemble.n_features) {
  std::size_t n_levels = 0;
  for (int j = 0; j < ensemble.n_features; ++j) {
    essential_[j].assign(regions_.levels()[j].size(), 0);
    first_level_.push_back(n_levels);
    n_levels += regions_.levels()[j].size();
  }
  level_mark_.assign(n_levels, 0);
  // Where the top of the tree is small the exact engine can have much of it; where it is large there are too many
  // bottoms.
  if (max_boxes_ <= 0 && cells_of(regions_.whole()) > most_cells()) max_boxes = kFewBoxes;
}

std::int64_t Planner::n_essential() const {
  std::int64_t n = 0;
  for (int j = 0; j < ensemble_.n_features; ++j) {
    const std::int64_t found = std::count(essential_[j].begin(), essential_[j].end(), 1);
    n += ensemble_.is_set(j) ? std::min<std::int64_t>(found, 1) : found;  // one test can do the work of several
  }
  return n;
}

void Planner::mark_essential(int feature, double threshold) {
  const std::vector<double>& levels = regions_.levels()[feature];
  essential_[feature][std::lower_bound(levels.begin(), levels.end(), threshold) - levels.begin()] = 1;
}

// Boxes grow about like the power 5/3 of cells; a grid much larger than the exact engine takes is not worth painting.
double Planner::most_cells() const {
  return 30 * std::pow(max_boxes, 0.6);
}

std::optional<Grid> Planner::small_grid(const Region& region, Control& control) {
  if (cells_of(region) > most_cells()) return std::nullopt;
  const RegionEnsemble ensemble(regions_, region);
  try {
    return build_grid(*ensemble, control, kFewStates);
  } catch (const GridTooLarge&) {
    return std::nullopt;
  }
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

int Planner::level_of(const Axis& axis, int position) const {
  if (axis.set) return static_cast<int>(axis.thresholds[position]);
  const std::vector<double>& levels = regions_.levels()[axis.feature];
  return static_cast<int>(std::lower_bound(levels.begin(), levels.end(), axis.thresholds[position]) - levels.begin());
}

// All cells are known: the cut is chosen on the grid itself.
void Planner::cut_grid(const Region& region, const Grid& grid, Plan& plan) {
  Shapes shapes;
  Origin origin;
  const Function function = function_of(grid, shapes, &origin);
  const Profile profile(function, shapes);
  const Cut cut = cut_of_fewest_cells(function, profile);
  const GridSplit split = grid_split(grid, function, shapes, origin, cut);
  cut_at(region, split.feature, level_of(grid.axes[split.axis], split.position), plan);
  plan.weight_below = std::sqrt(profile.cells_in(cut, !split.is_swapped));
  plan.weight_above = std::sqrt(profile.cells_in(cut, split.is_swapped));
}

Plan Planner::plan(const Region& region, Control& control) {
  Plan plan{};
  plan.leaf_class = regions_.classify(region);
  if (plan.leaf_class >= 0) {
    plan.kind = Plan::Kind::kLeaf;
    return plan;
  }
  if (std::optional<Grid> grid = small_grid(region, control)) {
    for (const Axis& axis : grid->axes)
      for (const double threshold : axis.thresholds) mark_essential(axis.feature, threshold);
    if (grid->axes.empty()) {
      plan.kind = Plan::Kind::kLeaf;
      plan.leaf_class = grid->classes[0];
    } else if (boxes_of(*grid) <= max_boxes) {
      plan.kind = Plan::Kind::kGrid;
      plan.grid = std::move(*grid);
    } else {
      cut_grid(region, *grid, plan);
    }
    return plan;
  }
  const std::vector<Hyperplane> hyperplanes = regions_.hyperplanes(region);
  const std::vector<Influence> influences = sampler_.sample(region, hyperplanes);
  if (influences[0].changes == 0) {
    // Perhaps one class, which sampling cannot prove.
    if (const int one_class = prover_.class_of(region, kProofBudget, control); one_class >= 0) {
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
