// How splits along the axes of a row are made, by vectors of a given width.
#pragma once

#include <vector>

#include "kernel/kernel.hpp"
#include "kernel/row_shape.hpp"

namespace onetree {

class RowPlanner {
 public:
  // `groups_at_once`: in a vector.
  RowPlanner(const RowShape& shape, int groups_at_once);

  RowPlan plan() const {  // holds as long as this
    return {row_bytes_, group_, chunks_.data(), static_cast<int>(chunks_.size()), splits_.data()};
  }
  int n_levels() const { return group_ == nullptr ? 0 : group_->n_levels; }

 private:
  std::size_t row_bytes_;
  const GroupPlan* group_ = nullptr;
  std::vector<Chunk> chunks_;
  std::vector<GroupSplit> splits_;
};

}  // namespace onetree
