// Fills one block of rows of the interval table. Each instruction set includes this once, in a file compiled with its
// flags and in a namespace without a name: nothing here may be shared with code for other processors.

#if defined(ONETREE_X86) || defined(ONETREE_ARM)
#include "kernel/vectors.inl"
#else
#include "kernel/plain_vectors.inl"
#endif

// Each measure says what the two sides of a split cost together, and what the split adds: at most the cost of one that
// separates two leaves. All ones means "no tree known yet".
template <typename Word>
struct DepthMeasure {
  template <typename V>
  static ONETREE_INLINE V join(V a, V b) {
    return lane_max(a, b);
  }
  template <typename V>
  static ONETREE_INLINE V step(V) {
    return V{} + Word{1};
  }
};

template <typename Word>
struct LeavesMeasure {
  template <typename V>
  static ONETREE_INLINE V join(V a, V b) {
    return add(a, b);
  }
  template <typename V>
  static ONETREE_INLINE V step(V) {
    return V{} + Word{1};
  }
};

// Splits in the high bits, depth in the low ones: the smallest word is the shallowest of the trees with fewest leaves.
template <typename Word>
struct LeavesDepthMeasure {
  static constexpr Word kDepth = (Word{1} << PackedBits<Word>::kDepthBits) - 1;
  // Splits are added. What b is deeper than a comes on top; that never carries, and stays all ones if the sum did.
  template <typename V>
  static ONETREE_INLINE V join(V a, V b) {
    const V depth = V{} + kDepth, depth_of_b = b & depth;
    return add<V>(add<V>(a, b ^ depth_of_b), subtract<V>(depth_of_b, a & depth));
  }
  // One more split, and one more level unless the depth has reached its largest value.
  template <typename V>
  static ONETREE_INLINE V step(V best) {
    const V depth = V{} + kDepth, one_split = V{} + static_cast<Word>(kDepth + 2);
    return one_split + equal<V>(best & depth, depth);
  }
};

// The value of a box whose cheapest split costs `best`. A box that is cut into two parts of one class each, and whose
// first and last cells do not differ, is itself of one class: its value is 0.
template <typename Measure, typename V>
ONETREE_INLINE V settle(V best, V differ) {
  return add<V>(best, lane_min<V>(best | differ, Measure::step(best)));
}

// The cheapest splits along the loops, of n vectors of a row; the last one ends where the row does.
template <typename Measure, typename V, int n>
ONETREE_INLINE void join_sources(const Source* sources, int n_sources, std::size_t at, std::size_t last,
                                 std::uint8_t* best) {
  const auto offset = [&](int i) { return i == n - 1 ? last : at + i * sizeof(V); };
  V cheapest[n];
  for (int i = 0; i < n; ++i) cheapest[i] = ~V{};
  for (int s = 0; s < n_sources; ++s)
    for (int i = 0; i < n; ++i)
      cheapest[i] = lane_min(
          cheapest[i], Measure::join(load<V>(sources[s].left + offset(i)), load<V>(sources[s].right + offset(i))));
  for (int i = 0; i < n; ++i) store(best + offset(i), cheapest[i]);
}

// Of every lane, the cheapest of its splits from the k-th on, of those that lie 2^k apart.
template <int k, int n_splits, typename V>
ONETREE_INLINE V fold(const GroupLevel& level, V joined) {
  if constexpr (1 << k < n_splits)
    return fold<k + 1, n_splits>(level, lane_min(joined, shuffle(joined, level.folds[k])));
  else
    return joined;
}

// Splits inside groups, from a level on: its lanes have as many splits as its number says.
template <typename Measure, int level, int n_levels, typename V>
ONETREE_INLINE V settle_levels(const GroupPlan& group, V best, V differ, V value) {
  if constexpr (level > n_levels) {
    return value;
  } else {
    const GroupLevel& here = group.levels[level - 1];
    const V joined = fold<0, level>(here, Measure::join(shuffle(value, here.left), shuffle(value, here.right)));
    const V settled = settle<Measure>(lane_min(best, joined), differ);
    return settle_levels<Measure, level + 1, n_levels>(group, best, differ,
                                                       choose(load<V>(here.lanes), settled, value));
  }
}

template <typename Word, template <typename> class MeasureOf, int n_levels>
class RowFiller {
 public:
  RowFiller(const Block& block, const RowPlan& plan) : block_(block), plan_(plan), row_bytes_(plan.row_bytes) {}

