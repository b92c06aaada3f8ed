// How many leaves, and how deep, every tree of a function with set axes must be, from its cells alone.
//
// Two cells of a leaf have their hull in it: per axis the values that no test tells from both. A set of cells no two of
// which have a hull of one class needs as many leaves.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sets/set_function.hpp"
#include "sets/set_tree.hpp"

namespace onetree {

class SetFooling {
 public:
  // `work`: about the number of cells to look at, after which the bounds are what they are. `tick` is called on the way
  // and may throw.
  SetFooling(SetShapes& shapes, double work, std::function<void()> tick);

  SetBounds bounds(const SetFunction& function);
  // The set behind the last bounds: cells of its function.
  const std::vector<std::size_t>& chosen() const { return chosen_; }

 private:
  struct AxisInfo {
    int size;
    std::size_t stride;
    const SetShapes::Pairs* pairs;
    std::size_t first_mark;  // of its tests
  };

  void spend(double work);
  void lay_out(const SetFunction& function);
  std::int64_t splits_of_axes(const SetFunction& function);
  std::int64_t order_by_sensitivity(const SetFunction& function);
  void choose(const SetFunction& function);
  bool can_share_leaf(const SetFunction& function, std::size_t a, std::size_t b);
  int value(std::size_t cell, const AxisInfo& axis) const { return static_cast<int>(cell / axis.stride % axis.size); }

  SetShapes& shapes_;
  double work_, left_ = 0, since_tick_ = 0;
  std::function<void()> tick_;
  std::vector<AxisInfo> axes_;
  std::vector<std::uint32_t> mark_;  // per test: the cell, or axis, for which it was counted
  std::uint32_t next_mark_ = 0;
  std::vector<std::uint32_t> order_;  // cells
  std::vector<std::size_t> hull_, chosen_;
};

}  // namespace onetree
