// The kernel for x86 with AVX2.
#include "kernel/kernel.hpp"

#if defined(ONETREE_X86)

#if !defined(__AVX2__)
#error "the build has to set the flags of this instruction set for this file"
#endif

#include <immintrin.h>

#include <type_traits>

namespace onetree {

namespace {
constexpr int kGroupsAtOnce = 2;
#include "kernel/kernel.inl"
}  // namespace

FillBlock avx2_fill(Measure measure, std::size_t element_bytes, int n_levels) {
  return fill_of(measure, element_bytes, n_levels);
}

MarkBlock avx2_mark(std::size_t element_bytes) {
  return mark_of(element_bytes);
}

}  // namespace onetree

#endif
