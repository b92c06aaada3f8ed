#include "support/nearest.hpp"

#include <limits>

namespace onetree {

void smallest(std::span<const float> numbers, std::span<std::int32_t> found) {
  const std::size_t n_wanted = found.size();
  if (n_wanted == 0) return;
  std::size_t n_found = 0;
  float largest = std::numeric_limits<float>::infinity();  // of those found, once there are enough
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (n_found == n_wanted && !(numbers[i] < largest)) continue;
    std::size_t place = n_found < n_wanted ? n_found++ : n_wanted - 1;
    for (; place > 0 && numbers[i] < numbers[found[place - 1]]; --place) found[place] = found[place - 1];
    found[place] = static_cast<std::int32_t>(i);
    largest = numbers[found[n_found - 1]];
  }
}

}  // namespace onetree
