#include "table/score_ranks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace onetree {

namespace {

struct Column {
  std::vector<std::uint32_t> least, most;  // per admission
  std::uint32_t largest = 0;
};

// The rank of an upper end is the number of lower ends that are not above it, counted in groups: neighbouring ends that
// no end of the other kind tells apart have the same rank.
Column ranked(const ScoreGrid& grid, int column) {
  const std::size_t n = grid.n_admissions(), n_columns = static_cast<std::size_t>(grid.n_columns);
  struct End {
    double at;
    bool is_upper;
    std::uint32_t admission;
  };
  std::vector<End> ends;
  ends.reserve(2 * n);
  for (std::size_t a = 0; a < n; ++a) {
    ends.push_back({grid.least[a * n_columns + column], false, static_cast<std::uint32_t>(a)});
    ends.push_back({grid.most[a * n_columns + column], true, static_cast<std::uint32_t>(a)});
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    return a.at != b.at ? a.at < b.at : a.is_upper < b.is_upper;  // a lower end is not above an equal upper end
  });
  Column ranks{std::vector<std::uint32_t>(n), std::vector<std::uint32_t>(n)};
  std::uint32_t rank = 0;
  bool after_upper = false;
  for (const End& end : ends) {
    if (!end.is_upper && after_upper) ++rank;
    after_upper = end.is_upper;
    (end.is_upper ? ranks.most : ranks.least)[end.admission] = rank;
  }
  ranks.largest = rank;
  return ranks;
}

// Whether `other` excludes every pair of admissions that `column` excludes.
bool is_implied(const Column& column, const Column& other) {
  // Per rank of the other: the largest own lower end of those that are not above it.
  std::vector<std::uint32_t> largest(other.largest + 1, 0);
  for (std::size_t a = 0; a < column.least.size(); ++a)
    largest[other.least[a]] = std::max(largest[other.least[a]], column.least[a]);
  std::partial_sum(largest.begin(), largest.end(), largest.begin(),
                   [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  for (std::size_t a = 0; a < column.most.size(); ++a)
    if (largest[other.most[a]] > column.most[a]) return false;
  return true;
}

}  // namespace

ScoreRanks::ScoreRanks(const ScoreGrid& grid) {
  std::vector<Column> columns;
  for (int column = 0; column < grid.n_columns; ++column) {
    Column next = ranked(grid, column);
    // Admissions that exclude each other, by taking the lowest upper end of all that begin above the last one taken.
    std::vector<std::uint32_t> first_upper(next.largest + 1, std::numeric_limits<std::uint32_t>::max());
    for (std::size_t a = 0; a < next.least.size(); ++a)
      first_upper[next.least[a]] = std::min(first_upper[next.least[a]], next.most[a]);
    std::int64_t leaves = 0;
    for (std::uint32_t rank = 0; rank <= next.largest; ++leaves) {
      std::uint32_t upper = std::numeric_limits<std::uint32_t>::max();
      for (std::uint32_t r = rank; r <= next.largest && r <= upper; ++r) upper = std::min(upper, first_upper[r]);
      rank = upper + 1;
    }
    fewest_ = std::max(fewest_, leaves);
    if (next.largest == 0) continue;  // nothing is excluded
    const auto implied = [&](const Column& known) { return is_implied(next, known); };
    if (std::any_of(columns.begin(), columns.end(), implied)) continue;
    std::erase_if(columns, [&](const Column& known) { return is_implied(known, next); });
    columns.push_back(std::move(next));
  }
  n_planes_ = 2 * static_cast<int>(columns.size());
  ranks_.resize(grid.n_admissions() * static_cast<std::size_t>(n_planes_));
  std::uint32_t largest = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    largest = std::max(largest, columns[c].largest);
    for (std::size_t a = 0; a < grid.n_admissions(); ++a) {
      ranks_[a * n_planes_ + 2 * c] = columns[c].least[a];
      ranks_[a * n_planes_ + 2 * c + 1] = columns[c].most[a];
    }
  }
  rank_bytes_ = largest <= 0xFF ? 1 : largest <= 0xFFFF ? 2 : 4;
}

}  // namespace onetree
