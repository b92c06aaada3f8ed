// Instruction sets that the kernels are compiled for.
#pragma once

#include <string_view>
#include <vector>

namespace onetree {

enum class Simd : int { kBaseline, kSse4, kAvx2, kAvx512, kNeon };

// Those that this processor has and this build knows, the slowest first.
const std::vector<Simd>& available_simd();

// The one to use: the environment's ONETREE_SIMD, or else the best. Throws std::invalid_argument if there is no such.
Simd chosen_simd();

Simd simd_called(std::string_view name);  // throws std::invalid_argument
const char* name_of(Simd simd);
int groups_at_once(Simd simd);  // of 16 bytes

}  // namespace onetree
