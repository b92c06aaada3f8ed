#include "interval_kernel.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are passed between inlined functions only
#endif

namespace onetree {

namespace baseline {
#include "interval_kernel.inl"
}

// GCC compiles the same source again for wider vectors; the processor is asked once, at run time. The tests leave that
// out, with ONETREE_BASELINE, to see that the tables are the same.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(ONETREE_BASELINE)
#define ONETREE_DISPATCH 1
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
namespace avx2 {
#include "interval_kernel.inl"
}
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,avx512vbmi,prefer-vector-width=512")
namespace avx512 {
#include "interval_kernel.inl"
}
#pragma GCC pop_options
#endif

namespace {

#define ONETREE_FILLS(WIDTHS)                                                                                \
  template <typename Word>                                                                                   \
  FillBlock fill_of_##WIDTHS(Measure measure, bool one_value_rows) {                                         \
    using namespace WIDTHS;                                                                                  \
    switch (measure) {                                                                                       \
      case Measure::kDepth:                                                                                  \
        return one_value_rows ? fill_values<Word, DepthMeasure> : fill_rows<Word, DepthMeasure>;             \
      case Measure::kLeaves:                                                                                 \
        return one_value_rows ? fill_values<Word, LeavesMeasure> : fill_rows<Word, LeavesMeasure>;           \
      case Measure::kLeavesDepth:                                                                            \
        return one_value_rows ? fill_values<Word, LeavesDepthMeasure> : fill_rows<Word, LeavesDepthMeasure>; \
    }                                                                                                        \
    return nullptr;                                                                                          \
  }

ONETREE_FILLS(baseline)
#ifdef ONETREE_DISPATCH
ONETREE_FILLS(avx2)
ONETREE_FILLS(avx512)
#endif

template <typename Word>
FillBlock fill_for(Measure measure, bool one_value_rows) {
#ifdef ONETREE_DISPATCH
  if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw"))
    return fill_of_avx512<Word>(measure, one_value_rows);
  if (__builtin_cpu_supports("avx2")) return fill_of_avx2<Word>(measure, one_value_rows);
#endif
  return fill_of_baseline<Word>(measure, one_value_rows);
}

}  // namespace

FillBlock fill_block_for(Measure measure, std::size_t element_bytes, bool one_value_rows) {
  if (element_bytes == 1) return fill_for<std::uint8_t>(measure, one_value_rows);
  if (element_bytes == 2) return fill_for<std::uint16_t>(measure, one_value_rows);
  return fill_for<std::uint32_t>(measure, one_value_rows);
}

}  // namespace onetree
