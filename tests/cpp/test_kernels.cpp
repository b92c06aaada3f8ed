// The kernel of each instruction set that this processor has, lane by lane, on values that no grid would give as well:
// words at their ends, where sums must stop.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "check.hpp"
#include "kernel/kernel.hpp"
#include "kernel/row_plan.hpp"
#include "kernel/simd.hpp"

using namespace onetree;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::uint64_t word_at(const std::uint8_t* at, std::size_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, bytes);  // little-endian, as the core asks for
  return word;
}

// Mostly small words, and some at the end of their range.
Bytes random_words(check::Random& random, std::size_t n_words, std::size_t bytes) {
  Bytes all(n_words * bytes);
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - 8 * bytes);
  for (std::size_t i = 0; i < n_words; ++i) {
    const int kind = random.below(4);
    const std::uint64_t word = kind == 0 ? most - static_cast<std::uint64_t>(random.below(3))
                               : kind == 1
                                   ? static_cast<std::uint64_t>(random.below(1 << 8 * std::min<std::size_t>(bytes, 3)))
                                   : static_cast<std::uint64_t>(random.below(4));
    std::memcpy(all.data() + i * bytes, &word, bytes);
  }
  return all;
}

// One block: all intervals of a loop of three slabs, beside rows of two other blocks.
struct Case {
  Case(const std::vector<int>& slabs, std::size_t bytes, std::uint64_t seed)
      : shape(slabs, order_of(slabs.size()), bytes), loop(3, [] {}) {
    check::Random random(seed);
    const std::size_t words = shape.bytes() / bytes;
    for (Bytes& rows : others) rows = random_words(random, loop.size() * words, bytes);
    for (std::vector<std::uint32_t>& list : lists)
      for (int q = 0; q < loop.size(); ++q) list.push_back(static_cast<std::uint32_t>(random.below(loop.size())));
    for (Bytes* corner : {&lo, &hi}) {
      corner->resize(3 * shape.bytes());
      for (std::size_t i = 0; i < 3 * words; ++i) (*corner)[i * bytes] = static_cast<std::uint8_t>(random.below(2));
    }
    single = random.below(2) == 1;
  }

  static std::vector<int> order_of(std::size_t n) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  Bytes filled(Simd simd, Measure measure) {
    const RowPlanner planner(shape, groups_at_once(simd));
    Bytes rows(loop.size() * shape.bytes() + kVectorBytes, 0);
    const RowPair pairs[] = {{others[0].data(), lists[0].data(), others[1].data(), lists[1].data()},
                             {others[2].data(), lists[2].data(), others[3].data(), lists[3].data()}};
    std::vector<Source> sources(8);
    const int slab_of_slab[] = {0, 1, 2};
    const Block block{rows.data(), loop.size(), loop.data(),    loop.splits(), loop.first_split(), single,
                      pairs,       2,           sources.data(), slab_of_slab,  lo.data(),          hi.data()};
    fill_block_for(simd, measure, shape.element_bytes(), planner.n_levels())(block, planner.plan());
    return rows;
  }

  RowShape shape;
  Intervals loop;
  Bytes others[4], lo, hi;
  std::vector<std::uint32_t> lists[4];
  bool single = false;
};

