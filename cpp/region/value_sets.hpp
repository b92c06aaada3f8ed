// Sets of values of one set axis, each held once: what the tests on the way to a region leave of the axis.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interner.hpp"
#include "model/set_axis.hpp"

namespace onetree {

class ValueSets {
 public:
  using Id = std::int32_t;
  static constexpr Id kWhole = 0, kEmpty = -1;

  explicit ValueSets(const SetAxis& axis);

  const SetAxis& axis() const { return *axis_; }
  int least(Id set) const { return least_[set]; }
  int size(Id set) const { return size_[set]; }
  std::vector<int> values(Id set) const;

  // The values of a set that pass a test, or those that do not.
  Id part(Id set, int test, bool inside);
  Id common(Id a, Id b);

  // A test on the values of a set as one number.
  std::int32_t pair(Id set, int test);
  Id set_of_pair(std::int32_t pair) const { return pairs_.key(pair)[0]; }
  int test_of_pair(std::int32_t pair) const { return pairs_.key(pair)[1]; }

 private:
  Id intern(const std::vector<std::int32_t>& words);  // bits of the values

  const SetAxis* axis_;
  int n_words_;
  Interner sets_, pairs_;
  std::vector<int> least_, size_;
  std::vector<std::int32_t> tests_;  // bits of each test, n_words_ a test
  std::vector<std::int32_t> words_;
};

}  // namespace onetree
