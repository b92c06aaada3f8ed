// Bounds of what the steps after the sums give, over a box of sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proof/model.hpp"

namespace onetree::proof {

// The outputs, then the results of every step, each between two numbers.
class Registers {
 public:
  // Whether it is to be known which of them are the same all over the box.
  explicit Registers(bool knows_same) : knows_same_(knows_same) {}

  void clear();
  // One more register: first, the divided sums.
  void put(double low, double high, double slack = 0);
  void take(const Step& step);

  std::size_t size() const { return low_.size(); }
  double low(std::size_t i) const { return low_[i]; }
  double high(std::size_t i) const { return high_[i]; }
  // Whether the library computes one and the same number all over the box, wherever between the bounds that is.
  bool is_same(std::size_t i) const { return same_[i] != 0; }

 private:
  std::vector<double> low_, high_;
  std::vector<std::uint8_t> same_;
  const bool knows_same_;
  bool inputs_are_same_ = false;  // of the step that is taken
};

}  // namespace onetree::proof
