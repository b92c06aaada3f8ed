#include "kernel/simd.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>

#include "kernel/kernel.hpp"

namespace onetree {

namespace {

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
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3")) found.push_back(Simd::kSse4);
    if (__builtin_cpu_supports("avx2")) found.push_back(Simd::kAvx2);
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) found.push_back(Simd::kAvx512);
#elif defined(__aarch64__)
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
#if defined(__x86_64__)
    case Simd::kSse4:
      return sse4_fill(measure, element_bytes, n_levels);
    case Simd::kAvx2:
      return avx2_fill(measure, element_bytes, n_levels);
    case Simd::kAvx512:
      return avx512_fill(measure, element_bytes, n_levels);
#elif defined(__aarch64__)
    case Simd::kNeon:
      return neon_fill(measure, element_bytes, n_levels);
#endif
    default:
      return baseline_fill(measure, element_bytes, n_levels);
  }
}

}  // namespace onetree
