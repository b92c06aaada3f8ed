// Vectors of one, two or four groups, and what compilers do not find by themselves: shuffles inside groups, and sums
// and differences that stop at the ends. Part of kernel.inl; `plain_vectors.inl` says the same in plain C++.

template <typename Word, int n_groups>
struct VectorOf {
  typedef Word type __attribute__((vector_size(n_groups * kGroupBytes), may_alias));
  typedef Word unaligned __attribute__((vector_size(n_groups * kGroupBytes), may_alias, aligned(1)));
};
template <std::size_t bytes>
struct RawOf {  // what the intrinsics take
  typedef long long type __attribute__((vector_size(bytes), may_alias));
};
template <typename V>
using WordOf = std::remove_cvref_t<decltype(V{}[0])>;
template <typename V>
using Unaligned = typename VectorOf<WordOf<V>, static_cast<int>(sizeof(V) / kGroupBytes)>::unaligned;

template <typename V>
ONETREE_INLINE V load(const std::uint8_t* at) {
  return *reinterpret_cast<const Unaligned<V>*>(at);
}
template <typename V>
ONETREE_INLINE V load(const GroupMask& mask) {
  return load<V>(mask.bytes);
}
template <typename V>
ONETREE_INLINE void store(std::uint8_t* at, V v) {
  *reinterpret_cast<Unaligned<V>*>(at) = v;
}

using Raw16 = RawOf<16>::type;

#if defined(ONETREE_X86)

ONETREE_INLINE Raw16 add_words(std::uint8_t, Raw16 a, Raw16 b) {
  return _mm_adds_epu8(a, b);
}
ONETREE_INLINE Raw16 add_words(std::uint16_t, Raw16 a, Raw16 b) {
  return _mm_adds_epu16(a, b);
}
ONETREE_INLINE Raw16 subtract_words(std::uint8_t, Raw16 a, Raw16 b) {
  return _mm_subs_epu8(a, b);
}
ONETREE_INLINE Raw16 subtract_words(std::uint16_t, Raw16 a, Raw16 b) {
  return _mm_subs_epu16(a, b);
}

#if defined(__SSSE3__) && !defined(ONETREE_PLAIN_SHUFFLES)
ONETREE_INLINE Raw16 shuffle_bytes(Raw16 v, Raw16 mask) {
  return _mm_shuffle_epi8(v, mask);
}
#define ONETREE_HAS_SHUFFLE 1
#endif

#if defined(__AVX2__)
using Raw32 = RawOf<32>::type;
ONETREE_INLINE Raw32 add_words(std::uint8_t, Raw32 a, Raw32 b) {
  return _mm256_adds_epu8(a, b);
}
ONETREE_INLINE Raw32 add_words(std::uint16_t, Raw32 a, Raw32 b) {
  return _mm256_adds_epu16(a, b);
}
ONETREE_INLINE Raw32 subtract_words(std::uint8_t, Raw32 a, Raw32 b) {
  return _mm256_subs_epu8(a, b);
}
ONETREE_INLINE Raw32 subtract_words(std::uint16_t, Raw32 a, Raw32 b) {
  return _mm256_subs_epu16(a, b);
}
ONETREE_INLINE Raw32 shuffle_bytes(Raw32 v, Raw32 mask) {
  return _mm256_shuffle_epi8(v, mask);
}
ONETREE_INLINE Raw32 beside(Raw16 a, Raw16 b) {
  return _mm256_set_m128i(b, a);
}
#endif

#if defined(__AVX512BW__)
using Raw64 = RawOf<64>::type;
ONETREE_INLINE Raw64 add_words(std::uint8_t, Raw64 a, Raw64 b) {
  return _mm512_adds_epu8(a, b);
}
ONETREE_INLINE Raw64 add_words(std::uint16_t, Raw64 a, Raw64 b) {
  return _mm512_adds_epu16(a, b);
}
ONETREE_INLINE Raw64 subtract_words(std::uint8_t, Raw64 a, Raw64 b) {
  return _mm512_subs_epu8(a, b);
}
ONETREE_INLINE Raw64 subtract_words(std::uint16_t, Raw64 a, Raw64 b) {
  return _mm512_subs_epu16(a, b);
}
ONETREE_INLINE Raw64 shuffle_bytes(Raw64 v, Raw64 mask) {
  return _mm512_shuffle_epi8(v, mask);
}
ONETREE_INLINE Raw64 beside(Raw32 a, Raw32 b) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
#else  // GCC 11, which does not yet warn of what the headers of GCC 12 leave undefined on purpose
  return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
#endif
}
#endif

