// What cells admit, as small integers: only which lower end lies above which upper end matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grid/score_grid.hpp"

namespace onetree {

// Of every admission and column two ranks, so that lower end a <= upper end b iff rank of a <= rank of b. Columns that
// forbid nothing which others allow are left out: a box may be a leaf iff no two of its cells exclude each other.
class ScoreRanks {
 public:
  explicit ScoreRanks(const ScoreGrid& grid);

  int n_planes() const { return n_planes_; }              // two per column that is left
  std::size_t rank_bytes() const { return rank_bytes_; }  // 1, 2 or 4: what the largest rank needs
  std::int64_t fewest_leaves() const { return fewest_; }  // cells no two of which can share a leaf
  // Even planes: lower ends, of which a box has the largest; odd ones: upper ends, of which it has the smallest.
  std::uint32_t rank(std::uint32_t admission, std::size_t plane) const {
    return ranks_[static_cast<std::size_t>(admission) * n_planes_ + plane];
  }

 private:
  int n_planes_ = 0;
  std::size_t rank_bytes_ = 1;
  std::int64_t fewest_ = 1;
  std::vector<std::uint32_t> ranks_;  // per admission and plane
};

}  // namespace onetree
