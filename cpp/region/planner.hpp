// What to do with one region on the way to a faithful tree: the rule of the heuristic, which the estimate follows too.
//
// Regions are cut where sampled cells say that it matters most, until the grid of what is left is small enough for the
// interval DP.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/control.hpp"
#include "grid/grid.hpp"
#include "region/influence.hpp"
#include "region/prover.hpp"
#include "region/region.hpp"
#include "region/score_bounds.hpp"

namespace onetree {

// What to do with a region: a leaf, a grid that is painted and cut up on its cells, or a cut.
struct Plan {
  enum class Kind { kLeaf, kGrid, kCut } kind;
  int leaf_class = 0;
  int feature = 0, level = 0;                 // of the cut; on a set axis, the number of the test
  Region below, above;                        // the two sides of the cut
  double weight_below = 0, weight_above = 0;  // square roots of the sides' cells
};

class Planner {
 public:
  // `max_boxes` 0: chosen by the size of the whole.
  Planner(const Ensemble& ensemble, double max_boxes, std::uint64_t seed);
  // For scores: `scored_ensemble` is the ensemble as `scored` gives it, and leaves are numbered by `leaves`.
  Planner(const Ensemble& scored_ensemble, const Ensemble& original, const Scoring& scoring, ScoreLeaves& leaves,
          double max_boxes, std::uint64_t seed);

  // What bounds alone tell: a leaf; or that its grid may be small enough to be painted; otherwise it must be cut.
  Plan first_look(const Region& region);
  // A cut; or a leaf, if that is proven.
  Plan cut(const Region& region, Control& control);
  // Hyperplanes of a painted grid.
  void mark_essential(const std::vector<Axis>& axes);
  Regions& regions() { return regions_; }
  std::int64_t n_essential() const;  // hyperplanes seen to matter somewhere

  // For the exact engine: of one grid, where the top of the tree is small, and of each of thousands, where it is large.
  static constexpr double kManyBoxes = 3e8, kFewBoxes = 5e5;
  static constexpr double kManySetBoxes = 1e7;  // instead of kManyBoxes where there are set axes
  double max_boxes;                             // grids up to this size go to the exact engine

 private:
  void count_levels(bool chooses_max_boxes);
  int leaf_of(const Region& region);
  double most_cells() const;
  double cells_of(const Region& region);
  void cut_at(const Region& region, int feature, int level, Plan& plan);
  void mark_essential(int feature, double threshold);

  const Ensemble& ensemble_;
  Regions regions_;
  Prover prover_;
  std::unique_ptr<ScoreBounds> scores_;  // null: it is about classes
  ScoreLeaves* leaves_ = nullptr;
  std::vector<double> least_, most_;
  InfluenceSampler sampler_;
  std::vector<std::vector<char>> essential_;  // per feature and level: witnessed
  // What `cells_of` met in the region in hand; marks of another region are older.
  std::uint32_t mark_ = 0;
  std::vector<std::uint32_t> tree_mark_, level_mark_;
  std::vector<std::size_t> first_level_;  // per feature: index in level_mark_
  std::vector<TreeStore::Id> todo_;
};

}  // namespace onetree