// What the kernel is to compute, one box after the other.
Bytes expected(const Case& given, Measure measure) {
  const std::size_t bytes = given.shape.element_bytes();
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - 8 * bytes);
  const int depth_bits = bytes == 1 ? 3 : bytes == 2 ? 5 : 8;
  const std::uint64_t depth_mask = (std::uint64_t{1} << depth_bits) - 1;
  const auto join = [&](std::uint64_t a, std::uint64_t b) {
    if (measure == Measure::kDepth) return std::max(a, b);
    if (measure == Measure::kLeaves) return std::min(most, a + b);
    const std::uint64_t deeper = (b & depth_mask) > (a & depth_mask) ? (b & depth_mask) - (a & depth_mask) : 0;
    return std::min(most, std::min(most, a + (b & ~depth_mask)) + deeper);
  };
  const auto step = [&](std::uint64_t best) -> std::uint64_t {
    if (measure != Measure::kLeavesDepth) return 1;
    return (best & depth_mask) == depth_mask ? depth_mask + 1 : depth_mask + 2;
  };
  const RowShape& shape = given.shape;
  const std::size_t row_bytes = shape.bytes();
  Bytes rows(given.loop.size() * row_bytes + kVectorBytes, 0);
  const auto value = [&](const Bytes& from, std::size_t row, std::size_t place) {
    return word_at(from.data() + row * row_bytes + place, bytes);
  };
  // Boxes by total length: shorter ones first.
  const int n_axes = static_cast<int>(shape.axes().size());
  std::vector<int> boxes(shape.n_boxes());
  std::iota(boxes.begin(), boxes.end(), 0);
  const auto length = [&](int box) {
    int sum = 0;
    for (int i = 0; i < n_axes; ++i) sum += shape.intervals(box)[i].length();
    return sum;
  };
  std::stable_sort(boxes.begin(), boxes.end(), [&](int a, int b) { return length(a) < length(b); });
  for (int q = 0; q < given.loop.size(); ++q)
    for (const int box : boxes) {
      const std::size_t place = shape.place(box);
      std::uint64_t best = most;
      for (const int pair : {0, 2})
        best = std::min(best, join(value(given.others[pair], given.lists[pair][q], place),
                                   value(given.others[pair + 1], given.lists[pair + 1][q], place)));
      for (int s = 0; s < given.loop.n_splits(q); ++s)
        best = std::min(best, join(value(rows, given.loop.splits(q)[s].left, place),
                                   value(rows, given.loop.splits(q)[s].right, place)));
      if (given.single && given.loop[q].length() == 1 && length(box) == n_axes) best = 0;
      for (int i = 0; i < n_axes; ++i) {
        const Interval whole = shape.intervals(box)[i];
        const int rest = box - shape.share(i, whole.lo, whole.hi);
        for (int cut = whole.lo; cut < whole.hi; ++cut)
          best = std::min(best, join(value(rows, q, shape.place(rest + shape.share(i, whole.lo, cut))),
                                     value(rows, q, shape.place(rest + shape.share(i, cut + 1, whole.hi)))));
      }
      const bool differ = value(given.lo, given.loop[q].lo, place) != value(given.hi, given.loop[q].hi, place);
      const std::uint64_t word = std::min(most, best + std::min(differ ? most : best, step(best)));
      std::memcpy(rows.data() + q * row_bytes + place, &word, bytes);
    }
  return rows;
}

}  // namespace

TEST(every_lane_of_every_instruction_set_is_what_plain_code_computes) {
  const std::vector<std::vector<int>> all_slabs = {{2},    {3},       {4},       {5},          {2, 2},
                                                   {3, 2}, {5, 4},    {4, 4},    {5, 3, 2},    {2, 2, 2, 2},
                                                   {6, 3}, {4, 3, 4}, {3, 3, 3}, {2, 3, 2, 2}, {40}};
  std::uint64_t seed = 10;
  for (const std::vector<int>& slabs : all_slabs)
    for (const std::size_t bytes : {1, 2, 4})
      for (const Measure measure : {Measure::kDepth, Measure::kLeaves, Measure::kLeavesDepth})
        for (int round = 0; round < 20; ++round) {
          Case given(slabs, bytes, ++seed);
          const Bytes wanted = expected(given, measure);
          for (const Simd simd : available_simd()) {
            const Bytes rows = given.filled(simd, measure);
            for (int q = 0; q < given.loop.size(); ++q)
              for (int box = 0; box < given.shape.n_boxes(); ++box) {
                const std::size_t at = q * given.shape.bytes() + given.shape.place(box);
                if (word_at(rows.data() + at, bytes) != word_at(wanted.data() + at, bytes))
                  check::fail(__FILE__, __LINE__,
                              std::string(name_of(simd)) + ", row " + std::to_string(q) + ", box " +
                                  std::to_string(box) + ", " + std::to_string(bytes) + " bytes, measure " +
                                  std::to_string(static_cast<int>(measure)));
              }
          }
        }
}

TEST(the_environment_is_offered_only_what_the_processor_has) {
  CHECK(!available_simd().empty());
  CHECK(available_simd().front() == Simd::kBaseline);
  for (const Simd simd : available_simd()) CHECK(simd_called(name_of(simd)) == simd);
  CHECK(std::find(available_simd().begin(), available_simd().end(), chosen_simd()) != available_simd().end());
}
