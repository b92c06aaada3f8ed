// Rows as slabs, column after column: what trees that follow the data are grown from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace onetree {

using RowNumbers = std::span<const std::int32_t>;

struct RowTable {
  using Slab = std::uint32_t;
  std::size_t n_features;
  std::ptrdiff_t stride;  // from one feature to the next, in elements
  const std::int32_t* slabs;

  const std::int32_t* column(std::size_t feature) const {
    return slabs + static_cast<std::ptrdiff_t>(feature) * stride;
  }
};

// The slabs of some rows in one feature, numbered from 0 so closely that a table per place is worth its while.
class Places {
 public:
  // A slab below `low` or above `high` counts as that one.
  void read(const std::int32_t* column, RowNumbers rows, std::int32_t low, std::int32_t high);

  const std::vector<std::int32_t>& of_rows() const { return place_; }
  std::size_t size() const { return slab_.empty() ? n_places_ : slab_.size(); }
  std::int32_t slab(std::size_t place) const {
    return slab_.empty() ? low_ + static_cast<std::int32_t>(place) : slab_[place];
  }

 private:
  std::int32_t low_ = 0;
  std::size_t n_places_ = 0;
  std::vector<std::int32_t> place_;   // of each row
  std::vector<std::int32_t> slab_;    // of each place, empty where places follow each other as slabs do
  std::vector<std::uint64_t> order_;  // slab and row, sorted
};

}  // namespace onetree
