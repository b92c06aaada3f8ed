// Synthetic rows: each a copy of one row, some values of which are those of others.
#pragma once

#include "support/row_table.hpp"

namespace onetree {

// Whom new rows descend from: one of `copied`, and others from its line of `others`; a single line serves all.
struct Parents {
  RowNumbers copied;
  RowNumbers others;
  std::size_t n_others;  // in a line
};

// Fills rows of a table from `first` on. Each feature of the data, which is one or several columns in turn as `origin`
// says, comes with probability one half from another parent. The same seed gives the same rows everywhere.
void mix_rows(std::int32_t* slabs, std::ptrdiff_t stride, std::span<const std::int32_t> origin, const Parents& parents,
              std::size_t first, std::size_t n_new, std::uint64_t seed);

}  // namespace onetree
