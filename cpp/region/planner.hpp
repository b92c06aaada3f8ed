// What to do with one region on the way to a faithful tree: the rule of the heuristic, which the estimate follows too.
//
// Regions are cut where sampled cells say that it matters most, until the grid of what is left is small enough for the
// interval DP.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/control.hpp"
#include "grid/grid.hpp"
#include "region/influence.hpp"
#include "region/prover.hpp"
#include "region/region.hpp"
#include "tree/solution.hpp"

namespace onetree {

// What to do with a region: a leaf, a small grid for the exact engine, or a cut.
struct Plan {
  enum class Kind { kLeaf, kGrid, kCut } kind;
  int leaf_class = 0;
  Grid grid;
  int feature = 0, level = 0;                 // of the cut; on a set axis, the number of the test
  Region below, above;                        // the two sides of the cut
  double weight_below = 0, weight_above = 0;  // square roots of the sides' cells
};

class Planner {
 public:
  // `max_boxes` 0: chosen by the size of the whole.
  Planner(const Ensemble& ensemble, double max_boxes, std::uint64_t seed);

  Plan plan(const Region& region, Control& control);
  Regions& regions() { return regions_; }
  std::int64_t n_essential() const;  // hyperplanes seen to matter somewhere

  // For the exact engine: of one grid, where the top of the tree is small, and of each of thousands, where it is large.
  static constexpr double kManyBoxes = 1e9, kFewBoxes = 1e6;
  static constexpr double kManySetBoxes = 1e7;  // instead of kManyBoxes where there are set axes
  double max_boxes;                             // grids up to this size go to the exact engine

 private:
  std::optional<Grid> small_grid(const Region& region, Control& control);
  double most_cells() const;
  double cells_of(const Region& region);
  void cut_at(const Region& region, int feature, int level, Plan& plan);
  void cut_grid(const Region& region, const Grid& grid, Plan& plan);
  int level_of(const Axis& axis, int position) const;
  void mark_essential(int feature, double threshold);

  const Ensemble& ensemble_;
  Regions regions_;
  Prover prover_;
  InfluenceSampler sampler_;
  std::vector<std::vector<char>> essential_;  // per feature and level: witnessed
  // What `cells_of` met in the region in hand; marks of another region are older.
  std::uint32_t mark_ = 0;
  std::vector<std::uint32_t> tree_mark_, level_mark_;
  std::vector<std::size_t> first_level_;  // per feature: index in level_mark_
  std::vector<TreeStore::Id> todo_;
};

// As the exact engine for the grid counts them; infinite where an axis has so many sets that even listing them takes
// long.
double boxes_of(const Grid& grid);

// The best tree of a small grid, for one objective. `peak_bytes`, where given, is what that took.
FlatTree tree_of_grid(const Grid& grid, Objective objective, Control& control, std::size_t* peak_bytes = nullptr);

}  // namespace onetree
