#include "support/row_table.hpp"

#include <algorithm>

namespace onetree {

namespace {

constexpr std::size_t kSlabsPerRow = 8;  // more empty slabs than that cost more than sorting the rows

}  // namespace

void Places::read(const std::int32_t* column, RowNumbers rows, std::int32_t low, std::int32_t high) {
  low_ = low;
  n_places_ = static_cast<std::size_t>(high - low) + 1;
  place_.resize(rows.size());
  slab_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) place_[i] = std::clamp(column[rows[i]], low, high) - low;
  if (n_places_ <= kSlabsPerRow * rows.size()) return;
  order_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) order_[i] = static_cast<std::uint64_t>(place_[i]) << 32 | i;
  std::sort(order_.begin(), order_.end());
  for (const std::uint64_t each : order_) {
    const auto slab = low + static_cast<std::int32_t>(each >> 32);
    if (slab_.empty() || slab_.back() != slab) slab_.push_back(slab);
    place_[each & 0xffffffffU] = static_cast<std::int32_t>(slab_.size()) - 1;
  }
}

}  // namespace onetree
