#include "certify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "certificate.hpp"

namespace onetree {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The inputs of a box in one feature, and the slabs they lie in. A threshold that is no level of the ensemble cuts a
// slab into parts of the same class, so both parts count as the whole slab.
struct Range {
  double lower;                              // exclusive
  double upper;                              // inclusive
  bool missing;                              // NaN is inside as well
  int first, last;                           // slabs, inclusive
  ValueSets::Id values = ValueSets::kWhole;  // of a set axis, where nothing else counts

  bool has_number() const { return lower < upper; }
  bool is_empty() const { return !has_number() && !missing; }
};

Range make_range(const std::vector<double>& levels, double lower, double upper, bool missing) {
  const int n_levels = static_cast<int>(levels.size());
  Range range{lower, upper, missing, n_levels, n_levels};
  if (!range.has_number()) return range;
  range.first = static_cast<int>(std::upper_bound(levels.begin(), levels.end(), lower) - levels.begin());
  if (!missing) range.last = static_cast<int>(std::lower_bound(levels.begin(), levels.end(), upper) - levels.begin());
  return range;
}

// An input of the range that lies in one of its slabs.
double value_in(const Range& range, const std::vector<double>& levels, bool takes_nan, int slab) {
  const int n_levels = static_cast<int>(levels.size());
  if (!range.has_number() || (takes_nan && n_levels > 0 && slab == n_levels))
    return std::numeric_limits<double>::quiet_NaN();
  const double top = slab < n_levels ? std::min(levels[slab], range.upper) : range.upper;
  if (top < kInfinity) return top;  // a level belongs to the slab below it
  const double bottom = slab > 0 ? std::max(levels[slab - 1], range.lower) : range.lower;
  return bottom > -kInfinity ? std::nextafter(bottom, kInfinity) : 0.0;
}

class Certifier {
 public:
  Certifier(const Ensemble& ensemble, Control& control)
      : ensemble_(ensemble),
        control_(control),
        regions_(ensemble, std::min(Regions::kStoreBytes, control.memory_limit / 4)),
        prover_(regions_),
        ranges_(ensemble.n_features) {
    prover_.position.phase = "proof";
  }

  BoxVerdicts certify(const InputBoxes& boxes, std::int64_t max_nodes);
  TreeVerdict certify(const ProvableTree& tree);

 private:
  struct Step {  // what a split did to the box
    int feature;
    Range before;
  };
  struct Pending {
    std::int32_t node;
    int feature;  // of the split that led here
    Range range;  // of that feature
    std::size_t trail;
    Region region;
  };

  Range whole(int feature) const;
  // What a split leaves on either side; kEmpty or an empty range where that is nothing.
  std::pair<Range, Range> sides(const Range& from, int feature, double threshold);
  bool is_empty(int feature, const Range& range) const {
    return ensemble_.is_set(feature) ? range.values == ValueSets::kEmpty : range.is_empty();
  }
  bool takes_nan(int feature) const { return ensemble_.nan_features[feature] != 0; }
  void narrow(int feature, const Range& from, const Range& to, Region& region);
  // Whether the box that ranges_ describe is proven to be of the class; an input of another class, if there is one.
  bool holds(const Region& region, int class_index, std::vector<double>& point,
             std::int64_t max_nodes = Prover::kNoBudget);
  ProofCounts counts() const { return {n_boxes_, prover_.n_nodes(), prover_.n_fragile()}; }

