// An axis without an order: its values, and the tests that tell them apart.
//
// A categorical feature is one, and so is a group of features of which only some combinations occur: the combinations
// are the values. Every value occurs, so no cell of a grid is out of reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace onetree {

struct SetAxis {
  int n_values = 0;                  // 0: not such an axis, it has thresholds
  std::vector<std::uint8_t> member;  // n_tests x n_values: whether the value passes the test, and so goes left

  explicit operator bool() const { return n_values > 0; }
  int n_tests() const { return n_values == 0 ? 0 : static_cast<int>(member.size() / n_values); }
  bool contains(int test, int value) const { return member[static_cast<std::size_t>(test) * n_values + value] != 0; }
};

}  // namespace onetree