  // Rows of equally long intervals do not depend on each other. They are settled side by side: what one of them has to
  // wait for hides behind the others.
  ONETREE_INLINE void fill() {
    const int most = static_cast<int>(sizeof(best_) / row_bytes_);
    for (int first = 0, n; first < block_.n_rows; first += n) {
      const int length = block_.intervals[first].length();
      for (n = 1; first + n < block_.n_rows && n < most && block_.intervals[first + n].length() == length;) ++n;
      for (int i = 0; i < n; ++i) prepare(first + i, i);
      const bool single = block_.single && length == 1;
      for (int c = 0; c < plan_.n_chunks; ++c) settle_chunk(plan_.chunks[c], first, n, single);
    }
  }

 private:
  using Measure = MeasureOf<Word>;
  template <int n_groups>
  using Vector = typename VectorOf<Word, n_groups>::type;

  ONETREE_INLINE void prepare(int q, int i) {
    Source* source = block_.sources;
    for (int p = 0; p < block_.n_pairs; ++p) {
      const RowPair& pair = block_.pairs[p];
      *source++ = {pair.left + pair.left_list[q] * row_bytes_, pair.right + pair.right_list[q] * row_bytes_};
    }
    for (int s = block_.first_split[q]; s < block_.first_split[q + 1]; ++s)
      *source++ = {block_.rows + block_.splits[s].left * row_bytes_, block_.rows + block_.splits[s].right * row_bytes_};
    const int n_sources = static_cast<int>(source - block_.sources);
    std::uint8_t* best = best_ + i * row_bytes_;
    join_row<kGroupsAtOnce>(n_sources, best);
    const auto [lo, hi] = block_.intervals[q];
    lo_[i] = block_.lo_classes;
    if (block_.differs != nullptr) {
      hi_[i] = block_.differs + q * row_bytes_;
      return;
    }
    lo_[i] += static_cast<std::size_t>(block_.grid_slabs[lo]) * row_bytes_;
    hi_[i] = block_.hi_classes + static_cast<std::size_t>(block_.grid_slabs[hi]) * row_bytes_;
  }

  // By the widest vectors that are not wider than the row.
  template <int n_groups>
  ONETREE_INLINE void join_row(int n_sources, std::uint8_t* best) {
    using V = Vector<n_groups>;
    if constexpr (n_groups > 1)
      if (row_bytes_ < sizeof(V)) return join_row<n_groups / 2>(n_sources, best);
    const Source* sources = block_.sources;
    constexpr std::size_t kBlock = 6 * sizeof(V);
    const std::size_t last = row_bytes_ - sizeof(V);
    std::size_t at = 0;
    for (; at + kBlock < row_bytes_; at += kBlock)
      join_sources<Measure, V, 6>(sources, n_sources, at, at + 5 * sizeof(V), best);
    switch ((last - at + sizeof(V) - 1) / sizeof(V)) {
      case 0:
        return join_sources<Measure, V, 1>(sources, n_sources, at, last, best);
      case 1:
        return join_sources<Measure, V, 2>(sources, n_sources, at, last, best);
      case 2:
        return join_sources<Measure, V, 3>(sources, n_sources, at, last, best);
      case 3:
        return join_sources<Measure, V, 4>(sources, n_sources, at, last, best);
      case 4:
        return join_sources<Measure, V, 5>(sources, n_sources, at, last, best);
      default:
        return join_sources<Measure, V, 6>(sources, n_sources, at, last, best);
    }
  }

  ONETREE_INLINE void settle_chunk(const Chunk& chunk, int first, int n, bool single) {
    if constexpr (kGroupsAtOnce > 2)
      if (chunk.n_groups == 4) return settle_vectors<Vector<4>>(chunk, first, n, single);
    if constexpr (kGroupsAtOnce > 1)
      if (chunk.n_groups == 2) return settle_vectors<Vector<2>>(chunk, first, n, single);
    settle_vectors<Vector<1>>(chunk, first, n, single);
  }

