// The kernel for ARM: every 64-bit one has NEON.
#include "kernel/kernel.hpp"

#if defined(ONETREE_ARM)

#include <arm_neon.h>

#include <type_traits>

namespace onetree {

namespace {
constexpr int kGroupsAtOnce = 1;
#include "kernel/kernel.inl"
}  // namespace

FillBlock neon_fill(Measure measure, std::size_t element_bytes, int n_levels) {
  return fill_of(measure, element_bytes, n_levels);
}

MarkBlock neon_mark(std::size_t element_bytes) {
  return mark_of(element_bytes);
}

}  // namespace onetree

#endif
