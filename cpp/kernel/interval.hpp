// An interval of slabs. Plain, so that the kernels need nothing else.
#pragma once

#include <cstdint>

namespace onetree {

struct Interval {
  int lo;  // inclusive
  int hi;  // inclusive
  int length() const { return hi - lo + 1; }
};

struct SplitIndex {
  std::uint32_t left, right;  // numbers of two intervals
};

}  // namespace onetree
