#include "region/region_ensemble.hpp"

namespace onetree {

RegionEnsemble::RegionEnsemble(Regions& regions, const Region& region) {
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
  view_ = Ensemble{whole.n_features, whole.n_outputs, whole.n_classes,  roots_, feature_, left_,
                   right_,           threshold_,      missing_left_,    value_, base_,    whole.nan_features,
                   whole.rule,       sets_,           whole.combination};
}

std::size_t RegionEnsemble::bytes() const {
  return feature_.size() * (3 * sizeof(std::int32_t) + sizeof(double) + 1) + value_.size() * sizeof(double);
}

}  // namespace onetree
