// The kernel for what every processor of its family has: shuffles are loops over bytes.
#include "kernel/kernel.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
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

}  // namespace onetree