  // Splits along the axes of the row: into other groups, then inside each group.
  template <typename V>
  ONETREE_INLINE void settle_vectors(const Chunk& chunk, int first, int n, bool single) {
    std::uint8_t* row = block_.rows + static_cast<std::size_t>(first) * row_bytes_;
    const V singles = single && chunk.n_splits == 0 ? load<V>(plan_.group->singles) : V{};
    for (int i = 0; i < n; ++i, row += row_bytes_) {
      V best = load<V>(best_ + i * row_bytes_ + chunk.at) & ~singles;
      const GroupSplit* split = plan_.splits + chunk.first_split;
      for (int s = 0; s < chunk.n_splits; ++s, split += chunk.n_groups)
        best = lane_min(best, Measure::join(gather<V>(row, [&](int g) { return split[g].left; }),
                                            gather<V>(row, [&](int g) { return split[g].right; })));
      const V differ = ~equal<V>(load<V>(lo_[i] + chunk.at), load<V>(hi_[i] + chunk.at));
      const V value = settle<Measure>(best, differ);
      store(row + chunk.at, settle_levels<Measure, 1, n_levels, V>(*plan_.group, best, differ, value));
    }
  }

  const Block& block_;
  const RowPlan& plan_;
  const std::size_t row_bytes_;
  alignas(kVectorBytes) std::uint8_t best_[2 * kMostRowBytes];  // of the rows that are being filled
  const std::uint8_t *lo_[2 * kMostGroups], *hi_[2 * kMostGroups];
};

template <typename Word, template <typename> class MeasureOf, int n_levels>
void fill_rows(const Block& block, const RowPlan& plan) {
  RowFiller<Word, MeasureOf, n_levels>(block, plan).fill();
}

// One value a row: for axes too long to share a row.
template <typename Word, template <typename> class MeasureOf>
void fill_values(const Block& block, const RowPlan&) {
  using Measure = MeasureOf<Word>;
  Word* values = reinterpret_cast<Word*>(block.rows);
  for (int row = 0; row < block.n_rows; ++row) {
    Word best = static_cast<Word>(-1);
    for (int p = 0; p < block.n_pairs; ++p) {
      const RowPair& pair = block.pairs[p];
      best =
          lane_min(best, Measure::template join<Word>(reinterpret_cast<const Word*>(pair.left)[pair.left_list[row]],
                                                      reinterpret_cast<const Word*>(pair.right)[pair.right_list[row]]));
    }
    for (int s = block.first_split[row]; s < block.first_split[row + 1]; ++s)
      best = lane_min(best, Measure::template join<Word>(values[block.splits[s].left], values[block.splits[s].right]));
    const auto [lo, hi] = block.intervals[row];
    if (block.single && lo == hi) best = 0;
    Word differ;
    if (block.differs != nullptr) {
      differ = reinterpret_cast<const Word*>(block.differs)[row];
    } else {
      differ = static_cast<Word>(
          ~equal<Word>(block.lo_classes[static_cast<std::size_t>(block.grid_slabs[lo]) * sizeof(Word)],
                       block.hi_classes[static_cast<std::size_t>(block.grid_slabs[hi]) * sizeof(Word)]));
    }
    values[row] = settle<Measure, Word>(best, differ);
  }
}

// How many levels the lanes of a group can have: those of an axis of five slabs in bytes, three in half words, two in
// words.
template <typename Word, template <typename> class MeasureOf>
FillBlock fill_of(int n_levels) {
  if constexpr (sizeof(Word) == 1) {
    if (n_levels == 4) return fill_rows<Word, MeasureOf, 4>;
    if (n_levels == 3) return fill_rows<Word, MeasureOf, 3>;
  }
  if constexpr (sizeof(Word) <= 2)
    if (n_levels == 2) return fill_rows<Word, MeasureOf, 2>;
  return n_levels == 1 ? fill_rows<Word, MeasureOf, 1> : fill_values<Word, MeasureOf>;
}

template <typename Word>
FillBlock fill_of(Measure measure, int n_levels) {
  switch (measure) {
    case Measure::kDepth:
      return fill_of<Word, DepthMeasure>(n_levels);
    case Measure::kLeaves:
      return fill_of<Word, LeavesMeasure>(n_levels);
    case Measure::kLeavesDepth:
      return fill_of<Word, LeavesDepthMeasure>(n_levels);
  }
  return nullptr;
}

FillBlock fill_of(Measure measure, std::size_t element_bytes, int n_levels) {
  if (element_bytes == 1) return fill_of<std::uint8_t>(measure, n_levels);
  if (element_bytes == 2) return fill_of<std::uint16_t>(measure, n_levels);
  return fill_of<std::uint32_t>(measure, n_levels);
}

