#include "support/mix.hpp"

namespace onetree {

namespace {

// Splitmix64: the bits for each place follow from the seed and the place alone, so none has to wait for the one before.
std::uint64_t bits_at(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t bits = seed + place * 0x9e3779b97f4a7c15U;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebU;
  return bits ^ bits >> 31;
}

// A number below `end` from the upper half of the bits.
std::size_t below(std::size_t end, std::uint64_t bits) {
  return (bits >> 32) * end >> 32;
}

}  // namespace

void mix_rows(std::int32_t* slabs, std::ptrdiff_t stride, std::span<const std::int32_t> origin, const Parents& parents,
              std::size_t first, std::size_t n_new, std::uint64_t seed) {
  const bool one_line = parents.others.size() == parents.n_others;
  std::vector<std::int32_t> copied(n_new), source(n_new);
  std::vector<std::size_t> line(n_new);
  for (std::size_t row = 0; row < n_new; ++row) {
    const std::size_t which = below(parents.copied.size(), bits_at(seed, row));
    copied[row] = parents.copied[which];
    line[row] = one_line ? 0 : which * parents.n_others;
  }
  for (std::size_t column = 0; column < origin.size(); ++column) {
    if (column == 0 || origin[column] != origin[column - 1])
      for (std::size_t row = 0; row < n_new; ++row) {
        const std::uint64_t bits = bits_at(seed, (column + 1) * n_new + row);
        const std::int32_t other = parents.others[line[row] + below(parents.n_others, bits)];
        source[row] = bits & 1 ? other : copied[row];
      }
    std::int32_t* slab = slabs + static_cast<std::ptrdiff_t>(column) * stride;
    for (std::size_t row = 0; row < n_new; ++row) slab[first + row] = slab[source[row]];
  }
}

}  // namespace onetree
