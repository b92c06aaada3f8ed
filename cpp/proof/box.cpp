#include "proof/box.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace onetree::proof {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kWordBits = 64;

std::size_t n_words(int n_values) {
  return (static_cast<std::size_t>(n_values) + kWordBits - 1) / kWordBits;
}

}  // namespace

Axes::Axes(const Model& model, const std::vector<std::vector<double>>& cuts)
    : model_(model), levels_(cuts), tests_(cuts.size()) {
  for (std::size_t node = 0; node < model.feature.size(); ++node)
    if (const int j = model.feature[node]; j >= 0 && !model.is_set(j)) levels_[j].push_back(model.threshold[node]);
  for (int j = 0; j < size(); ++j) {
    std::vector<double>& levels = levels_[j];
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    if (!is_set(j)) continue;
    const SetAxis& axis = model.sets[j];
    tests_[j].resize(axis.member.size() / axis.n_values);
    for (std::size_t test = 0; test < tests_[j].size(); ++test) {
      tests_[j][test].assign(n_words(axis.n_values), 0);
      for (int value = 0; value < axis.n_values; ++value)
        if (axis.member[test * axis.n_values + value] != 0)
          tests_[j][test][value / kWordBits] |= std::uint64_t{1} << (value % kWordBits);
    }
  }
}

int Axes::place_of(int axis, double threshold) const {
  if (is_set(axis)) return static_cast<int>(threshold);
  const std::vector<double>& levels = levels_[axis];
  return static_cast<int>(std::lower_bound(levels.begin(), levels.end(), threshold) - levels.begin());
}

Test Axes::test(int axis, double threshold, bool missing_left) const {
  return {axis, place_of(axis, threshold), missing_left};
}

// No number lies above a level of +infinity.
int Axes::n_slabs(int axis) const {
  const std::vector<double>& levels = levels_[axis];
  return static_cast<int>(levels.size()) + (levels.empty() || levels.back() < kInfinity);
}

Range Axes::whole(int axis) const {
  if (!is_set(axis)) return {0, n_slabs(axis) - 1, model_.takes_nan[axis] != 0, {}};
  const int n_values = model_.sets[axis].n_values;
  Range range{0, -1, false, std::vector<std::uint64_t>(n_words(n_values), ~std::uint64_t{0})};
  if (n_values % kWordBits != 0) range.values.back() = (std::uint64_t{1} << (n_values % kWordBits)) - 1;
  return range;
}

Range Axes::between(int axis, double lower, double upper) const {
  Range range = whole(axis);
  range.missing = range.missing && std::isnan(upper);
  if (lower > -kInfinity) range.first = place_of(axis, lower) + 1;
  if (upper < kInfinity) range.last = upper > -kInfinity ? place_of(axis, upper) : -1;
  return range;
}

bool Axes::is_empty(int axis, const Range& range) const {
  if (!is_set(axis)) return range.last < range.first && !range.missing;
  return std::all_of(range.values.begin(), range.values.end(), [](std::uint64_t word) { return word == 0; });
}

std::pair<Range, Range> Axes::parts(const Range& range, const Test& test) const {
  if (!is_set(test.axis)) {
    return {{range.first, std::min(range.last, test.place), range.missing && test.missing_left, {}},
            {std::max(range.first, test.place + 1), range.last, range.missing && !test.missing_left, {}}};
  }
  const std::vector<std::uint64_t>& members = tests_[test.axis][test.place];
  std::pair<Range, Range> result{range, range};
  for (std::size_t i = 0; i < members.size(); ++i) {
    result.first.values[i] &= members[i];
    result.second.values[i] &= ~members[i];
  }
  return result;
}

std::pair<bool, bool> Axes::sides(const Range& range, const Test& test) const {
  if (!is_set(test.axis)) {
    const bool numbers = range.first <= range.last;
    return {(numbers && range.first <= test.place) || (range.missing && test.missing_left),
            (numbers && range.last > test.place) || (range.missing && !test.missing_left)};
  }
  const std::vector<std::uint64_t>& members = tests_[test.axis][test.place];
  std::pair<bool, bool> result{false, false};
  for (std::size_t i = 0; i < members.size(); ++i) {
    result.first |= (range.values[i] & members[i]) != 0;
    result.second |= (range.values[i] & ~members[i]) != 0;
  }
  return result;
}

double Axes::input(int axis, const Range& range) const {
  if (is_set(axis)) {
    std::size_t word = 0;
    while (range.values[word] == 0) ++word;
    return static_cast<double>(word * kWordBits + std::countr_zero(range.values[word]));
  }
  if (range.last < range.first) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double>& levels = levels_[axis];
  const auto slab = static_cast<std::size_t>(range.first);
  if (slab < levels.size() && levels[slab] < kInfinity) return levels[slab];  // a level is in the slab below it
  return slab > 0 ? std::nextafter(levels[slab - 1], kInfinity) : 0.0;
}

}  // namespace onetree::proof
