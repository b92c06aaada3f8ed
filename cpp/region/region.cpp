#include "region/region.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

namespace onetree {

namespace {

constexpr double kBytesPerTree = 100;  // without its gains

// The library's own accumulation of one score, run on a leaf of every tree that is extreme in the same direction.
// Rounded addition and division are monotone, so the result bounds every score that the library can compute.
template <typename Real, typename Extreme>
double accumulate(const Ensemble& ensemble, const std::vector<TreeStore::Id>& trees, Extreme extreme) {
  Real sum = static_cast<Real>(ensemble.base[0]);
  for (const TreeStore::Id id : trees) sum += static_cast<Real>(extreme(id));
  return ensemble.rule.divisor == 1.0 ? sum : static_cast<Real>(sum / static_cast<Real>(ensemble.rule.divisor));
}

}  // namespace

Regions::Regions(const Ensemble& ensemble, std::size_t store_bytes)
    : ensemble_(ensemble),
      levels_(levels_of(ensemble)),
      store_(ensemble, levels_),
      exact_(ensemble.sums_are_exact()),
      margin_(ensemble.margin()),
      capacity_(
          static_cast<TreeStore::Id>(static_cast<double>(store_bytes) / (kBytesPerTree + 16.0 * ensemble.n_classes))),
      scores_(ensemble.n_outputs),
      combined_(ensemble) {
  capacity_ = std::max(capacity_, 2 * store_.size());
}

Region Regions::whole() {
  Region region{store_.roots(), {ensemble_.base.begin(), ensemble_.base.end()}, {}};
  region.values.assign(ensemble_.sets.size(), ValueSets::kWhole);
  if (exact_) fold_constants(region);
  return region;
}

void Regions::fold_constants(Region& region) {
  std::size_t kept = 0;
  for (const TreeStore::Id id : region.trees) {
    const TreeStore::Node& node = store_[id];
    if (node.feature >= 0) {
      region.trees[kept++] = id;
    } else {
      const double* value = ensemble_.leaf_value(node.corner);
      for (int k = 0; k < ensemble_.n_outputs; ++k) region.base[k] += value[k];
    }
  }
  region.trees.resize(kept);
}

void Regions::restrict(const Region& region, const HalfSpace& half, Region& part) {
  if (ensemble_.is_set(half.feature)) {
    part = region;
    restrict_to(part, half.feature,
                store_.sets(half.feature).part(region.values[half.feature], half.level, half.below));
    return;
  }
  part.base = region.base;
  part.values = region.values;
  part.trees.resize(region.trees.size());
  for (std::size_t i = 0; i < part.trees.size(); ++i) part.trees[i] = store_.restricted(region.trees[i], half);
  if (exact_) fold_constants(part);
}

void Regions::restrict_to(Region& region, int feature, ValueSets::Id values) {
  region.values[feature] = values;
  for (TreeStore::Id& tree : region.trees) tree = store_.restricted_to(tree, feature, values);
  if (exact_) fold_constants(region);
}

bool Regions::holds_corner(const Region& region, const HalfSpace& half) const {
  if (!ensemble_.is_set(half.feature)) return half.below;
  const ValueSets& sets = store_.sets(half.feature);
  return sets.axis().contains(half.level, sets.least(region.values[half.feature])) == half.below;
}

bool Regions::is_constant(const Region& region) const {
  if (exact_) return region.trees.empty();
  return std::all_of(region.trees.begin(), region.trees.end(), [&](TreeStore::Id id) { return store_.is_leaf(id); });
}

Class Regions::corner_class(const Region& region) {
  if (!exact_) {
    leaves_.clear();
    for (const TreeStore::Id id : region.trees) leaves_.push_back(store_[id].corner);
    return ensemble_.decide(leaves_);
  }
  scores_ = region.base;
  for (const TreeStore::Id id : region.trees) {
    const double* value = ensemble_.leaf_value(store_[id].corner);
    for (int k = 0; k < ensemble_.n_outputs; ++k) scores_[k] += value[k];
  }
  for (double& score : scores_) score /= ensemble_.rule.divisor;
  return ensemble_.decide_scores(scores_);
}

int Regions::classify(const Region& region) {
  const Class candidate = corner_class(region);
  if (is_constant(region)) return candidate;
  leads(region, candidate, lead_);
  for (int rival = 0; rival < ensemble_.n_classes; ++rival)
    if (rival != candidate && !is_beaten(region, candidate, rival, lead_[rival])) return -1;
  return candidate;
}

void Regions::leads(const Region& region, Class candidate, std::vector<double>& lead) {
  if (ensemble_.combination != nullptr) return combined_leads(region, candidate, lead);
  const int n_classes = ensemble_.n_classes;
  lead.assign(n_classes, 0.0);
  for (const TreeStore::Id id : region.trees) {
    const double* gain = store_.gains(candidate, id);
    for (int k = 0; k < n_classes; ++k) lead[k] += gain[k];
  }
  if (ensemble_.n_outputs > 1) {
    for (int k = 0; k < n_classes; ++k) lead[k] += region.base[k] - region.base[candidate];
  } else if (n_classes > 1) {
    const double above = region.base[0] - ensemble_.rule.cut * ensemble_.rule.divisor;
    lead[1 - candidate] += candidate == 0 ? above : -above;
  }
  lead[candidate] = -std::numeric_limits<double>::infinity();
}

void Regions::bound_sums(const Region& region, std::vector<double>& low, std::vector<double>& high) {
  low = high = region.base;
  for (const TreeStore::Id id : region.trees) {
    const double* gain = store_.gains(0, id);
    for (int k = 0; k < ensemble_.n_outputs; ++k) {
      high[k] += gain[2 * k];
      low[k] -= gain[2 * k + 1];
    }
  }
}

void Regions::combined_leads(const Region& region, Class candidate, std::vector<double>& lead) {
  bound_sums(region, low_, high_);
  combined_.decisive(low_.data(), high_.data(), decisive_);
  lead.assign(ensemble_.n_classes, -std::numeric_limits<double>::infinity());
  for (int k = 0; k < ensemble_.n_classes; ++k)
    if (k != candidate) lead[k] = decisive_[k].high - decisive_[candidate].low;
}

// How much of the lead is gone when one sum is known, per unit of what was open of it.
void Regions::weigh(Class candidate, int rival) {
  if (ensemble_.combination == nullptr) return;
  const double lead = decisive_[rival].high - decisive_[candidate].low;
  weight_.assign(ensemble_.n_outputs, 0.0);
  std::vector<Between> found;
  for (int k = 0; k < ensemble_.n_outputs; ++k) {
    const double low = low_[k], high = high_[k];
    if (!(high > low)) continue;
    low_[k] = high_[k] = (low + high) / 2;
    combined_.decisive(low_.data(), high_.data(), found);
    weight_[k] = std::max(0.0, (lead - (found[rival].high - found[candidate].low)) / (high - low));
    low_[k] = low;
    high_[k] = high;
  }
}

double Regions::combined_gain(TreeStore::Id tree) {
  const double* range = store_.gains(0, tree);
  double total = 0;
  for (int k = 0; k < ensemble_.n_outputs; ++k) total += weight_[k] * (range[2 * k] + range[2 * k + 1]);
  return total;
}

bool Regions::is_beaten(const Region& region, Class candidate, int rival, double lead) const {
  if (ensemble_.combination != nullptr) return lead < 0;
  if (std::isinf(margin_)) return false;
  if (!exact_) return ensemble_.n_outputs == 1 ? score_is_beaten(region, candidate) : lead < -margin_;
  // A draw goes to the smaller class index, or as the cut says.
  const bool wins_draw = ensemble_.n_outputs > 1 ? rival < candidate : ensemble_.rule.cut_inclusive == (rival == 1);
  return wins_draw ? lead < 0 : lead <= 0;
}

bool Regions::score_is_beaten(const Region& region, Class candidate) const {
  auto extreme = [&](TreeStore::Id id) {
    return candidate == 0 ? store_.known_gains(0, id)[1] : -store_.known_gains(1, id)[0];
  };
  const double score = ensemble_.rule.float32 ? accumulate<float>(ensemble_, region.trees, extreme)
                                              : accumulate<double>(ensemble_, region.trees, extreme);
  return ensemble_.decide_scores({&score, 1}) == candidate;
}

std::vector<Hyperplane> Regions::hyperplanes(const Region& region) {
  // Parents have larger numbers than their children: by descending number, the share of a node is final when it comes.
  std::priority_queue<std::pair<TreeStore::Id, double>> todo;
  for (const TreeStore::Id id : region.trees) todo.emplace(id, 1.0);
  std::vector<Hyperplane> found;
  while (!todo.empty()) {
    const TreeStore::Id id = todo.top().first;
    double share = 0;
    for (; !todo.empty() && todo.top().first == id; todo.pop()) share += todo.top().second;
    const TreeStore::Node& node = store_[id];
    if (node.feature < 0) continue;
    found.push_back({node.feature, store_.level_of(node), share});
    todo.emplace(node.left, share / 2);
    todo.emplace(node.right, share / 2);
  }
  auto place = [](const Hyperplane& plane) { return std::pair(plane.feature, plane.level); };
  std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  std::size_t kept = 0;
  for (const Hyperplane& plane : found) {
    if (kept > 0 && place(found[kept - 1]) == place(plane))
      found[kept - 1].weight += plane.weight;
    else
      found[kept++] = plane;
  }
  found.resize(kept);
  return found;
}

void Regions::key_of(const Region& region, std::vector<std::int32_t>& key) const {
  key.assign(region.trees.begin(), region.trees.end());
  if (!exact_) return;
  std::sort(key.begin(), key.end());
  // Only differences of votes matter; a single score is compared with the cut.
  const double smallest = region.base.size() == 1 ? 0 : *std::min_element(region.base.begin(), region.base.end());
  for (const double b : region.base) key.push_back(static_cast<std::int32_t>(b - smallest));
}

void Regions::collect(TreeStore::Id mark, std::span<Region* const> live) {
  std::vector<std::vector<TreeStore::Id>*> trees;
  for (Region* region : live) trees.push_back(&region->trees);
  store_.collect(mark, trees);
}

}  // namespace onetree
