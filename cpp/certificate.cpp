#include "certificate.hpp"

#include <algorithm>
#include <utility>

namespace onetree {

std::vector<int> Certificate::cell(Regions& regions, const Region& box, std::vector<int> first_cell_of_box) const {
  std::vector<ValueSets::Id> values = box.values;
  for (const HalfSpace& half : path) {
    int& slab = first_cell_of_box[half.feature];
    if (regions.ensemble().is_set(half.feature)) {
      ValueSets& sets = regions.store().sets(half.feature);
      values[half.feature] = sets.part(values[half.feature], half.level, half.below);
      slab = sets.least(values[half.feature]);
    } else if (!half.below) {
      slab = std::max(slab, half.level + 1);
    }
  }
  return first_cell_of_box;
}

Prover::Frame& Prover::push() {
  if (n_frames_ == frames_.size()) frames_.emplace_back();
  return frames_[n_frames_++];
}

Certificate Prover::prove(const Region& region, Control& control, int expected, std::int64_t max_nodes) {
  const Class first = regions_.corner_class(region);
  if (expected != kAnyClass && expected != first) return {Answer::refuted, expected, first, {}};
  const TreeStore::Id mark = regions_.store().size();
  TreeStore::Id most = std::max(regions_.capacity(), 2 * mark);  // what was there before stays, and is gone through
  const std::int64_t last_node = max_nodes > kNoBudget - n_nodes_ ? kNoBudget : n_nodes_ + max_nodes;
  n_frames_ = 0;
  path_.clear();
  push().region = region;
  frames_[0].depth = 0;
  frames_[0].new_corner = false;
  while (n_frames_ > 0) {
    if (n_nodes_ >= last_node) return {Answer::unknown, first, -1, {}};
    ++n_nodes_;
    control.check(position.phase, position.lower_bound, position.upper_bound, position.states, position.fraction);
    if (regions_.store().size() > most) {
      collect(mark);
      most = std::max(most, 2 * regions_.store().size());
    }
    std::swap(current_, frames_[--n_frames_]);
    const Region& here = current_.region;
    if (current_.depth > 0) {
      path_.resize(current_.depth - 1);
      path_.push_back(current_.half);
    }
    if (current_.new_corner) {
      const Class corner = regions_.corner_class(here);
      if (corner != first) return {Answer::refuted, first, corner, path_};
    }
    regions_.leads(here, first, lead_);
    int rival = -1;  // the most dangerous one
    for (int k = 0; k < regions_.ensemble().n_classes; ++k)
      if (k != first && (rival < 0 || lead_[k] > lead_[rival]) && !regions_.is_beaten(here, first, k, lead_[k]))
        rival = k;
    if (rival < 0) continue;
    if (regions_.is_constant(here)) {  // one cell as far as the trees can tell, and its class was just seen
      ++n_fragile_;
      continue;
    }
    const Branch branch = choose(here, first, rival, regions_.excess(lead_[rival]));
    // The side where the rival is left with more comes off the stack first: it may hold a counterexample.
    const bool below_first = branch.reduction_below <= branch.reduction_above;
    for (const bool below : {!below_first, below_first}) {
      Frame& side = push();
      side.half = {branch.below.feature, branch.below.level, below};
      regions_.restrict(here, side.half, side.region);
      side.depth = current_.depth + 1;
      side.new_corner = !regions_.holds_corner(here, side.half);
    }
  }
  return {Answer::proven, first, -1, {}};
}

// Among the hyperplanes at the roots, the one with the largest product of what it takes from the rival's lead on either
// side. A tree whose root splits the same feature counts where the side settles its root; on a set axis, where it has
// the same test.
Prover::Branch Prover::choose(const Region& region, Class candidate, int rival, double excess) {
  TreeStore& store = regions_.store();
  reductions_.clear();
  for (const TreeStore::Id id : region.trees) {
    const TreeStore::Node& node = store[id];
    if (node.feature < 0) continue;
    const double gain = store.gains(candidate, id)[rival];
    reductions_.push_back({node.feature, store.level_of(node), gain - store.gains(candidate, node.left)[rival],
                           gain - store.gains(candidate, node.right)[rival]});
  }
  std::sort(reductions_.begin(), reductions_.end(), [](const Reduction& a, const Reduction& b) {
    return std::pair(a.feature, a.level) < std::pair(b.feature, b.level);
  });
  excess = std::max(excess, 0.0);
  Branch best{{reductions_[0].feature, reductions_[0].level, true}, 0, 0};
  std::pair<double, double> best_score{-1, 0};
  for (std::size_t begin = 0, end = 0; begin < reductions_.size(); begin = end) {
    double below = 0, above = 0;  // roots at this level and higher go left below it; at this level and lower, right
    const auto [feature, first_level] = std::pair(reductions_[begin].feature, reductions_[begin].level);
    const bool one_level = regions_.ensemble().is_set(feature);
    for (end = begin; end < reductions_.size() && reductions_[end].feature == feature &&
                      (!one_level || reductions_[end].level == first_level);
         ++end)
      below += reductions_[end].below;
    for (std::size_t i = begin; i < end;) {
      const int level = reductions_[i].level;
      double passed = 0;
      for (; i < end && reductions_[i].level == level; ++i) {
        above += reductions_[i].above;
        passed += reductions_[i].below;
      }
      // More than the excess is not needed; a side that loses nothing still leaves the other to compare.
      const double least = 1e-3 * excess;
      const std::pair score{std::clamp(below, least, excess) * std::clamp(above, least, excess), below + above};
      if (score > best_score) {
        best_score = score;
        best = {{feature, level, true}, below, above};
      }
      below -= passed;
    }
  }
  return best;
}

void Prover::collect(TreeStore::Id mark) {
  std::vector<Region*> live;
  for (std::size_t i = 0; i < n_frames_; ++i) live.push_back(&frames_[i].region);
  regions_.collect(mark, live);
}

}  // namespace onetree
