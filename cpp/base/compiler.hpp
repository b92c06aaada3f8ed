// What compilers call differently, and the processors that the core is made for.
#pragma once

#include <bit>
#include <cstdint>

static_assert(std::endian::native == std::endian::little && sizeof(void*) == 8,
              "onetree needs a 64-bit, little-endian processor: its tables are packed byte by byte");

// Vectors as types with operators, which GCC and Clang have; Visual Studio brings a Clang too. Its own compiler and
// other processors take the kernel in plain C++, and so does a build with ONETREE_PLAIN.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(ONETREE_PLAIN)
#if defined(__x86_64__)
#define ONETREE_X86 1
#elif defined(__aarch64__)
#define ONETREE_ARM 1
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#define ONETREE_INLINE inline __attribute__((always_inline))
#define ONETREE_PREFETCH(address) __builtin_prefetch(address)
#else
#define ONETREE_INLINE __forceinline
#define ONETREE_PREFETCH(address) static_cast<void>(address)
#endif
