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

template <typename Measure>
void fill(const SetBoxes& boxes, typename Measure::Word* table, Control& control) {
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
      if (joins.empty() || (table[joins[0].inside + box] == 0 && table[joins[0].outside + box] == 0 &&
                            rows.least_inside()[cell] == rows.least_outside()[cell]))
        row[box] = 0;
    for (const SetBoxes::Inner& inner : boxes.inner()) {
      const SetBoxes::Join* join = inner_joins + inner.first_join;
      if (row[join->inside] == 0 && row[join->outside] == 0 &&
          rows.least()[inner.inside_cell] == rows.least()[inner.outside_cell]) {
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
void fill_of_width(const SetBoxes& boxes, void* table, int width, Control& control) {
  switch (width) {
    case 1:
      return fill<Measure<std::uint8_t>>(boxes, static_cast<std::uint8_t*>(table), control);
    case 2:
      return fill<Measure<std::uint16_t>>(boxes, static_cast<std::uint16_t*>(table), control);
    case 4:
      return fill<Measure<std::uint32_t>>(boxes, static_cast<std::uint32_t*>(table), control);
    default:
      return fill<Measure<std::uint64_t>>(boxes, static_cast<std::uint64_t*>(table), control);
  }
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

SetTable::SetTable(const SetBoxes& boxes, SetMeasure measure, int width, Control& control)
    : SetTable(boxes, width, control) {
  void* table = memory_.get();
  switch (measure) {
    case SetMeasure::kLeaf:
      fill_of_width<Leaf>(boxes, table, width, control);
      break;
    case SetMeasure::kDepth:
      fill_of_width<Depth>(boxes, table, width, control);
      break;
    case SetMeasure::kSplits:
      fill_of_width<Splits>(boxes, table, width, control);
      break;
    case SetMeasure::kSplitsDepth:
      fill_of_width<Packed>(boxes, table, width, control);
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
