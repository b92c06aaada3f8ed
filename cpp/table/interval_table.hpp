// The value of every box of a grid, filled bottom up.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/control.hpp"
#include "base/table_memory.hpp"
#include "kernel/kernel.hpp"
#include "kernel/simd.hpp"
#include "table/interval_nest.hpp"
#include "table/score_ranks.hpp"

namespace onetree {

class IntervalTable {
 public:
  static constexpr int kMostClasses = 254;  // where an axis has no order

  // Throws LimitReached("memory") before the table is allocated if it would pass the limit.
  IntervalTable(const Grid& grid, const GridParts& parts, Measure measure, std::size_t element_bytes, Control& control,
                Simd simd = chosen_simd());

  // The same where leaves carry numbers; words are as wide as values and ranks need.
  IntervalTable(const ScoreGrid& grid, const ScoreRanks& ranks, const GridParts& parts, Measure measure,
                std::size_t element_bytes, Control& control, Simd simd = chosen_simd());

  std::uint32_t operator[](const Box& box) const { return at(nest_.offset(box)); }

  // Offsets are in bytes; boxes with the same offset hold the same function.
  using Trace = IntervalNest::Trace;
  Trace trace(const Box& box) const { return nest_.trace(box); }
  std::size_t offset(const Box& box, const Trace& trace, int axis, const Interval& interval) const {
    return nest_.offset(box, trace, axis, interval);
  }
  std::uint32_t at(std::size_t offset) const {
    switch (nest_.element_bytes()) {
      case 1:
        return memory_[offset];
      case 2:
        return word<std::uint16_t>(offset);
      default:
        return word<std::uint32_t>(offset);
    }
  }

  // Of every box: by the interval on the first axis, shorter ones first, then on the second, ...
  std::vector<std::uint32_t> all_values(const GridAxes& grid) const;

  // The largest word means that the value did not fit; smaller boxes have smaller values, so then the root shows it.
  std::uint32_t saturated() const { return ~0U >> (32 - 8 * nest_.element_bytes()); }
  std::size_t element_bytes() const { return nest_.element_bytes(); }
  std::size_t bytes() const { return nest_.bytes(); }

 private:
  void allocate(const Control& control);

  template <typename Word>
  Word word(std::size_t offset) const {
    Word value;
    std::memcpy(&value, memory_.get() + offset, sizeof value);
    return value;
  }

  IntervalNest nest_;
  TableMemory memory_;
};

}  // namespace onetree