#elif defined(ONETREE_ARM)

ONETREE_INLINE Raw16 add_words(std::uint8_t, Raw16 a, Raw16 b) {
  return (Raw16)vqaddq_u8((uint8x16_t)a, (uint8x16_t)b);
}
ONETREE_INLINE Raw16 add_words(std::uint16_t, Raw16 a, Raw16 b) {
  return (Raw16)vqaddq_u16((uint16x8_t)a, (uint16x8_t)b);
}
ONETREE_INLINE Raw16 subtract_words(std::uint8_t, Raw16 a, Raw16 b) {
  return (Raw16)vqsubq_u8((uint8x16_t)a, (uint8x16_t)b);
}
ONETREE_INLINE Raw16 subtract_words(std::uint16_t, Raw16 a, Raw16 b) {
  return (Raw16)vqsubq_u16((uint16x8_t)a, (uint16x8_t)b);
}
#if !defined(ONETREE_PLAIN_SHUFFLES)
ONETREE_INLINE Raw16 shuffle_bytes(Raw16 v, Raw16 mask) {
  return (Raw16)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)mask);
}
#define ONETREE_HAS_SHUFFLE 1
#endif

#endif

#if !defined(ONETREE_HAS_SHUFFLE)
ONETREE_INLINE Raw16 shuffle_bytes(Raw16 v, Raw16 mask) {
  std::uint8_t from[16], at[16], to[16];
  __builtin_memcpy(from, &v, 16);
  __builtin_memcpy(at, &mask, 16);
  for (int i = 0; i < 16; ++i) to[i] = from[at[i]];
  __builtin_memcpy(&v, to, 16);
  return v;
}
#endif

// What follows is for vectors and, where one value is a row, for single words.

template <typename V>
ONETREE_INLINE V lane_min(V a, V b) {
  return a < b ? a : b;
}
template <typename V>
ONETREE_INLINE V lane_max(V a, V b) {
  return a < b ? b : a;
}

// All ones where two lanes are equal.
template <typename V>
ONETREE_INLINE V equal(V a, V b) {
  if constexpr (sizeof(V) >= kGroupBytes)
    return (V)(a == b);
  else
    return static_cast<V>(a == b ? ~V{0} : V{0});
}

// Stops at the largest word.
template <typename V>
ONETREE_INLINE V add(V a, V b) {
  if constexpr (sizeof(V) >= kGroupBytes) {
    using Raw = typename RawOf<sizeof(V)>::type;
    if constexpr (sizeof(WordOf<V>) <= 2) return (V)add_words(WordOf<V>{}, (Raw)a, (Raw)b);
  }
  return static_cast<V>(a + lane_min(b, static_cast<V>(~a)));
}

// Stops at zero.
template <typename V>
ONETREE_INLINE V subtract(V a, V b) {
  if constexpr (sizeof(V) >= kGroupBytes) {
    using Raw = typename RawOf<sizeof(V)>::type;
    if constexpr (sizeof(WordOf<V>) <= 2) return (V)subtract_words(WordOf<V>{}, (Raw)a, (Raw)b);
  }
  return static_cast<V>(a - lane_min(a, b));
}

// Each group of the result holds bytes of the same group of `v`, those that the mask names.
template <typename V>
ONETREE_INLINE V shuffle(V v, const GroupMask& mask) {
  using Raw = typename RawOf<sizeof(V)>::type;
  return (V)shuffle_bytes((Raw)v, (Raw)load<V>(mask));
}

// `a` where the mask is all ones, else `b`.
template <typename V>
ONETREE_INLINE V choose(V mask, V a, V b) {
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return (V)_mm256_blendv_epi8((Raw32)b, (Raw32)a, (Raw32)mask);
#endif
#if defined(__SSE4_1__)
  if constexpr (sizeof(V) == 16) return (V)_mm_blendv_epi8((Raw16)b, (Raw16)a, (Raw16)mask);
#endif
  return (a & mask) | (b & ~mask);
}

// Groups of a row, each at a place of its own.
template <typename V, typename PlaceOf>
ONETREE_INLINE V gather(const std::uint8_t* row, const PlaceOf& place_of) {
  const auto group = [&](int i) { return (Raw16)load<typename VectorOf<WordOf<V>, 1>::type>(row + place_of(i)); };
#if defined(__AVX512BW__)
  if constexpr (sizeof(V) == 64) return (V)beside(beside(group(0), group(1)), beside(group(2), group(3)));
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return (V)beside(group(0), group(1));
#endif
  if constexpr (sizeof(V) == 16) return (V)group(0);
}
