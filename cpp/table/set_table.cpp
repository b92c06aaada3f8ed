#include "table/set_table.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <new>
#include <utility>

#include "base/fronts.hpp"

namespace onetree {

namespace {

constexpr double kJoinsPerSecond = 3e8;
constexpr std::size_t kJoinsBetweenChecks = 500'000;
constexpr double kManyBoxes = 1e6;  // from here on threads and their order are worth what they cost

template <typename Word>
inline constexpr Word kMost = std::numeric_limits<Word>::max();

template <typename Word>
Word add(Word a, Word b) {
  const Word sum = static_cast<Word>(a + b);
  return sum < a ? kMost<Word> : sum;
}

template <typename Word>
Word add_one(Word a) {
  return static_cast<Word>(a + (a != kMost<Word>));
}

// What a split makes of the values of its sides: `join`, of which the least is taken, and then `next`.
template <typename Word_>
struct Leaf {
  using Word = Word_;
  static Word join(Word, Word) { return kMost<Word>; }
  static Word next(Word value) { return value; }
};

template <typename Word_>
struct Depth {
  using Word = Word_;
  static Word join(Word a, Word b) { return std::max(a, b); }
  static Word next(Word value) { return add_one(value); }
};

template <typename Word_>
struct Splits {
  using Word = Word_;
  static Word join(Word a, Word b) { return add(a, b); }
  static Word next(Word value) { return add_one(value); }
};

template <typename Word_>
struct Packed {
  using Word = Word_;
  static constexpr Word kDeepest = (Word{1} << SplitsDepth::depth_bits(sizeof(Word))) - 1;
  static constexpr Word kSplits = static_cast<Word>(~kDeepest);
  static Word join(Word a, Word b) {
    const Word depth = std::max<Word>(a & kDeepest, b & kDeepest);
    return static_cast<Word>(add<Word>(a & kSplits, b & kSplits) | depth);
  }
  static Word next(Word value) {
    const Word sum = add<Word>(value, static_cast<Word>(kDeepest + 1));
    return static_cast<Word>(sum + (sum != kMost<Word> && (sum & kDeepest) != kDeepest));
  }
};

// Has all rows filled by `fill(rows, spend)`, which tells `spend` how many joins it made.
template <typename Fill>
void for_all_rows(const SetBoxes& boxes, Control& control, const Fill& fill) {
  const bool is_small = boxes.count() < kManyBoxes;
  const SetBoxes::Runs runs = is_small ? boxes.one_run() : boxes.runs();
  std::vector<std::size_t> sizes;
  for (const std::vector<std::size_t>& front : runs.fronts) sizes.push_back(front.size());
  const int n_threads = is_small ? 1 : std::max(1, control.n_threads);
  const auto check = [&](double fraction) {
    control.check("table of boxes", -1, -1, static_cast<std::int64_t>(fraction * boxes.count()), fraction);
  };
  // Runs may be short: the clock is asked after so many joins, not after each of them.
  do_fronts(sizes, n_threads, check, [&](std::function<void()> tick) {
    return [&, tick = std::move(tick), spent = std::size_t{0}](std::size_t front, std::size_t run) mutable {
      const auto spend = [&](std::size_t joins) {
        spent += joins;
        if (spent < kJoinsBetweenChecks) return;
        spent = 0;
        tick();
      };
      for (SetBoxes::Rows rows(boxes, runs.fronts[front][run], runs.n_rows); !rows.at_end(); rows.advance())
        fill(rows, spend);
    };
  });
}

// Several boxes at a time: the compiler finds the vectors, given that the rows do not overlap.
template <typename Measure, typename From, typename To>
void join_rows(const From* __restrict inside, const From* __restrict outside, To* __restrict to, std::size_t size) {
  for (std::size_t box = 0; box < size; ++box)
    to[box] = std::min(to[box], static_cast<To>(Measure::join(inside[box], outside[box])));
}

// Whether a box is a leaf, from what is known of the sides of its first split.
struct ByClass {
  const CellClass* classes;
  template <typename Word>
  bool is_leaf(std::size_t, Word inside, Word outside, std::size_t inside_cell, std::size_t outside_cell) const {
    return inside == 0 && outside == 0 && classes[inside_cell] == classes[outside_cell];
  }
};

struct ByNumber {
  const std::uint8_t* known;  // per box
  template <typename Word>
  bool is_leaf(std::size_t box, Word, Word, std::size_t, std::size_t) const {
    return known[box] != 0;
  }
};

template <typename Measure, typename Leaves>
void fill(const SetBoxes& boxes, const Leaves& leaves, typename Measure::Word* table, Control& control) {
  using Word = typename Measure::Word;
  const SetBoxes::Join* inner_joins = boxes.inner_joins().data();
  for_all_rows(boxes, control, [&](const SetBoxes::Rows& rows, const auto& spend) {
    Word* row = table + rows.first_box();
    const std::vector<SetBoxes::Join>& joins = rows.joins();
    std::fill_n(row, boxes.row_size(), kMost<Word>);
    for (const SetBoxes::Join& join : joins)
      join_rows<Measure>(table + join.inside, table + join.outside, row, boxes.row_size());
    for (std::size_t box = 0; box < boxes.row_size(); ++box) row[box] = Measure::next(row[box]);
    for (const auto [box, cell] : boxes.cells())
      if (joins.empty() ||
          leaves.is_leaf(rows.first_box() + box, table[joins[0].inside + box], table[joins[0].outside + box],
                         rows.least_inside() + cell, rows.least_outside() + cell))
        row[box] = 0;
    for (const SetBoxes::Inner& inner : boxes.inner()) {
      const SetBoxes::Join* join = inner_joins + inner.first_join;
      if (leaves.is_leaf(rows.first_box() + inner.box, row[join->inside], row[join->outside],
                         rows.least() + inner.inside_cell, rows.least() + inner.outside_cell)) {
        row[inner.box] = 0;
        continue;
      }
      Word best = kMost<Word>;
      for (; join != inner_joins + inner.last_join; ++join)
        best = std::min(best, Measure::join(row[join->inside], row[join->outside]));
      row[inner.box] = std::min(row[inner.box], Measure::next(best));
      spend(inner.last_join - inner.first_join);
    }
    spend(boxes.row_size() * (joins.size() + 1) / 8);
  });
}

template <typename From, typename To>
struct Widening {
  static To join(From a, From b) {
    if constexpr (sizeof(From) == sizeof(To))
      return add<To>(a, b);
    else
      return a == kMost<From> || b == kMost<From> ? kMost<To> : static_cast<To>(To{a} + To{b});
  }
};

// Every value comes from the shallower table, so the order does not matter.
template <typename From, typename To>
void deepen(const SetBoxes& boxes, const From* from, To* to, Control& control) {
  const auto widened = [](From value) { return value == kMost<From> ? kMost<To> : static_cast<To>(value); };
  const SetBoxes::Join* inner_joins = boxes.inner_joins().data();
  for_all_rows(boxes, control, [&](const SetBoxes::Rows& rows, const auto& spend) {
    const From* known = from + rows.first_box();
    To* row = to + rows.first_box();
    std::fill_n(row, boxes.row_size(), kMost<To>);
    for (const SetBoxes::Join& join : rows.joins())
      join_rows<Widening<From, To>>(from + join.inside, from + join.outside, row, boxes.row_size());
    for (const SetBoxes::Inner& inner : boxes.inner()) {
      To best = row[inner.box];
      for (std::uint32_t join = inner.first_join; join != inner.last_join; ++join)
        best =
            std::min(best, Widening<From, To>::join(known[inner_joins[join].inside], known[inner_joins[join].outside]));
      row[inner.box] = best;
      spend(inner.last_join - inner.first_join);
    }
    for (std::size_t box = 0; box < boxes.row_size(); ++box)
      row[box] = std::min(add_one(row[box]), widened(known[box]));
    spend(boxes.row_size() * (rows.joins().size() + 1) / 8);
  });
}

template <template <typename> typename Measure>
void fill_of_width(const SetBoxes& boxes, const SetLeaves& leaves, void* table, int width, Control& control) {
  const auto fill_words = [&]<typename Word>(Word* words) {
    if (leaves.classes != nullptr)
      fill<Measure<Word>>(boxes, ByClass{leaves.classes}, words, control);
    else
      fill<Measure<Word>>(boxes, ByNumber{leaves.is_leaf}, words, control);
  };
  switch (width) {
    case 1:
      return fill_words(static_cast<std::uint8_t*>(table));
    case 2:
      return fill_words(static_cast<std::uint16_t*>(table));
    case 4:
      return fill_words(static_cast<std::uint32_t*>(table));
    default:
      return fill_words(static_cast<std::uint64_t*>(table));
  }
}

// One column: the largest lower and the smallest upper end of each box, from those of two boxes that it consists of.
template <typename Rank>
void mark_column(const SetBoxes& boxes, const ScoreGrid& grid, const ScoreRanks& ranks, std::size_t plane,
                 std::vector<std::uint8_t>& is_leaf, Control& control) {
  const auto lower = std::make_unique_for_overwrite<Rank[]>(boxes.size());
  const auto upper = std::make_unique_for_overwrite<Rank[]>(boxes.size());
  const auto unite = [&](std::size_t box, std::size_t inside, std::size_t outside) {
    lower[box] = std::max(lower[inside], lower[outside]);
    upper[box] = std::min(upper[inside], upper[outside]);
    is_leaf[box] &= lower[box] <= upper[box];
  };
  for_all_rows(boxes, control, [&](const SetBoxes::Rows& rows, const auto& spend) {
    const std::size_t first = rows.first_box();
    if (!rows.joins().empty()) {
      const auto [inside, outside] = rows.joins()[0];
      for (std::size_t box = 0; box < boxes.row_size(); ++box) unite(first + box, inside + box, outside + box);
    } else {
      for (const auto [box, cell] : boxes.cells()) {
        const std::uint32_t admission = grid.cells[rows.least() + cell];
        lower[first + box] = static_cast<Rank>(ranks.rank(admission, plane));
        upper[first + box] = static_cast<Rank>(ranks.rank(admission, plane + 1));
      }
      for (const SetBoxes::Inner& inner : boxes.inner()) {
        const auto [inside, outside] = boxes.inner_joins()[inner.first_join];
        unite(first + inner.box, first + inside, first + outside);
      }
    }
    spend(boxes.row_size());
  });
}

template <typename From>
void deepen_to_width(const SetBoxes& boxes, const void* from, void* to, int width, Control& control) {
  const auto deepen_to = [&]<typename To>(To* table) {
    if constexpr (sizeof(From) <= sizeof(To)) deepen(boxes, static_cast<const From*>(from), table, control);
  };
  if (width == 1)
    deepen_to(static_cast<std::uint8_t*>(to));
  else if (width == 2)
    deepen_to(static_cast<std::uint16_t*>(to));
  else
    deepen_to(static_cast<std::uint32_t*>(to));
}

}  // namespace

SplitsDepth::SplitsDepth(std::uint64_t word, int width) {
  const std::uint64_t deepest = (std::uint64_t{1} << depth_bits(width)) - 1;
  splits = word >> depth_bits(width);
  depth = word & deepest;
  splits_fit = splits != ~std::uint64_t{0} >> (64 - 8 * width + depth_bits(width));
  depth_fits = depth != deepest;
}

std::vector<std::uint8_t> score_leaves(const SetBoxes& boxes, const ScoreGrid& grid, const ScoreRanks& ranks,
                                       Control& control) {
  const double bytes = boxes.count() * (1 + 2 * static_cast<double>(ranks.rank_bytes()));
  if (bytes + static_cast<double>(boxes.bytes()) > static_cast<double>(control.memory_limit))
    throw LimitReached("memory");
  try {
    std::vector<std::uint8_t> is_leaf(boxes.size(), 1);
    for (std::size_t plane = 0; plane < static_cast<std::size_t>(ranks.n_planes()); plane += 2) {
      if (ranks.rank_bytes() == 1)
        mark_column<std::uint8_t>(boxes, grid, ranks, plane, is_leaf, control);
      else if (ranks.rank_bytes() == 2)
        mark_column<std::uint16_t>(boxes, grid, ranks, plane, is_leaf, control);
      else
        mark_column<std::uint32_t>(boxes, grid, ranks, plane, is_leaf, control);
    }
    return is_leaf;
  } catch (const std::bad_alloc&) {
    throw LimitReached("memory");
  }
}

double SetTable::seconds(const SetBoxes& boxes) {
  return (boxes.count() + boxes.n_joins()) / kJoinsPerSecond;
}

SetTable::SetTable(const SetBoxes& boxes, int width, Control& control) : width_(width) {
  if (boxes.count() * width + static_cast<double>(boxes.bytes()) > static_cast<double>(control.memory_limit))
    throw LimitReached("memory");
  if (control.patience > 0 && seconds(boxes) > control.patience) throw LimitReached("time");
  bytes_ = boxes.size() * width;
  try {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
  } catch (const std::bad_alloc&) {
    throw LimitReached("memory");
  }
}

SetTable::SetTable(const SetBoxes& boxes, const SetLeaves& leaves, SetMeasure measure, int width, Control& control)
    : SetTable(boxes, width, control) {
  void* table = memory_.get();
  switch (measure) {
    case SetMeasure::kLeaf:
      fill_of_width<Leaf>(boxes, leaves, table, width, control);
      break;
    case SetMeasure::kDepth:
      fill_of_width<Depth>(boxes, leaves, table, width, control);
      break;
    case SetMeasure::kSplits:
      fill_of_width<Splits>(boxes, leaves, table, width, control);
      break;
    case SetMeasure::kSplitsDepth:
      fill_of_width<Packed>(boxes, leaves, table, width, control);
      break;
  }
}

SetTable::SetTable(const SetBoxes& boxes, const SetTable& shallower, int width, Control& control)
    : SetTable(boxes, width, control) {
  if (shallower.width_ == 1)
    deepen_to_width<std::uint8_t>(boxes, shallower.memory_.get(), memory_.get(), width, control);
  else if (shallower.width_ == 2)
    deepen_to_width<std::uint16_t>(boxes, shallower.memory_.get(), memory_.get(), width, control);
  else
    deepen_to_width<std::uint32_t>(boxes, shallower.memory_.get(), memory_.get(), width, control);
}

std::uint64_t SetTable::at(std::size_t box) const {
  const void* table = memory_.get();
  switch (width_) {
    case 1:
      return static_cast<const std::uint8_t*>(table)[box];
    case 2:
      return static_cast<const std::uint16_t*>(table)[box];
    case 4:
      return static_cast<const std::uint32_t*>(table)[box];
    default:
      return static_cast<const std::uint64_t*>(table)[box];
  }
}

}  // namespace onetree
