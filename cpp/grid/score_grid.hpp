// The grid for trees whose leaves carry numbers: of every cell, which numbers a leaf there may have.
//
// Each cell *admits* an interval of numbers per column. A box may be a leaf iff in every column the largest of the
// lower ends is not above the smallest of the upper ends. Cells that admit the same are not told apart.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "grid/grid.hpp"
#include "model/ensemble.hpp"

namespace onetree {

struct ScoreGrid : GridAxes {
  std::vector<std::uint32_t> cells;  // per cell, last axis fastest: the number of its admission
  int n_columns = 1;
  std::vector<double> least, most;  // n_admissions x n_columns, both inclusive; no two admissions are equal

  std::size_t n_cells() const { return cells.size(); }
  std::size_t n_admissions() const { return least.size() / static_cast<std::size_t>(n_columns); }
};

// Called once, with all distinct sums that occur (n_rows x n_outputs, divided as the library divides them). Fills
// n_rows x n_columns numbers each, finite or infinite but never NaN, and no interval empty.
using Admit = std::function<void(std::span<const double> sums, std::size_t n_rows, std::vector<double>& least,
                                 std::vector<double>& most)>;

// All distinct sums that occur, as `admit` gets them. Throws GridTooLarge, or LimitReached when time is up.
std::vector<double> distinct_sums(const Ensemble& ensemble, Control& control, std::size_t max_states = kMaxStates);

// Throws GridTooLarge, LimitReached when time is up, and std::invalid_argument where `admit` breaks its promise.
ScoreGrid build_score_grid(const Ensemble& ensemble, int n_columns, const Admit& admit, Control& control,
                           std::size_t max_states = kMaxStates);

}  // namespace onetree
