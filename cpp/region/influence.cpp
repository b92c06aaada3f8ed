#include "region/influence.hpp"

#include <algorithm>

namespace onetree {

namespace {

constexpr int kMostCells = 128;       // sampled per region
constexpr int kScoreCells = 48;       // where each takes all stages of a response
constexpr int kHyperplanes = 64;      // measured per region, fewer if it has many trees
constexpr std::size_t kWalks = 2000;  // hyperplanes times trees

}  // namespace

std::uint32_t InfluenceSampler::random(std::uint32_t below) {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return static_cast<std::uint32_t>(((state_ >> 32) * below) >> 32);
}

std::int32_t InfluenceSampler::leaf_of(TreeStore::Id tree, const int* slabs) const {
  const TreeStore& store = regions_.store();
  const Ensemble& ensemble = regions_.ensemble();
  while (!store.is_leaf(tree)) {
    const TreeStore::Node& node = store[tree];
    const int slab = slabs[node.feature];
    if (ensemble.is_set(node.feature)) {
      const bool passes = ensemble.sets[node.feature].contains(store.level_of(node), slab);
      tree = passes ? node.left : node.right;
      continue;
    }
    const bool is_nan = ensemble.nan_features[node.feature] && slab == regions_.n_slabs(node.feature) - 1;
    tree = (is_nan ? node.missing_left : slab <= node.level) ? node.left : node.right;
  }
  return store[tree].corner;
}

// Rounding is left alone, so where sums are not exact this is a guess.
int InfluenceSampler::class_of(const double* scores) const {
  const Ensemble& ensemble = regions_.ensemble();
  if (ensemble.combination != nullptr) {
    std::vector<double> divided(scores, scores + ensemble.n_outputs);
    for (int k = 0; k < ensemble.n_outputs; ++k) divided[k] /= ensemble.combination->divisor[k];
    return ensemble.combination->guess(divided);
  }
  if (ensemble.n_outputs == 1) {
    const double cut = ensemble.rule.cut * ensemble.rule.divisor;
    return ensemble.rule.cut_inclusive ? scores[0] >= cut : scores[0] > cut;
  }
  return static_cast<int>(std::max_element(scores, scores + ensemble.n_outputs) - scores);
}

void InfluenceSampler::slabs_beside(const Region& region, const Hyperplane& hyperplane, int own, int (&beside)[2]) {
  const int feature = hyperplane.feature;
  if (!regions_.ensemble().is_set(feature)) {
    beside[0] = hyperplane.level;
    beside[1] = hyperplane.level + 1;
    return;
  }
  ValueSets& sets = regions_.store().sets(feature);
  const bool passes = sets.axis().contains(hyperplane.level, own);
  const ValueSets::Id others = sets.part(region.values[feature], hyperplane.level, !passes);
  beside[passes ? 0 : 1] = own;
  beside[passes ? 1 : 0] = sets.least(others);
}

bool InfluenceSampler::class_changes(const Region& region, int* slabs, const Hyperplane& hyperplane) {
  if (exact_) return true;
  const int kept = slabs[hyperplane.feature];
  Class classes[2];
  int beside[2];
  slabs_beside(region, hyperplane, kept, beside);
  for (const int side : {0, 1}) {
    slabs[hyperplane.feature] = beside[side];
    leaves_.clear();
    for (const TreeStore::Id tree : region.trees) leaves_.push_back(leaf_of(tree, slabs));
    classes[side] = regions_.ensemble().decide(leaves_);
  }
  slabs[hyperplane.feature] = kept;
  return classes[0] != classes[1];
}

std::vector<Influence> InfluenceSampler::sample(const Region& region, const std::vector<Hyperplane>& hyperplanes) {
  const Ensemble& ensemble = regions_.ensemble();
  const TreeStore& store = regions_.store();
  const int n_outputs = ensemble.n_outputs, n_cells = scores_ != nullptr ? kScoreCells : kMostCells;

  // The heaviest hyperplanes, back in order of feature and level.
  std::vector<const Hyperplane*> measured;
  for (const Hyperplane& hyperplane : hyperplanes) measured.push_back(&hyperplane);
  const std::size_t most = std::clamp<std::size_t>(kWalks / region.trees.size(), 8, kHyperplanes);
  if (measured.size() > most) {
    std::stable_sort(measured.begin(), measured.end(),
                     [](const Hyperplane* a, const Hyperplane* b) { return a->weight > b->weight; });
    measured.resize(most);
    std::sort(measured.begin(), measured.end());
  }

  // Cells: a random slab of each feature, of those that the hyperplanes leave.
  std::vector<int> slabs(static_cast<std::size_t>(n_cells) * ensemble.n_features, 0);
  for (std::size_t first = 0; first < hyperplanes.size();) {
    std::size_t last = first;
    while (last < hyperplanes.size() && hyperplanes[last].feature == hyperplanes[first].feature) ++last;
    const int feature = hyperplanes[first].feature;
    std::vector<int> values;
    if (ensemble.is_set(feature)) values = store.sets(feature).values(region.values[feature]);
    for (int cell = 0; cell < n_cells; ++cell) {
      if (!values.empty()) {
        slabs[static_cast<std::size_t>(cell) * ensemble.n_features + feature] =
            values[random(static_cast<std::uint32_t>(values.size()))];
        continue;
      }
      const std::uint32_t pick = random(static_cast<std::uint32_t>(last - first) + 1);
      slabs[static_cast<std::size_t>(cell) * ensemble.n_features + feature] =
          first + pick < last ? hyperplanes[first + pick].level : hyperplanes[last - 1].level + 1;
    }
    first = last;
  }

  std::vector<double> scores(static_cast<std::size_t>(n_cells) * n_outputs);
  std::vector<std::int32_t> leaves(static_cast<std::size_t>(n_cells) * region.trees.size());
  for (int cell = 0; cell < n_cells; ++cell) {
    double* score = &scores[static_cast<std::size_t>(cell) * n_outputs];
    std::copy(region.base.begin(), region.base.end(), score);
    for (std::size_t t = 0; t < region.trees.size(); ++t) {
      const std::int32_t leaf = leaf_of(region.trees[t], &slabs[static_cast<std::size_t>(cell) * ensemble.n_features]);
      leaves[static_cast<std::size_t>(cell) * region.trees.size() + t] = leaf;
      for (int k = 0; k < n_outputs; ++k) score[k] += ensemble.leaf_value(leaf)[k];
    }
  }

  std::vector<Influence> influences;
  std::vector<std::size_t> touched;  // trees that may split on the feature in hand
  std::vector<double> others(n_outputs), here(n_outputs), below(n_outputs);
  int feature_in_hand = -1;
  for (const Hyperplane* hyperplane : measured) {
    const int feature = hyperplane->feature;
    if (feature != feature_in_hand) {
      feature_in_hand = feature;
      touched.clear();
      for (std::size_t t = 0; t < region.trees.size(); ++t)
        if (store[region.trees[t]].features >> (feature & 63) & 1) touched.push_back(t);
    }
    double changes = 0;
    bool is_witnessed = false;
    for (int cell = 0; cell < n_cells; ++cell) {
      int* own_slabs = &slabs[static_cast<std::size_t>(cell) * ensemble.n_features];
      std::copy_n(&scores[static_cast<std::size_t>(cell) * n_outputs], n_outputs, others.begin());
      for (const std::size_t t : touched) {
        const double* value = ensemble.leaf_value(leaves[static_cast<std::size_t>(cell) * region.trees.size() + t]);
        for (int k = 0; k < n_outputs; ++k) others[k] -= value[k];
      }
      const int kept = own_slabs[feature];
      int classes[2], beside[2];
      slabs_beside(region, *hyperplane, kept, beside);
      for (const int side : {0, 1}) {
        own_slabs[feature] = beside[side];
        here = others;
        for (const std::size_t t : touched) {
          const double* value = ensemble.leaf_value(leaf_of(region.trees[t], own_slabs));
          for (int k = 0; k < n_outputs; ++k) here[k] += value[k];
        }
        if (scores_ == nullptr)
          classes[side] = class_of(here.data());
        else if (side == 0)
          below = here;
      }
      own_slabs[feature] = kept;
      if (scores_ != nullptr) {
        changes += scores_->change(below.data(), here.data());
        continue;
      }
      if (classes[0] == classes[1]) continue;
      changes += 1;
      is_witnessed = is_witnessed || class_changes(region, own_slabs, *hyperplane);
    }
    influences.push_back({feature, hyperplane->level, changes, is_witnessed});
  }
  std::stable_sort(influences.begin(), influences.end(),
                   [](const Influence& a, const Influence& b) { return a.changes > b.changes; });
  return influences;
}

}  // namespace onetree
