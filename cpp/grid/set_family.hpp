// The sets of values that conjunctions of an axis' tests leave: what an interval is to an axis with an order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "grid/grid.hpp"

namespace onetree {

// The tests of any axis; one with thresholds has the values 0, 1, ... and tests that pass the lowest of them.
SetAxis tests_of(const Axis& axis);

struct SetSplit {
  int test;  // the first of those that split the set this way, whichever side is inside
  std::uint32_t inside, outside;
};

// Sets are numbered by size, then by their values: proper subsets come first.
class SetFamily {
 public:
  // One axis with more sets leaves a table of boxes little hope, and listing them takes long.
  static constexpr int kMaxSets = 1 << 16;
  static constexpr std::size_t kMaxSplits = std::size_t{1} << 24;

  // Throws GridTooLarge where there are too many sets or splits, LimitReached when time is up.
  SetFamily(const SetAxis& axis, Control& control, int max_sets = kMaxSets);

  int size() const { return static_cast<int>(least_.size()); }
  int least(int set) const { return least_[set]; }  // value
  int count(int set) const { return count_[set]; }  // of values
  // Every way to split the set in two, once.
  std::span<const SetSplit> splits(int set) const {
    return {splits_.data() + first_split_[set], splits_.data() + first_split_[set + 1]};
  }
  std::size_t n_splits() const { return splits_.size(); }
  std::size_t bytes() const;

 private:
  std::vector<int> least_, count_;
  std::vector<SetSplit> splits_;
  std::vector<std::size_t> first_split_;
};

struct BoxCount {
  double count;    // of boxes that a table has; at least that many otherwise
  bool is_listed;  // no axis has more than `max_sets` sets
};
BoxCount count_set_boxes(const GridAxes& grid, int max_sets = SetFamily::kMaxSets);

}  // namespace onetree
