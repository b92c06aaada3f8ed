#include "sets/set_function.hpp"

#include <algorithm>
#include <numeric>

#include "grid/set_family.hpp"

namespace onetree {

namespace {

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

std::size_t product(std::span<const int> sizes) {
  std::size_t product = 1;
  for (const int size : sizes) product *= static_cast<std::size_t>(size);
  return product;
}

// Keeps these values of an axis.
void keep_values(std::vector<Class>& classes, std::size_t inner, int size, std::span<const int> values) {
  std::size_t to = 0;
  for (std::size_t first = 0; first < classes.size(); first += size * inner)
    for (const int value : values) {
      std::copy_n(classes.begin() + static_cast<std::ptrdiff_t>(first + value * inner), inner,
                  classes.begin() + static_cast<std::ptrdiff_t>(to));
      to += inner;
    }
  classes.resize(to);
}

bool axis_matters(const std::vector<Class>& classes, std::size_t inner, int size) {
  for (std::size_t first = 0; first < classes.size(); first += size * inner) {
    const Class* slab = classes.data() + first;
    for (int value = 1; value < size; ++value)
      if (!std::equal(slab, slab + inner, slab + value * inner)) return true;
  }
  return false;
}

void drop_idle_axes(SetFunction& function, SetOrigin* origin) {
  for (int axis = function.n_axes(); axis-- > 0;) {
    const std::size_t inner = product(std::span(function.size).subspan(axis + 1));
    if (axis_matters(function.classes, inner, function.size[axis])) continue;
    const int first = 0;
    keep_values(function.classes, inner, function.size[axis], {&first, 1});
    function.shape.erase(function.shape.begin() + axis);
    function.size.erase(function.size.begin() + axis);
    if (origin == nullptr) continue;
    origin->axis.erase(origin->axis.begin() + axis);
    origin->values.erase(origin->values.begin() + axis);
  }
}

}  // namespace

int SetShapes::add(const SetAxis& axis) {
  return intern(shape_of(axis, all_values(axis.n_values)));
}

int SetShapes::intern(SetAxis shape) {
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

int SetShapes::longest_path(int shape) const {
  const SetAxis& axis = entries_[shape].axis;
  return std::min(axis.n_values - 1, axis.n_tests());
}

const SetShapes::Side& SetShapes::side(int shape, int test, bool inside) {
  Side& side = entries_[shape].sides[2 * test + (inside ? 0 : 1)];
  if (side.shape >= 0) return side;
  const SetAxis& axis = entries_[shape].axis;
  for (int value = 0; value < axis.n_values; ++value)
    if (axis.contains(test, value) == inside) side.values.push_back(value);
  bytes_ += side.values.capacity() * sizeof(int);
  side.shape = intern(shape_of(axis, side.values));
  return side;
}

const SetShapes::Pairs& SetShapes::pairs(int shape) {
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

SetFunction set_function_of(const Grid& grid, SetShapes& shapes, SetOrigin* origin) {
  SetFunction function;
  function.classes = grid.classes;
  for (int axis = 0; axis < grid.n_axes(); ++axis) {
    function.shape.push_back(shapes.add(tests_of(grid.axes[axis])));
    function.size.push_back(grid.axes[axis].n_slabs());
    if (origin == nullptr) continue;
    origin->axis.push_back(axis);
    origin->values.push_back(all_values(function.size.back()));
  }
  drop_idle_axes(function, origin);
  return function;
}

SetFunction side_of(const SetFunction& function, SetShapes& shapes, const ShapeTest& cut, bool inside,
                    const SetOrigin* origin, SetOrigin* origin_of_side) {
  const SetShapes::Side& kept = shapes.side(function.shape[cut.axis], cut.test, inside);
  SetFunction side = function;
  keep_values(side.classes, product(std::span(function.size).subspan(cut.axis + 1)), function.size[cut.axis],
              kept.values);
  side.shape[cut.axis] = kept.shape;
  side.size[cut.axis] = static_cast<int>(kept.values.size());
  if (origin != nullptr) {
    *origin_of_side = *origin;
    std::vector<int>& values = origin_of_side->values[cut.axis];
    values.clear();
    for (const int value : kept.values) values.push_back(origin->values[cut.axis][value]);
  }
  drop_idle_axes(side, origin == nullptr ? nullptr : origin_of_side);
  return side;
}

int count_tests(const SetFunction& function, const SetShapes& shapes) {
  int count = 0;
  for (const int shape : function.shape) count += shapes[shape].n_tests();
  return count;
}

ShapeTest test_at(const SetFunction& function, const SetShapes& shapes, int number) {
  int axis = 0;
  for (; number >= shapes[function.shape[axis]].n_tests(); ++axis) number -= shapes[function.shape[axis]].n_tests();
  return {axis, number};
}

int number_of(const SetFunction& function, const SetShapes& shapes, const ShapeTest& cut) {
  int number = cut.test;
  for (int axis = 0; axis < cut.axis; ++axis) number += shapes[function.shape[axis]].n_tests();
  return number;
}

GridTest grid_test(const Grid& grid, const SetFunction& function, const SetShapes& shapes, const SetOrigin& origin,
                   const ShapeTest& cut) {
  const SetAxis& shape = shapes[function.shape[cut.axis]];
  const auto first = shape.member.begin() + static_cast<std::ptrdiff_t>(cut.test) * shape.n_values;
  const TestRow wanted(first, first + shape.n_values);
  const SetAxis tests = tests_of(grid.axes[origin.axis[cut.axis]]);
  const std::vector<int>& values = origin.values[cut.axis];
  int test = 0;
  while (row_of(tests, test, values) != wanted) ++test;
  return {origin.axis[cut.axis], test, !tests.contains(test, values[0])};
}

}  // namespace onetree
