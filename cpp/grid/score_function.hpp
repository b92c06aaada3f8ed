// What cells admit on a small grid, in reduced form: nothing is left of it but which cells must not share a leaf.
//
// Two cells are at odds if in some column one admits only numbers above all that the other admits. A box may be a leaf
// iff no two of its cells are at odds (intervals that meet two by two all meet), so the ends of the intervals matter
// only by their order: lower ends with no upper end between them are one, and those below every upper end might as well
// be anywhere. Cells that admit the same by then are not told apart, which makes hyperplanes idle that were not. So a
// box may be a leaf iff its function is constant, and boxes whose cells are at odds in the same way are one function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "grid/function.hpp"
#include "grid/score_grid.hpp"

namespace onetree {

struct ScoreFunction : Extent {
  using Rank = std::uint32_t;

  std::vector<std::uint32_t> cells;  // last axis fastest: admissions, numbered in the order of their appearance
  int n_columns = 0;                 // those in which some cells are at odds, none of them twice
  std::vector<Rank> least, most;     // n_columns x n_admissions; at odds iff one's least is above the other's most

  std::size_t n_cells() const { return cells.size(); }
  std::size_t n_admissions() const { return n_columns == 0 ? 1 : least.size() / static_cast<std::size_t>(n_columns); }
};

// Tells nothing beforehand: what survives of a side is known when it is built.
class ScoreProfile {
 public:
  ScoreProfile(const ScoreFunction& function, Shapes& shapes, std::function<void()> tick = {});
  Shapes& shapes() const { return shapes_; }
  void tick() const {
    if (tick_) tick_();
  }

 private:
  Shapes& shapes_;
  std::function<void()> tick_;
};

ScoreFunction function_of(const ScoreGrid& grid, Shapes& shapes, Origin* origin = nullptr);

// One side of a cut, reduced. `origin`, where given, is carried along.
ScoreFunction side_of(const ScoreFunction& function, const ScoreProfile& profile, const Cut& cut, bool left,
                      const Origin* origin = nullptr, Origin* origin_of_side = nullptr);

// Of the cuts, or of some where there are many cells, the one whose sides have the smallest sum of square roots of
// cells.
Cut cut_of_fewest_cells(const ScoreFunction& function, const ScoreProfile& profile);

// Of a function with one axis, which has an order: the slabs with which leaves end, if each is as long as it can be.
// No tree has fewer leaves.
std::vector<int> ends_of_leaves(const ScoreFunction& function);

// A grid of its own, whose thresholds are the positions of cuts.
ScoreGrid grid_of(const ScoreFunction& function, const Shapes& shapes);

}  // namespace onetree
