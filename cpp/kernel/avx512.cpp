// The kernel for x86 with AVX-512 BW and VL.
#include "kernel/kernel.hpp"

#if defined(ONETREE_X86)

#if !defined(__AVX512BW__)
#error "the build has to set the flags of this instruction set for this file"
#endif

#include <immintrin.h>

#include <type_traits>

namespace onetree {

namespace {
constexpr int kGroupsAtOnce = 4;
#include "kernel/kernel.inl"
}  // namespace

FillBlock avx512_fill(Measure measure, std::size_t element_bytes, int n_levels) {
  return fill_of(measure, element_bytes, n_levels);
}

MarkBlock avx512_mark(std::size_t element_bytes) {
  return mark_of(element_bytes);
}

}  // namespace onetree

#endif
