#include "search/cells.hpp"

#include <algorithm>
#include <vector>

namespace onetree {

Line line_of(const Function& function) {
  if (function.is_constant()) return {0, 0};
  return {function.size[0] - 1, (function.size[0] - 2) / 2};
}

Line line_of(const ScoreFunction& function) {
  if (function.is_constant()) return {0, 0};
  const std::vector<int> ends = ends_of_leaves(function);
  return {static_cast<int>(ends.size()) - 1, ends[(ends.size() - 2) / 2]};
}

// Every hyperplane that matters, and every axis without an order, is split at least once.
int least_splits(const Function& function) {
  int n = 0;
  for (int axis = 0; axis < function.n_axes(); ++axis) n += function.is_set(axis) ? 1 : function.size[axis] - 1;
  return n;
}

// Where cells of one line along an axis are at odds, a hyperplane between them is cut: of such stretches as many as
// share no hyperplane, taken by their ends.
int least_splits(const ScoreFunction& function) {
  int n = 0;
  const std::size_t n_admissions = function.n_admissions(), n_cells = function.n_cells();
  std::size_t inner = n_cells;
  std::vector<ScoreFunction::Rank> least, most;  // per column and line, since the last cut
  for (int axis = 0; axis < function.n_axes(); ++axis) {
    const auto slabs = static_cast<std::size_t>(function.size[axis]);
    inner /= slabs;
    const std::size_t block = inner * slabs, n_lines = n_cells / slabs;
    least.resize(function.n_columns * n_lines);
    most.resize(function.n_columns * n_lines);
    for (std::size_t slab = 0; slab < slabs; ++slab) {
      // Returns whether a line is at odds with itself by now.
      const auto pass = [&](bool anew) {
        bool at_odds = false;
        for (int c = 0; c < function.n_columns; ++c) {
          const ScoreFunction::Rank* low = function.least.data() + c * n_admissions;
          const ScoreFunction::Rank* high = function.most.data() + c * n_admissions;
          std::size_t line = c * n_lines;
          for (std::size_t first = slab * inner; first < n_cells; first += block)
            for (std::size_t cell = first; cell < first + inner; ++cell, ++line) {
              const std::uint32_t admission = function.cells[cell];
              least[line] = anew ? low[admission] : std::max(least[line], low[admission]);
              most[line] = anew ? high[admission] : std::min(most[line], high[admission]);
              at_odds = at_odds || least[line] > most[line];
            }
        }
        return at_odds;
      };
      const bool is_cut = slab > 0 && pass(false);
      if (is_cut) ++n;
      if (is_cut && function.is_set(axis)) break;
      if (slab == 0 || is_cut) pass(true);
    }
  }
  return n;
}

}  // namespace onetree
