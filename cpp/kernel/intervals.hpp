// The intervals of a row of slabs, numbered by length, then by first slab: sub-intervals come first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/interval.hpp"

namespace onetree {

using Box = std::vector<Interval>;  // one interval per axis of the grid

inline int count_intervals(int n_slabs) {
  return n_slabs * (n_slabs + 1) / 2;
}

inline int interval_index(int n_slabs, int lo, int hi) {
  const int shorter = hi - lo;  // intervals of smaller length: n + (n-1) + ...
  return shorter * n_slabs - shorter * (shorter - 1) / 2 + lo;
}

// All intervals of n slabs with their splits; or other parts of an axis, where those that others are cut into come
// first.
class Intervals {
 public:
  // What the splits take most of: their number grows with the cube.
  static double bytes_for(double n_slabs) {
    return n_slabs * (n_slabs + 1) / 2 * (sizeof(Interval) + sizeof(int)) +
           (n_slabs * n_slabs - 1) * n_slabs / 6 * sizeof(SplitIndex);
  }

  // `tick` is called now and then; it may throw.
  template <typename Tick>
  Intervals(int n_slabs, Tick&& tick) : n_slabs_(n_slabs), first_split_{0} {
    const std::size_t n = static_cast<std::size_t>(n_slabs);
    intervals_.reserve(n * (n + 1) / 2);
    first_split_.reserve(n * (n + 1) / 2 + 1);
    splits_.reserve((n * n - 1) * n / 6);
    for (int length = 1; length <= n_slabs; ++length) {
      tick();
      for (int lo = 0; lo + length <= n_slabs; ++lo) {
        const int hi = lo + length - 1;
        intervals_.push_back({lo, hi});
        for (int cut = lo; cut < hi; ++cut)
          splits_.push_back({static_cast<std::uint32_t>(interval_index(n_slabs, lo, cut)),
                             static_cast<std::uint32_t>(interval_index(n_slabs, cut + 1, hi))});
        first_split_.push_back(static_cast<int>(splits_.size()));
      }
    }
  }
  // Parts in any form, the ranks of which tell which do not depend on each other: those of equal rank.
  Intervals(std::vector<Interval> parts, std::vector<int> ranks, std::vector<SplitIndex> splits,
            std::vector<int> first_split)
      : intervals_(std::move(parts)),
        splits_(std::move(splits)),
        first_split_(std::move(first_split)),
        ranks_(std::move(ranks)) {
    for (int index = 0; index < size(); ++index) n_slabs_ = std::max(n_slabs_, n_splits(index) + 1);
  }
  int n_slabs() const { return n_slabs_; }  // no part has as many splits
  int rank(int index) const { return ranks_.empty() ? intervals_[index].length() - 1 : ranks_[index]; }
  std::size_t bytes() const {
    return intervals_.size() * sizeof(Interval) + splits_.size() * sizeof(SplitIndex) +
           (first_split_.size() + ranks_.size()) * sizeof(int);
  }
  int size() const { return static_cast<int>(intervals_.size()); }
  const Interval& operator[](int index) const { return intervals_[index]; }
  const Interval* data() const { return intervals_.data(); }
  // Interval q has the splits from first_split()[q] to first_split()[q + 1].
  const SplitIndex* splits() const { return splits_.data(); }
  const int* first_split() const { return first_split_.data(); }
  const SplitIndex* splits(int index) const { return splits_.data() + first_split_[index]; }
  int n_splits(int index) const { return first_split_[index + 1] - first_split_[index]; }

 private:
  int n_slabs_ = 1;
  std::vector<Interval> intervals_;
  std::vector<SplitIndex> splits_;
  std::vector<int> first_split_;
  std::vector<int> ranks_{};  // empty: by length
};

}  // namespace onetree
