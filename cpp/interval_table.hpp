// The value of every box of a grid, filled bottom up.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include "control.hpp"
#include "interval_kernel.hpp"
#include "interval_nest.hpp"

namespace onetree {

class IntervalTable {
 public:
  // Throws LimitReached("memory") before the table is allocated if it would pass the limit.
  IntervalTable(const Grid& grid, Measure measure, std::size_t element_bytes, Control& control);

  std::uint32_t operator[](const Box& box) const { return at(offset(box)); }

  // Boxes with the same offset hold the same function.
  std::size_t offset(const Box& box) const { return nest_.offset(box); }
  std::uint32_t at(std::size_t offset) const {
    std::uint32_t word = 0;
    std::memcpy(&word, memory_.get() + offset, nest_.element_bytes());  // little-endian
    return word;
  }

  // The largest word means that the value did not fit; smaller boxes have smaller values, so then the root shows it.
  std::uint32_t saturated() const { return ~0U >> (32 - 8 * nest_.element_bytes()); }
  std::size_t element_bytes() const { return nest_.element_bytes(); }
  std::size_t bytes() const { return nest_.bytes(); }
  std::size_t n_values() const { return nest_.n_rows() * nest_.row_bytes() / nest_.element_bytes(); }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::uint8_t* memory) const;
  };

  IntervalNest nest_;
  std::unique_ptr<std::uint8_t[], Unmap> memory_;
};

}  // namespace onetree
