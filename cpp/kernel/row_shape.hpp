// Which axes share a row of the interval table, and where each of their boxes lies in it.
//
// A row is made of groups of 16 bytes. One or two short axes are the lanes of a group: all combinations of their
// intervals. The intervals of the other axes of the row number its groups, so that splits along them join whole groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/intervals.hpp"

namespace onetree {

class RowShape {
 public:
  static constexpr int kEnoughGroups = 21;  // longer rows save little

  // `slabs`: of all axes of the grid; `order`: those that settle most of the others first. If no axis is short enough
  // to fill a third of a group, a row holds one value. Inside a row, what no longer matters is not dropped: fewer
  // groups make a smaller table, which takes more time for each byte.
  RowShape(const std::vector<int>& slabs, const std::vector<int>& order, std::size_t element_bytes,
           int most_groups = kEnoughGroups);

  const std::vector<int>& axes() const { return axes_; }  // those that number the groups, then those of the lanes
  bool has_axes() const { return !axes_.empty(); }
  const std::vector<int>& group_slabs() const { return group_slabs_; }  // of the axes of the lanes
  std::size_t element_bytes() const { return element_bytes_; }
  std::size_t bytes() const { return bytes_; }
  int n_groups() const { return static_cast<int>(splits_of_group_.size()); }
  // Groups with fewer splits come first.
  int n_splits(int group) const { return splits_of_group_[group]; }

  // A box is numbered by the sum of the shares of its intervals.
  int n_boxes() const { return static_cast<int>(place_.size()); }
  int share(int i, int lo, int hi) const { return interval_index(slabs_[i], lo, hi) * stride_[i]; }  // i: of the row
  std::size_t place(int box) const { return place_[box]; }                                           // in bytes
  const Interval* intervals(int box) const {  // one per axis of the row
    return intervals_.data() + static_cast<std::size_t>(box) * axes_.size();
  }

 private:
  void choose(const std::vector<int>& slabs, const std::vector<int>& order, int most_groups);
  void lay_out(const std::vector<int>& slabs);

  std::size_t element_bytes_, bytes_;
  std::vector<int> axes_, slabs_, stride_;
  std::vector<int> group_slabs_;
  std::vector<int> splits_of_group_;
  std::vector<std::uint16_t> place_;
  std::vector<Interval> intervals_;
};

}  // namespace onetree
