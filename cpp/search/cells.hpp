// What the search is about: cells with classes, or cells that admit numbers. A policy, resolved at compile time.
#pragma once

#include "grid/function.hpp"
#include "grid/grid.hpp"
#include "grid/score_function.hpp"
#include "grid/score_grid.hpp"
#include "search/fooling.hpp"
#include "search/score_fooling.hpp"

namespace onetree {

struct ClassCells {
  using Grid = onetree::Grid;
  using Function = onetree::Function;
  using Profile = onetree::Profile;
  using Bounds = Fooling;
  // As a cut moves by one slab of an order, one side loses a hyperplane that mattered, hence so many splits.
  static constexpr int kSplitsPerSlab = 1;
};

// Here a hyperplane that matters may still not be cut: the cells on its sides may be at odds with others only.
struct ScoreCells {
  using Grid = ScoreGrid;
  using Function = ScoreFunction;
  using Profile = ScoreProfile;
  using Bounds = ScoreFooling;
  static constexpr int kSplitsPerSlab = 0;
};

// There is one axis at most, and it has an order: the best trees are known, so such states are never opened.
inline bool is_line(const Extent& function) {
  return function.n_axes() <= 1 && !function.has_sets();
}
struct Line {
  int splits;  // no tree has fewer, and this many halved again and again are best in every way
  int middle;  // the cut to begin with
};
Line line_of(const Function& function);
Line line_of(const ScoreFunction& function);

// No tree has fewer: each of these needs a hyperplane, or an axis without an order, that no other of them can use.
int least_splits(const Function& function);
int least_splits(const ScoreFunction& function);

}  // namespace onetree
