#include "region/prover.hpp"

#include <algorithm>
#include <utility>

namespace onetree {

Prover::Frame& Prover::push() {
  if (n_frames_ == frames_.size()) frames_.emplace_back();
  return frames_[n_frames_++];
}

int Prover::class_of(const Region& region, std::int64_t max_nodes, Control& control) {
  const Class first = regions_.corner_class(region);
  const TreeStore::Id mark = regions_.store().size();
  TreeStore::Id most = std::max(regions_.capacity(), 2 * mark);  // what was there before stays, and is gone through
  n_frames_ = 0;
  push().region = region;
  frames_[0].new_corner = false;
  for (std::int64_t n_nodes = 0; n_frames_ > 0; ++n_nodes) {
    if (n_nodes == max_nodes) return -1;
    control.check("certificate", -1, -1, 0);
    if (regions_.store().size() > most) {
      collect(mark);
      most = std::max(most, 2 * regions_.store().size());
    }
    std::swap(current_, frames_[--n_frames_]);
    const Region& here = current_.region;
    if (current_.new_corner && regions_.corner_class(here) != first) return -1;
    regions_.leads(here, first, lead_);
    int rival = -1;  // the most dangerous one
    for (int k = 0; k < regions_.ensemble().n_classes; ++k)
      if (k != first && (rival < 0 || lead_[k] > lead_[rival]) && !regions_.is_beaten(here, first, k, lead_[k]))
        rival = k;
    // One cell as far as the trees can tell has the class that was just seen.
    if (rival < 0 || regions_.is_constant(here)) continue;
    const Branch branch = choose(here, first, rival, regions_.excess(lead_[rival]));
    // The side where the rival is left with more comes off the stack first: it may be of another class.
    const bool below_first = branch.reduction_below <= branch.reduction_above;
    for (const bool below : {!below_first, below_first}) {
      const HalfSpace half{branch.below.feature, branch.below.level, below};
      Frame& side = push();
      regions_.restrict(here, half, side.region);
      side.new_corner = !regions_.holds_corner(here, half);
    }
  }
  return first;
}

// Among the hyperplanes at the roots, the one with the largest product of what it takes from the rival's lead on either
// side. A tree whose root splits the same feature counts where the side settles its root; on a set axis, where it has
// the same test.
Prover::Branch Prover::choose(const Region& region, Class candidate, int rival, double excess) {
  const TreeStore& store = regions_.store();
  reductions_.clear();
  regions_.weigh(candidate, rival);
  for (const TreeStore::Id id : region.trees) {
    const TreeStore::Node& node = store[id];
    if (node.feature < 0) continue;
    const double gain = regions_.gain(candidate, rival, id);
    reductions_.push_back({node.feature, store.level_of(node), gain - regions_.gain(candidate, rival, node.left),
                           gain - regions_.gain(candidate, rival, node.right)});
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
