// The kernel for what every processor of its family has: shuffles are loops over bytes.
#include "kernel/kernel.hpp"

#if defined(ONETREE_X86)
#include <immintrin.h>
#elif defined(ONETREE_ARM)
#include <arm_neon.h>
#endif
#include <cstring>
#include <type_traits>

#define ONETREE_PLAIN_SHUFFLES

namespace onetree {

namespace {
constexpr int kGroupsAtOnce = 1;
#include "kernel/kernel.inl"
}  // namespace

FillBlock baseline_fill(Measure measure, std::size_t element_bytes, int n_levels) {
  return fill_of(measure, element_bytes, n_levels);
}

MarkBlock baseline_mark(std::size_t element_bytes) {
  return mark_of(element_bytes);
}

}  // namespace onetree
