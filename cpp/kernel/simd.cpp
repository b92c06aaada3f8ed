#include "kernel/simd.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>

#include "kernel/kernel.hpp"

#if defined(ONETREE_X86)
#include <cpuid.h>
#endif

namespace onetree {

namespace {

#if defined(ONETREE_X86)

// __builtin_cpu_supports would do, but stands on a library that not every system links by itself.
struct X86 {
  bool sse4, avx2, avx512;
};

X86 this_processor() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return {};
  const bool sse4 = (c & bit_SSSE3) != 0 && (c & bit_SSE4_1) != 0;
  if ((c & bit_OSXSAVE) == 0 || (c & bit_AVX) == 0) return {sse4, false, false};
  unsigned saved = 0, high = 0;  // the registers that the system saves when it switches threads
  asm("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  constexpr unsigned kSavesAvx = 0x06, kSavesAvx512 = 0xE6;
  if ((saved & kSavesAvx) != kSavesAvx || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return {sse4, false, false};
#if defined(__APPLE__)
  const bool saves_avx512 = true;  // from the first use on, and not before it says so
#else
  const bool saves_avx512 = (saved & kSavesAvx512) == kSavesAvx512;
#endif
  constexpr unsigned kAvx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512VL;
  return {sse4, (b & bit_AVX2) != 0, saves_avx512 && (b & kAvx512) == kAvx512};
}

#endif

struct Path {
  Simd simd;
  const char* name;
  int groups_at_once;
};

constexpr Path kPaths[] = {{Simd::kBaseline, "baseline", 1},
                           {Simd::kSse4, "sse4", 1},
                           {Simd::kAvx2, "avx2", 2},
                           {Simd::kAvx512, "avx512", 4},
                           {Simd::kNeon, "neon", 1}};

const Path& path_of(Simd simd) {
  return *std::find_if(std::begin(kPaths), std::end(kPaths), [&](const Path& path) { return path.simd == simd; });
}

std::string listed(const std::vector<Simd>& all) {
  std::string text;
  for (const Simd simd : all) text += (text.empty() ? "" : ", ") + std::string(name_of(simd));
  return text;
}

}  // namespace

const std::vector<Simd>& available_simd() {
  static const std::vector<Simd> available = [] {
    std::vector<Simd> found{Simd::kBaseline};
#if defined(ONETREE_X86)
    const X86 has = this_processor();
    if (has.sse4) found.push_back(Simd::kSse4);
    if (has.avx2) found.push_back(Simd::kAvx2);
    if (has.avx512) found.push_back(Simd::kAvx512);
#elif defined(ONETREE_ARM)
    found.push_back(Simd::kNeon);
#endif
    return found;
  }();
  return available;
}

Simd simd_called(std::string_view name) {
  const std::vector<Simd>& available = available_simd();
  const auto found = std::find_if(available.begin(), available.end(), [&](Simd simd) { return name == name_of(simd); });
  if (found != available.end()) return *found;
  throw std::invalid_argument("this processor or build has no vector path \"" + std::string(name) +
                              "\"; available: " + listed(available));
}

Simd chosen_simd() {
  // Asked for once: the environment of a process may not be read while another thread changes it.
  static const Simd chosen = [] {
    const char* forced = std::getenv("ONETREE_SIMD");
    if (forced == nullptr || *forced == '\0') return available_simd().back();
    try {
      return simd_called(forced);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(std::string("ONETREE_SIMD: ") + error.what());
    }
  }();
  return chosen;
}

const char* name_of(Simd simd) {
  return path_of(simd).name;
}

int groups_at_once(Simd simd) {
  return path_of(simd).groups_at_once;
}

FillBlock fill_block_for(Simd simd, Measure measure, std::size_t element_bytes, int n_levels) {
  switch (simd) {
#if defined(ONETREE_X86)
    case Simd::kSse4:
      return sse4_fill(measure, element_bytes, n_levels);
    case Simd::kAvx2:
      return avx2_fill(measure, element_bytes, n_levels);
    case Simd::kAvx512:
      return avx512_fill(measure, element_bytes, n_levels);
#elif defined(ONETREE_ARM)
    case Simd::kNeon:
      return neon_fill(measure, element_bytes, n_levels);
#endif
    default:
      return baseline_fill(measure, element_bytes, n_levels);
  }
}

MarkBlock mark_block_for(Simd simd, std::size_t element_bytes) {
  switch (simd) {
#if defined(ONETREE_X86)
    case Simd::kSse4:
      return sse4_mark(element_bytes);
    case Simd::kAvx2:
      return avx2_mark(element_bytes);
    case Simd::kAvx512:
      return avx512_mark(element_bytes);
#elif defined(ONETREE_ARM)
    case Simd::kNeon:
      return neon_mark(element_bytes);
#endif
    default:
      return baseline_mark(element_bytes);
  }
}

}  // namespace onetree
