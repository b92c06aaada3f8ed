// What boxes can be on each axis of a grid: intervals of slabs where it has an order, otherwise sets that tests leave.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "grid/function.hpp"
#include "grid/grid.hpp"
#include "grid/set_family.hpp"
#include "kernel/intervals.hpp"

namespace onetree {

// A part of an axis is an interval of slabs; of one without an order, the number of a set, as both ends.
class GridParts {
 public:
  // The sets of an axis, and the same as a list of parts with their splits. There, both ends of a set stand for the
  // set itself: they are so far apart that sets of one value are of length one, and sets of equal length do not depend
  // on each other, as it is with intervals.
  struct Sets {
    SetFamily family;
    Intervals list;
    std::vector<int> set_of_end;
  };

  // Throws GridTooLarge where the tests of an axis leave too many sets.
  GridParts(const GridAxes& grid, Control& control);

  const Sets* sets(int axis) const { return sets_[axis].get(); }  // null: the axis has an order
  std::size_t bytes() const;

  Box whole() const;
  int size(int axis, const Interval& part) const {  // in slabs or values
    return sets_[axis] ? sets_[axis]->family.count(part.lo) : part.length();
  }
  int first_slab(int axis, const Interval& part) const {
    return sets_[axis] ? sets_[axis]->family.least(part.lo) : part.lo;
  }
  // The positions of the cuts through a part: from the first up to, but not including, the second.
  std::pair<int, int> cuts(int axis, const Interval& part) const {
    if (!sets_[axis]) return {part.lo, part.hi};
    return {0, static_cast<int>(sets_[axis]->family.splits(part.lo).size())};
  }
  Interval side(const Cut& cut, const Interval& part, bool right) const {
    if (!sets_[cut.axis]) return right ? Interval{cut.position + 1, part.hi} : Interval{part.lo, cut.position};
    const SetSplit& split = sets_[cut.axis]->family.splits(part.lo)[cut.position];
    const int set = static_cast<int>(right ? split.outside : split.inside);
    return {set, set};
  }
  double threshold(const Cut& cut, const Interval& part) const {
    const std::vector<double>& thresholds = grid_.axes[cut.axis].thresholds;
    return thresholds[sets_[cut.axis] ? sets_[cut.axis]->family.splits(part.lo)[cut.position].test : cut.position];
  }

 private:
  const GridAxes& grid_;
  std::vector<std::unique_ptr<const Sets>> sets_;  // per axis
};

}  // namespace onetree
