#include "grid/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "grid/set_family.hpp"

namespace onetree {

namespace {

constexpr int kMostSets = 1024;  // that are listed to be counted

using TestRow = std::vector<char>;

// Of a test on some values: with the first of them inside; empty where the test does not tell them apart.
TestRow row_of(const SetAxis& axis, int test, std::span<const int> values) {
  TestRow row;
  const bool first = axis.contains(test, values[0]);
  bool is_trivial = true;
  for (const int value : values) {
    row.push_back(axis.contains(test, value) == first);
    is_trivial = is_trivial && row.back();
  }
  if (is_trivial) row.clear();
  return row;
}

// Tests in the form in which equal shapes are equal: none is trivial, all contain value 0, they ascend and are
// distinct.
SetAxis shape_of(const SetAxis& axis, std::span<const int> values) {
  std::vector<TestRow> rows;
  for (int test = 0; test < axis.n_tests(); ++test)
    if (TestRow row = row_of(axis, test, values); !row.empty()) rows.push_back(std::move(row));
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  SetAxis shape;
  shape.n_values = static_cast<int>(values.size());
  for (const TestRow& row : rows) shape.member.insert(shape.member.end(), row.begin(), row.end());
  return shape;
}

std::vector<int> all_values(int n_values) {
  std::vector<int> values(n_values);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

}  // namespace

int Shapes::add(const SetAxis& axis) {
  return intern(shape_of(axis, all_values(axis.n_values)));
}

int Shapes::intern(SetAxis shape) {
  std::vector<std::int32_t> key{shape.n_values};
  for (std::size_t first = 0; first < shape.member.size(); first += 32) {
    std::uint32_t word = 0;
    for (std::size_t at = first; at < std::min(first + 32, shape.member.size()); ++at)
      word |= std::uint32_t{shape.member[at]} << (at - first);
    key.push_back(static_cast<std::int32_t>(word));
  }
  key.push_back(shape.n_tests());
  const auto [id, is_new] = keys_.intern(key);
  if (is_new) {
    Entry& entry = entries_.emplace_back();
    entry.axis = std::move(shape);
    entry.sides.resize(2 * static_cast<std::size_t>(entry.axis.n_tests()));
    bytes_ += sizeof(Entry) + entry.axis.member.size() + entry.sides.size() * sizeof(Side);
  }
  return id;
}

int Shapes::longest_path(int shape) const {
  const SetAxis& axis = entries_[shape].axis;
  return std::min(axis.n_values - 1, axis.n_tests());
}

double Shapes::n_sets(int shape) {
  Entry& entry = entries_[shape];
  if (entry.n_sets > 0) return entry.n_sets;
  Control unlimited;
  try {
    entry.n_sets = SetFamily(entry.axis, unlimited, kMostSets).size();
  } catch (const GridTooLarge&) {
    entry.n_sets = HUGE_VAL;
  }
  return entry.n_sets;
}

const Shapes::Side& Shapes::side(int shape, int test, bool inside) {
  Side& side = entries_[shape].sides[2 * test + (inside ? 0 : 1)];
  if (side.shape >= 0) return side;
  const SetAxis& axis = entries_[shape].axis;
  for (int value = 0; value < axis.n_values; ++value)
    if (axis.contains(test, value) == inside) side.values.push_back(value);
  bytes_ += side.values.capacity() * sizeof(int);
  side.shape = intern(shape_of(axis, side.values));
  return side;
}

const Shapes::Pairs& Shapes::pairs(int shape) {
  Entry& entry = entries_[shape];
  const SetAxis& axis = entry.axis;
  if (entry.has_pairs || axis.n_values > Pairs::kMaxValues) return entry.pairs;
  entry.has_pairs = true;
  const int n = axis.n_values;
  std::vector<std::uint64_t> inside(axis.n_tests(), 0);
  for (int test = 0; test < axis.n_tests(); ++test)
    for (int value = 0; value < n; ++value)
      if (axis.contains(test, value)) inside[test] |= std::uint64_t{1} << value;
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - n);
  for (int u = 0; u < n; ++u)
    for (int v = 0; v < n; ++v) {
      std::uint64_t hull = all;
      int only = -1, n_between = 0;
      for (int test = 0; test < axis.n_tests(); ++test) {
        const bool has_u = axis.contains(test, u), has_v = axis.contains(test, v);
        if (has_u == has_v)
          hull &= has_u ? inside[test] : ~inside[test];
        else
          only = n_between++ == 0 ? test : -1;
      }
      entry.pairs.hull.push_back(hull);
      entry.pairs.only_test.push_back(only);
    }
  bytes_ += entry.pairs.hull.size() * (sizeof(std::uint64_t) + sizeof(int));
  return entry.pairs;
}

AxisTest axis_test(const SetAxis& axis, const std::vector<int>& values, const SetAxis& shape, int test_of_shape) {
  const auto first = shape.member.begin() + static_cast<std::ptrdiff_t>(test_of_shape) * shape.n_values;
  const TestRow wanted(first, first + shape.n_values);
  int test = 0;
  while (row_of(axis, test, values) != wanted) ++test;
  return {test, !axis.contains(test, values[0])};
}

AxisTest test_between(const SetAxis& axis, int value, int other) {
  int test = 0;
  while (axis.contains(test, value) == axis.contains(test, other)) ++test;
  return {test, !axis.contains(test, value)};
}

}  // namespace onetree
