// The places of the smallest numbers.
#pragma once

#include <cstdint>
#include <span>

namespace onetree {

// As many as `found` has room for, the smallest first; of equal numbers the first one.
void smallest(std::span<const float> numbers, std::span<std::int32_t> found);

}  // namespace onetree