// The planes that a block keeps of a slab of the last loop.
template <typename Byte>
ONETREE_INLINE Byte* kept_planes(const ScoreBlock& block, Byte* rows, std::uint32_t slab) {
  return rows - (slab + std::size_t{1}) * block.n_planes * block.row_bytes;
}
ONETREE_INLINE std::uint8_t* planes_of(const ScoreBlock& block, std::uint32_t row) {
  const std::uint32_t n_slabs = static_cast<std::uint32_t>(block.n_slabs);
  if (row < n_slabs) return kept_planes(block, block.rows, row);
  return block.planes + (row - n_slabs) * static_cast<std::size_t>(block.n_planes) * block.row_bytes;
}

// Planes of a row from those of two rows whose union it is, and where they leave nothing that a leaf could carry.
template <typename V>
ONETREE_INLINE void join_planes(const ScoreBlock& block, const std::uint8_t* left, const std::uint8_t* right,
                                std::uint8_t* planes, std::uint8_t* differs, std::size_t first, std::size_t end) {
  for (std::size_t at = first; at < end; at += sizeof(V)) {
    V fits = ~V{};
    for (std::size_t plane = at; plane < block.n_planes * block.row_bytes; plane += 2 * block.row_bytes) {
      const std::size_t upper = plane + block.row_bytes;
      const V least = lane_max(load<V>(left + plane), load<V>(right + plane));
      const V most = lane_min(load<V>(left + upper), load<V>(right + upper));
      store(planes + plane, least);
      store(planes + upper, most);
      fits = fits & equal<V>(lane_min(least, most), least);
    }
    store<V>(differs + at, ~fits);
  }
}

template <typename Word>
ONETREE_INLINE void join_planes(const ScoreBlock& block, const std::uint8_t* left, const std::uint8_t* right,
                                std::uint8_t* planes, std::uint8_t* differs) {
  using Wide = typename VectorOf<Word, kGroupsAtOnce>::type;
  const std::size_t n_wide = block.row_bytes / sizeof(Wide) * sizeof(Wide);
  join_planes<Wide>(block, left, right, planes, differs, 0, n_wide);
  if constexpr (kGroupsAtOnce > 1)
    join_planes<typename VectorOf<Word, 1>::type>(block, left, right, planes, differs, n_wide, block.row_bytes);
}

// One value a row.
template <typename Word>
ONETREE_INLINE void join_words(const ScoreBlock& block, const std::uint8_t* left, const std::uint8_t* right,
                               std::uint8_t* planes, std::uint8_t* differs) {
  const Word *a = reinterpret_cast<const Word*>(left), *b = reinterpret_cast<const Word*>(right);
  Word* to = reinterpret_cast<Word*>(planes);
  bool fits = true;
  for (int plane = 0; plane < block.n_planes; plane += 2) {
    to[plane] = lane_max(a[plane], b[plane]);
    to[plane + 1] = lane_min(a[plane + 1], b[plane + 1]);
    fits = fits && to[plane] <= to[plane + 1];
  }
  *reinterpret_cast<Word*>(differs) = static_cast<Word>(fits ? 0 : ~Word{0});
}

template <typename Word>
void mark_block(const ScoreBlock& block) {
  const bool is_word = block.row_bytes == sizeof(Word);
  for (int q = 0; q < block.n_rows; ++q) {
    const std::uint8_t *left, *right;
    if (q >= block.n_slabs) {
      const SplitIndex& split = block.splits[block.first_split[q]];
      left = planes_of(block, split.left);
      right = planes_of(block, split.right);
    } else if (block.pair != nullptr) {
      left = kept_planes(block, block.pair->left, block.pair->left_list[q]);
      right = kept_planes(block, block.pair->right, block.pair->right_list[q]);
    } else {
      const std::size_t slab = static_cast<std::size_t>(block.grid_slabs[block.intervals[q].lo]);
      left = right = block.singles + slab * block.n_planes * block.row_bytes;
    }
    std::uint8_t *planes = planes_of(block, static_cast<std::uint32_t>(q)),
                 *differs = block.differs + q * block.row_bytes;
    if (is_word)
      join_words<Word>(block, left, right, planes, differs);
    else
      join_planes<Word>(block, left, right, planes, differs);
  }
}

MarkBlock mark_of(std::size_t element_bytes) {
  if (element_bytes == 1) return mark_block<std::uint8_t>;
  return element_bytes == 2 ? mark_block<std::uint16_t> : mark_block<std::uint32_t>;
}
