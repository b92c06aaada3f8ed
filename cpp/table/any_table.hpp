// The table that suits a grid, for those who only want it to be solved.
#pragma once

#include <cstdint>

#include "base/control.hpp"
#include "grid/grid.hpp"
#include "table/interval_dp.hpp"
#include "table/set_dp.hpp"

namespace onetree {

// Calls `job(dp)`: once, or a second time where the first table turned out not to hold what the grid needs. Throws
// GridTooLarge where the tests of an axis leave too many sets, and LimitReached.
template <typename GridType, typename Job>
auto with_table(const GridType& grid, std::int64_t max_splits, Control& control, Job&& job) {
  if (grid.has_order()) {
    try {
      IntervalDp dp(grid, max_splits, control);
      return job(dp);
    } catch (const GridTooLarge&) {
      if (!grid.has_sets()) throw;
    }
  }
  SetDp dp(grid, control);  // no axis to make rows of, or words that are too narrow
  return job(dp);
}

}  // namespace onetree
