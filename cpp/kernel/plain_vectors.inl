// What vectors.inl has, for one group at a time and in plain C++: for compilers without vector types and for processors
// that nobody has written intrinsics for. Compilers make vector code of most of these loops. Part of kernel.inl.

template <typename Word>
struct Lanes {
  static constexpr int kCount = static_cast<int>(kGroupBytes / sizeof(Word));
  Word lane[kCount];
};

template <typename Word, int n_groups>
struct VectorOf {
  static_assert(n_groups == 1);
  using type = Lanes<Word>;
};

template <typename V>
ONETREE_INLINE V load(const std::uint8_t* at) {
  V v;
  std::memcpy(&v, at, sizeof(V));
  return v;
}
template <typename V>
ONETREE_INLINE V load(const GroupMask& mask) {
  return load<V>(mask.bytes);
}
template <typename V>
ONETREE_INLINE void store(std::uint8_t* at, V v) {
  std::memcpy(at, &v, sizeof(V));
}

// A function of two words, lane by lane; of two single words, where one value is a row.
template <typename V, typename Function>
ONETREE_INLINE V lanewise(const V& a, const V& b, const Function& function) {
  if constexpr (sizeof(V) >= kGroupBytes) {
    V result;
    for (int i = 0; i < V::kCount; ++i) result.lane[i] = function(a.lane[i], b.lane[i]);
    return result;
  } else {
    return function(a, b);
  }
}

template <typename Word>
ONETREE_INLINE Lanes<Word> operator&(const Lanes<Word>& a, const Lanes<Word>& b) {
  return lanewise(a, b, [](Word x, Word y) { return static_cast<Word>(x & y); });
}
template <typename Word>
ONETREE_INLINE Lanes<Word> operator|(const Lanes<Word>& a, const Lanes<Word>& b) {
  return lanewise(a, b, [](Word x, Word y) { return static_cast<Word>(x | y); });
}
template <typename Word>
ONETREE_INLINE Lanes<Word> operator^(const Lanes<Word>& a, const Lanes<Word>& b) {
  return lanewise(a, b, [](Word x, Word y) { return static_cast<Word>(x ^ y); });
}
template <typename Word>
ONETREE_INLINE Lanes<Word> operator~(const Lanes<Word>& a) {
  return lanewise(a, a, [](Word x, Word) { return static_cast<Word>(~x); });
}
template <typename Word>
ONETREE_INLINE Lanes<Word> operator+(const Lanes<Word>& a, const Lanes<Word>& b) {
  return lanewise(a, b, [](Word x, Word y) { return static_cast<Word>(x + y); });
}
template <typename Word>
ONETREE_INLINE Lanes<Word> operator+(const Lanes<Word>& a, std::type_identity_t<Word> b) {
  return lanewise(a, a, [b](Word x, Word) { return static_cast<Word>(x + b); });
}

template <typename V>
ONETREE_INLINE V lane_min(V a, V b) {
  return lanewise(a, b, [](auto x, auto y) { return x < y ? x : y; });
}
template <typename V>
ONETREE_INLINE V lane_max(V a, V b) {
  return lanewise(a, b, [](auto x, auto y) { return x < y ? y : x; });
}

// All ones where two lanes are equal.
template <typename V>
ONETREE_INLINE V equal(V a, V b) {
  return lanewise(a, b, [](auto x, auto y) { return static_cast<decltype(x)>(x == y ? ~0U : 0U); });
}

// Stops at the largest word.
template <typename V>
ONETREE_INLINE V add(V a, V b) {
  return lanewise(a, b, [](auto x, auto y) {
    using Word = decltype(x);
    const auto sum = static_cast<Word>(x + y);
    return sum < x ? static_cast<Word>(~0U) : sum;
  });
}

// Stops at zero.
template <typename V>
ONETREE_INLINE V subtract(V a, V b) {
  return lanewise(a, b, [](auto x, auto y) { return x < y ? decltype(x){0} : static_cast<decltype(x)>(x - y); });
}

// Bytes of `v`, those that the mask names.
template <typename V>
ONETREE_INLINE V shuffle(V v, const GroupMask& mask) {
  std::uint8_t from[kGroupBytes], to[kGroupBytes];
  std::memcpy(from, &v, kGroupBytes);
  for (std::size_t i = 0; i < kGroupBytes; ++i) to[i] = from[mask.bytes[i]];
  return load<V>(to);
}

// `a` where the mask is all ones, else `b`.
template <typename V>
ONETREE_INLINE V choose(V mask, V a, V b) {
  return (a & mask) | (b & ~mask);
}

// The group of a row that begins at a place.
template <typename V, typename PlaceOf>
ONETREE_INLINE V gather(const std::uint8_t* row, const PlaceOf& place_of) {
  return load<V>(row + place_of(0));
}
