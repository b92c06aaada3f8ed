// Fills one block of rows of the interval table. Included once per instruction set, inside its own namespace.

template <typename Word>
struct VectorOf {
  typedef Word type __attribute__((vector_size(64), may_alias));
};

template <typename V>
inline __attribute__((always_inline)) V lane_min(V a, V b) {
  return a < b ? a : b;
}
template <typename V>
inline __attribute__((always_inline)) V lane_max(V a, V b) {
  return a < b ? b : a;
}
template <typename V>
inline __attribute__((always_inline)) V saturating_add(V a, V b) {
  return a + lane_min(b, static_cast<V>(~a));
}

// Each measure says what a split costs, given its sides, and what a node adds. All ones means "no tree known yet".
template <typename Word>
struct DepthMeasure {
  template <typename V>
  static inline __attribute__((always_inline)) V join(V a, V b) {
    return lane_max(a, b);
  }
  template <typename V>
  static inline __attribute__((always_inline)) V node(V best) {
    const V one = V{} + Word{1};
    return saturating_add(best, one);
  }
  static constexpr Word kOneSplit = 1;
};

template <typename Word>
struct LeavesMeasure {
  template <typename V>
  static inline __attribute__((always_inline)) V join(V a, V b) {
    return saturating_add(a, b);
  }
  template <typename V>
  static inline __attribute__((always_inline)) V node(V best) {
    const V one = V{} + Word{1};
    return saturating_add(best, one);
  }
  static constexpr Word kOneSplit = 1;
};

// Splits in the high bits, depth in the low ones: the smallest word is the shallowest of the trees with fewest leaves.
template <typename Word>
struct LeavesDepthMeasure {
  static constexpr Word kDepth = (Word{1} << PackedBits<Word>::kDepthBits) - 1;
  static constexpr Word kSplits = static_cast<Word>(~kDepth);
  template <typename V>
  static inline __attribute__((always_inline)) V join(V a, V b) {
    const V splits = V{} + kSplits, depth = V{} + kDepth;
    return saturating_add(static_cast<V>(a & splits), static_cast<V>(b & splits)) |
           lane_max(static_cast<V>(a & depth), static_cast<V>(b & depth));
  }
  template <typename V>
  static inline __attribute__((always_inline)) V node(V best) {
    const V splits = V{} + kSplits, depth = V{} + kDepth, one = V{} + Word{1};
    const V one_split = V{} + static_cast<Word>(kDepth + 1);
    return saturating_add(static_cast<V>(best & splits), one_split) |
           lane_min(static_cast<V>((best & depth) + one), depth);
  }
  static constexpr Word kOneSplit = static_cast<Word>(kDepth + 2);
};

template <typename V>
inline __attribute__((always_inline)) V load(const std::uint8_t* at) {
  return *reinterpret_cast<const V*>(at);
}

template <typename V, typename Mask>
inline __attribute__((always_inline)) V shuffle(V v, Mask lanes) {
#if defined(__GNUC__) && !defined(__clang__)
  return __builtin_shuffle(v, lanes);
#else
  V out;
  for (std::size_t i = 0; i < sizeof(V) / sizeof(v[0]); ++i) out[i] = v[lanes[i]];
  return out;
#endif
}

// The value of a box whose cheapest split costs `best`. A box that one split cuts into two parts of one class each, and
// whose first and last cells agree, is itself of one class.
template <typename Measure, typename V>
inline __attribute__((always_inline)) V settle(V best, V agree) {
  const V value = Measure::node(best);
  const V one_split = V{} + Measure::kOneSplit;
  return value & ~static_cast<V>((value == one_split) & agree);
}

// The cheapest split of one row along the outer loops.
template <typename Measure, typename V>
inline __attribute__((always_inline)) V join_pairs(const Block& block, int row) {
  V best = static_cast<V>(~V{});
  for (int p = 0; p < block.n_pairs; ++p) {
    const RowPair& pair = block.pairs[p];
    best = lane_min(best, Measure::join(load<V>(pair.left + std::size_t{pair.left_list[row]} * sizeof(V)),
                                        load<V>(pair.right + std::size_t{pair.right_list[row]} * sizeof(V))));
  }
  return best;
}

template <typename Word, template <typename> class MeasureOf>
void fill_rows(const Block& block, const RowPlan& plan) {
  using V = typename VectorOf<Word>::type;
  using Measure = MeasureOf<Word>;
  const V singles = load<V>(plan.singles.data());
  const V base_level = load<V>(plan.base_level.data());
  const Intervals& intervals = *block.intervals;
  const int n_rows = intervals.size();
  for (int row = 0; row < n_rows; ++row) {
    V best = join_pairs<Measure, V>(block, row);
    const SplitIndex* splits = intervals.splits(row);
    for (int s = 0, n = intervals.n_splits(row); s < n; ++s)
      best = lane_min(best, Measure::join(load<V>(block.rows + std::size_t{splits[s].left} * sizeof(V)),
                                          load<V>(block.rows + std::size_t{splits[s].right} * sizeof(V))));
    const auto [lo, hi] = intervals[row];
    const V agree =
        static_cast<V>(load<V>(block.lo_classes + static_cast<std::size_t>(block.grid_slabs[lo]) * sizeof(V)) ==
                       load<V>(block.hi_classes + static_cast<std::size_t>(block.grid_slabs[hi]) * sizeof(V)));
    if (block.single && lo == hi) best &= ~singles;
    // Lanes are settled in order of their intervals' total length; those not settled yet hold "none".
    V value = settle<Measure>(best, agree) | ~base_level;
    const RowStep* step = plan.steps.data();
    for (int level = 0; level < plan.n_levels; ++level) {
      for (int k = 0; k < plan.level_steps[level]; ++k, ++step)
        best = lane_min(best, Measure::join(shuffle(value, load<V>(step->left)), shuffle(value, load<V>(step->right))));
      const V lanes = load<V>(plan.level_lanes[level].data());
      value = (value & ~lanes) | (settle<Measure>(best, agree) & lanes);
    }
    *reinterpret_cast<V*>(block.rows + static_cast<std::size_t>(row) * sizeof(V)) = value;
  }
}

// One value a row: for axes too long to share a row.
template <typename Word, template <typename> class MeasureOf>
void fill_values(const Block& block, const RowPlan&) {
  using Measure = MeasureOf<Word>;
  const Intervals& intervals = *block.intervals;
  Word* values = reinterpret_cast<Word*>(block.rows);
  for (int row = 0, n_rows = intervals.size(); row < n_rows; ++row) {
    Word best = static_cast<Word>(-1);
    for (int p = 0; p < block.n_pairs; ++p) {
      const RowPair& pair = block.pairs[p];
      best =
          lane_min(best, Measure::template join<Word>(reinterpret_cast<const Word*>(pair.left)[pair.left_list[row]],
                                                      reinterpret_cast<const Word*>(pair.right)[pair.right_list[row]]));
    }
    const SplitIndex* splits = intervals.splits(row);
    for (int s = 0, n = intervals.n_splits(row); s < n; ++s)
      best = lane_min(best, Measure::template join<Word>(values[splits[s].left], values[splits[s].right]));
    const auto [lo, hi] = intervals[row];
    if (block.single && lo == hi) best = 0;
    const bool agree = block.lo_classes[static_cast<std::size_t>(block.grid_slabs[lo]) * sizeof(Word)] ==
                       block.hi_classes[static_cast<std::size_t>(block.grid_slabs[hi]) * sizeof(Word)];
    const Word value = Measure::template node<Word>(best);
    values[row] = value == Measure::kOneSplit && agree ? Word{0} : value;
  }
}
