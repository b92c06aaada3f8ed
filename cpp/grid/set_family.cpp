#include "grid/set_family.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "base/interner.hpp"

namespace onetree {

namespace {

constexpr int kBits = 32;
constexpr std::size_t kWorkBetweenChecks = 200'000;  // tests applied to words

bool any(const std::vector<std::int32_t>& words) {
  return std::any_of(words.begin(), words.end(), [](std::int32_t word) { return word != 0; });
}

int count_of(std::span<const std::int32_t> words) {
  int count = 0;
  for (const std::int32_t word : words) count += std::popcount(static_cast<std::uint32_t>(word));
  return count;
}

// Of two sets of one size, the one with the first value that they do not share comes first.
bool is_before(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  for (std::size_t word = 0; word < a.size(); ++word)
    if (const std::uint32_t differs = static_cast<std::uint32_t>(a[word] ^ b[word]); differs != 0)
      return (static_cast<std::uint32_t>(a[word]) >> std::countr_zero(differs) & 1) != 0;
  return false;
}

}  // namespace

SetAxis tests_of(const Axis& axis) {
  if (axis.set) return axis.set;
  SetAxis tests;
  tests.n_values = axis.n_slabs();
  for (int test = 0; test + 1 < tests.n_values; ++test)
    for (int value = 0; value < tests.n_values; ++value) tests.member.push_back(value <= test);
  return tests;
}

SetFamily::SetFamily(const SetAxis& axis, Control& control, int max_sets) {
  const int n_words = (axis.n_values + kBits - 1) / kBits;  // per set, the lowest value in the lowest bit
  const auto put = [](std::vector<std::int32_t>& words, int value) {
    words[value / kBits] |= static_cast<std::int32_t>(std::uint32_t{1} << value % kBits);
  };
  std::vector<std::vector<std::int32_t>> tests(axis.n_tests(), std::vector<std::int32_t>(n_words, 0));
  for (int test = 0; test < axis.n_tests(); ++test)
    for (int value = 0; value < axis.n_values; ++value)
      if (axis.contains(test, value)) put(tests[test], value);
  std::vector<std::int32_t> set(n_words, 0), inside(n_words), outside(n_words);
  for (int value = 0; value < axis.n_values; ++value) put(set, value);

  // In the order in which they are met at first.
  Interner sets;
  sets.intern(set);
  std::vector<std::int32_t> seen{-1};  // per set: the last one that has it as a side
  std::vector<SetSplit> splits;
  std::vector<std::size_t> first_split{0};
  std::size_t work = 0;
  for (std::int32_t id = 0; id < sets.size(); ++id) {
    work += tests.size() * n_words;
    if (work > kWorkBetweenChecks) {
      work = 0;
      control.check("sets of values", -1, -1, sets.size());
    }
    const std::span<const std::int32_t> key = sets.key(id);
    set.assign(key.begin(), key.end());
    for (int test = 0; test < axis.n_tests(); ++test) {
      for (int word = 0; word < n_words; ++word) {
        inside[word] = set[word] & tests[test][word];
        outside[word] = set[word] & ~tests[test][word];
      }
      if (!any(inside) || !any(outside)) continue;
      const std::int32_t in = sets.intern(inside).id, out = sets.intern(outside).id;
      seen.resize(sets.size(), -1);
      if (seen[in] == id) continue;
      seen[in] = seen[out] = id;
      splits.push_back({test, static_cast<std::uint32_t>(in), static_cast<std::uint32_t>(out)});
    }
    first_split.push_back(splits.size());
    if (sets.size() > max_sets || splits.size() > kMaxSplits)
      throw GridTooLarge("the " + std::to_string(axis.n_tests()) + " tests of one axis tell more than " +
                         std::to_string(std::min(sets.size(), max_sets)) +
                         " sets of its values apart, too many for a table of all boxes");
  }

  std::vector<std::int32_t> order(sets.size()), rank(sets.size());
  std::vector<int> count(sets.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::int32_t id = 0; id < sets.size(); ++id) count[id] = count_of(sets.key(id));
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return count[a] != count[b] ? count[a] < count[b] : is_before(sets.key(a), sets.key(b));
  });
  for (std::int32_t place = 0; place < sets.size(); ++place) rank[order[place]] = place;
  splits_.reserve(splits.size());
  first_split_.push_back(0);
  for (const std::int32_t id : order) {
    const std::span<const std::int32_t> key = sets.key(id);
    count_.push_back(count[id]);
    int word = 0;
    while (key[word] == 0) ++word;
    least_.push_back(word * kBits + std::countr_zero(static_cast<std::uint32_t>(key[word])));
    for (std::size_t split = first_split[id]; split < first_split[id + 1]; ++split)
      splits_.push_back({splits[split].test, static_cast<std::uint32_t>(rank[splits[split].inside]),
                         static_cast<std::uint32_t>(rank[splits[split].outside])});
    first_split_.push_back(splits_.size());
  }
}

std::size_t SetFamily::bytes() const {
  return (least_.capacity() + count_.capacity()) * sizeof(int) + splits_.capacity() * sizeof(SetSplit) +
         first_split_.capacity() * sizeof(std::size_t);
}

BoxCount count_set_boxes(const GridAxes& grid, int max_sets) {
  Control unlimited;
  BoxCount boxes{1, true};
  for (const Axis& axis : grid.axes) {
    const double n_slabs = axis.n_slabs();
    if (!axis.set) {
      boxes.count *= n_slabs * (n_slabs + 1) / 2;
      continue;
    }
    try {
      boxes.count *= SetFamily(axis.set, unlimited, max_sets).size();
    } catch (const GridTooLarge&) {
      boxes.count *= max_sets;
      boxes.is_listed = false;
    }
  }
  return boxes;
}

}  // namespace onetree