  const Ensemble& ensemble_;
  Control& control_;
  Regions regions_;
  Prover prover_;
  std::vector<Range> ranges_;
  std::int64_t n_boxes_ = 0;
};

Range Certifier::whole(int feature) const {
  Range range = make_range(regions_.levels()[feature], -kInfinity, kInfinity, takes_nan(feature));
  if (ensemble_.is_set(feature)) range.first = 0;
  return range;
}

std::pair<Range, Range> Certifier::sides(const Range& from, int feature, double threshold) {
  if (!ensemble_.is_set(feature)) {
    const std::vector<double>& levels = regions_.levels()[feature];
    return {make_range(levels, from.lower, std::min(from.upper, threshold), false),
            make_range(levels, std::max(from.lower, threshold), from.upper, from.missing)};
  }
  ValueSets& sets = regions_.store().sets(feature);
  std::pair<Range, Range> sides{from, from};
  for (const bool inside : {true, false}) {
    Range& side = inside ? sides.first : sides.second;
    side.values = sets.part(from.values, static_cast<int>(threshold), inside);
    if (side.values != ValueSets::kEmpty) side.first = sets.least(side.values);
  }
  return sides;
}

void Certifier::narrow(int feature, const Range& from, const Range& to, Region& region) {
  if (ensemble_.is_set(feature)) {
    if (to.values != from.values) regions_.restrict_to(region, feature, to.values);
    return;
  }
  if (to.first > from.first) regions_.restrict(region, {feature, to.first - 1, false}, region);
  if (to.last < from.last) regions_.restrict(region, {feature, to.last, true}, region);
}

bool Certifier::holds(const Region& region, int class_index, std::vector<double>& point, std::int64_t max_nodes) {
  prover_.position.states = n_boxes_++;
  const Certificate certificate = prover_.prove(region, control_, class_index, max_nodes);
  if (certificate.answer != Answer::refuted) return certificate.answer == Answer::proven;
  std::vector<int> cell(ranges_.size());
  for (std::size_t j = 0; j < cell.size(); ++j) cell[j] = ranges_[j].first;
  cell = certificate.cell(regions_, region, std::move(cell));
  for (int j = 0; j < ensemble_.n_features; ++j)
    point.push_back(ensemble_.is_set(j) ? cell[j] : value_in(ranges_[j], regions_.levels()[j], takes_nan(j), cell[j]));
  return false;
}

BoxVerdicts Certifier::certify(const InputBoxes& boxes, std::int64_t max_nodes) {
  BoxVerdicts verdicts;
  verdicts.holds.assign(boxes.n_boxes, 1);
  const int n_features = ensemble_.n_features;
  for (std::size_t box = 0; box < boxes.n_boxes; ++box) {
    const double *lower = boxes.lower + box * n_features, *upper = boxes.upper + box * n_features;
    if (regions_.store().size() > regions_.capacity()) regions_.collect(regions_.store().n_imported(), {});
    Region region = regions_.whole();
    bool is_empty = false;
    for (int j = 0; j < n_features; ++j) {
      const std::vector<double>& levels = regions_.levels()[j];
      const bool missing = takes_nan(j) && std::isnan(upper[j]);
      ranges_[j] = make_range(levels, lower[j], std::isnan(upper[j]) ? kInfinity : upper[j], missing);
      is_empty |= ranges_[j].is_empty();
    }
    if (is_empty) continue;
    for (int j = 0; j < n_features; ++j) narrow(j, whole(j), ranges_[j], region);
    verdicts.holds[box] = holds(region, boxes.class_index[box], verdicts.points, max_nodes);
  }
  verdicts.counts = counts();
  return verdicts;
}

// Walks down, so that boxes share the restrictions of the path to them.
TreeVerdict Certifier::certify(const ProvableTree& tree) {
  TreeVerdict verdict;
  for (int j = 0; j < ensemble_.n_features; ++j) ranges_[j] = whole(j);
  std::vector<Step> trail;
  std::vector<Pending> pending;
  TreeStore::Id most = regions_.capacity();
  std::int32_t node = 0;
  Region region = regions_.whole();
  for (;;) {
    while (tree.feature[node] >= 0) {
      const int j = tree.feature[node];
      const Range from = ranges_[j];
      const auto [left, right] = sides(from, j, tree.threshold[node]);
      if (is_empty(j, left)) {
        node = tree.right[node];
        continue;
      }
      if (!is_empty(j, right)) {
        pending.push_back({tree.right[node], j, right, trail.size(), region});
        narrow(j, from, right, pending.back().region);
        narrow(j, from, left, region);
        trail.push_back({j, from});
        ranges_[j] = left;
      }
      node = tree.left[node];
    }
    if (!holds(region, tree.class_index[node], verdict.point) || pending.empty()) break;
    Pending& next = pending.back();
    for (; trail.size() > next.trail; trail.pop_back()) ranges_[trail.back().feature] = trail.back().before;
    trail.push_back({next.feature, ranges_[next.feature]});
    ranges_[next.feature] = next.range;
    node = next.node;
    region = std::move(next.region);
    pending.pop_back();
    if (regions_.store().size() > most) {
      std::vector<Region*> live{&region};
      for (Pending& waiting : pending) live.push_back(&waiting.region);
      regions_.collect(regions_.store().n_imported(), live);
      most = std::max(regions_.capacity(), 2 * regions_.store().size());
    }
  }
  verdict.counts = counts();
  return verdict;
}

}  // namespace

BoxVerdicts certify_boxes(const Ensemble& ensemble, const InputBoxes& boxes, std::int64_t max_nodes, Control& control) {
  return Certifier(ensemble, control).certify(boxes, max_nodes);
}

TreeVerdict certify_tree(const Ensemble& ensemble, const ProvableTree& tree, Control& control) {
  return Certifier(ensemble, control).certify(tree);
}

}  // namespace onetree
