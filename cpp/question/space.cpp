#include "question/space.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace onetree::question {

Space::Space(const Ensemble& ensemble, std::span<const std::int32_t> n_options)
    : n_options_(n_options.begin(), n_options.end()),
      has_missing_(n_options.size()),
      first_word_(n_options.size()),
      n_words_(n_options.size()),
      members_(n_options.size()) {
  std::size_t n_words = 0;
  for (int axis = 0; axis < n_axes(); ++axis) {
    first_word_[axis] = n_words;
    if (!ensemble.is_set(axis)) {
      has_missing_[axis] = ensemble.nan_features[axis];
      continue;
    }
    const SetAxis& set = ensemble.sets[axis];
    n_words_[axis] = (static_cast<std::size_t>(set.n_values) + 63) / 64;
    n_words += n_words_[axis];
    members_[axis].assign(n_words_[axis] * set.n_tests(), 0);
    for (int test = 0; test < set.n_tests(); ++test)
      for (int value = 0; value < set.n_values; ++value)
        if (set.contains(test, value))
          members_[axis][test * n_words_[axis] + value / 64] |= std::uint64_t{1} << (value % 64);
  }
}

std::size_t Space::bytes_of_box() const {
  std::size_t words = 0;
  for (const std::size_t each : n_words_) words += each;
  return sizeof(Box) + n_options_.size() * sizeof(Part) + words * sizeof(std::uint64_t);
}

Box Space::whole() const {
  Box box;
  for (int axis = 0; axis < n_axes(); ++axis) {
    if (!is_set(axis)) {
      box.parts.push_back({0, n_ordered(axis) - 1, has_missing(axis)});
      continue;
    }
    box.parts.emplace_back();
    for (int left = n_options(axis); left > 0; left -= 64)
      box.bits.push_back(left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1);
  }
  return box;
}

bool Space::goes_left(const Test& test, std::int32_t option) const {
  if (is_set(test.axis)) return (members(test)[option / 64] >> (option % 64) & 1) != 0;
  return option == n_ordered(test.axis) ? test.missing_left : option <= test.place;
}

void Space::sides(const Box& box, const Test& test, bool& left, bool& right) const {
  if (is_set(test.axis)) {
    const std::uint64_t *own = box.bits.data() + first_word_[test.axis], *member = members(test);
    std::uint64_t inside = 0, outside = 0;
    for (std::size_t word = 0; word < n_words_[test.axis]; ++word) {
      inside |= own[word] & member[word];
      outside |= own[word] & ~member[word];
    }
    left = inside != 0;
    right = outside != 0;
    return;
  }
  const Part& part = box.parts[test.axis];
  left = (part.first <= part.last && part.first <= test.place) || (part.missing && test.missing_left);
  right = (part.first <= part.last && part.last > test.place) || (part.missing && !test.missing_left);
}

void Space::narrow(Box& box, const Test& test, bool left) const {
  if (is_set(test.axis)) {
    std::uint64_t* own = box.bits.data() + first_word_[test.axis];
    const std::uint64_t* member = members(test);
    for (std::size_t word = 0; word < n_words_[test.axis]; ++word) own[word] &= left ? member[word] : ~member[word];
    return;
  }
  Part& part = box.parts[test.axis];
  if (left)
    part.last = std::min(part.last, test.place);
  else
    part.first = std::max(part.first, test.place + 1);
  part.missing = part.missing && test.missing_left == left;
}

bool Space::contains(const Box& box, int axis, std::int32_t option) const {
  if (is_set(axis)) return (box.bits[first_word_[axis] + option / 64] >> (option % 64) & 1) != 0;
  const Part& part = box.parts[axis];
  return has_missing(axis) && option == n_ordered(axis) ? part.missing : part.first <= option && option <= part.last;
}

Costs::Costs(const Space& space, std::span<const double> costs) : space_(space), costs_(costs) {
  std::size_t begin = 0;
  for (int axis = 0; axis < space.n_axes(); ++axis) {
    begin_.push_back(begin);
    begin += static_cast<std::size_t>(space.n_options(axis));
  }
  minima_.resize(begin_.size());
  for (int axis = 0; axis < space.n_axes(); ++axis) {
    if (space.is_set(axis)) continue;
    Minima& minima = minima_[axis];
    const std::span<const double> own = costs.subspan(begin_[axis], space.n_ordered(axis));
    const auto lowest = std::min_element(own.begin(), own.end());
    minima.best = static_cast<std::int32_t>(lowest - own.begin());
    minima.has_one_valley = std::is_sorted(own.begin(), lowest, std::greater<>()) && std::is_sorted(lowest, own.end());
    if (minima.has_one_valley) continue;
    minima.wide.emplace_back(own.size());
    for (std::size_t at = 0; at < own.size(); ++at) minima.wide[0][at] = static_cast<std::int32_t>(at);
    for (std::size_t width = 2; width <= own.size(); width *= 2) {
      const std::vector<std::int32_t>& half = minima.wide.back();
      std::vector<std::int32_t> whole(own.size() - width + 1);
      for (std::size_t at = 0; at < whole.size(); ++at) {
        const std::int32_t a = half[at], b = half[at + width / 2];
        whole[at] = own[b] < own[a] ? b : a;
      }
      minima.wide.push_back(std::move(whole));
    }
  }
}

std::int32_t Costs::cheapest_between(int axis, std::int32_t first, std::int32_t last) const {
  const Minima& minima = minima_[axis];
  if (minima.has_one_valley) return std::clamp(minima.best, first, last);
  const int level = std::bit_width(static_cast<std::uint32_t>(last - first + 1)) - 1;
  const std::int32_t a = minima.wide[level][first], b = minima.wide[level][last - (1 << level) + 1];
  return (*this)(axis, b) < (*this)(axis, a) ? b : a;
}

std::int32_t Costs::cheapest(const Box& box, int axis) const {
  if (space_.is_set(axis)) {
    std::int32_t best = -1;
    for (std::size_t word = 0; word < space_.n_words(axis); ++word)
      for (std::uint64_t bits = box.bits[space_.first_word(axis) + word]; bits != 0; bits &= bits - 1) {
        const auto option = static_cast<std::int32_t>(64 * word) + std::countr_zero(bits);
        if (best < 0 || (*this)(axis, option) < (*this)(axis, best)) best = option;
      }
    return best;
  }
  const Part& part = box.parts[axis];
  const std::int32_t gap = space_.n_ordered(axis);
  if (part.last < part.first) return gap;
  const std::int32_t best = cheapest_between(axis, part.first, part.last);
  return part.missing && (*this)(axis, gap) < (*this)(axis, best) ? gap : best;
}

}  // namespace onetree::question
