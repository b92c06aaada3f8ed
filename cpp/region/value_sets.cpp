#include "region/value_sets.hpp"

#include <algorithm>
#include <bit>

namespace onetree {

namespace {

constexpr int kBits = 32;

}  // namespace

ValueSets::ValueSets(const SetAxis& axis) : axis_(&axis), n_words_((axis.n_values + kBits - 1) / kBits) {
  if (!axis) return;
  words_.assign(n_words_, 0);
  for (int value = 0; value < axis.n_values; ++value) words_[value / kBits] |= 1U << value % kBits;
  intern(words_);
  tests_.assign(static_cast<std::size_t>(axis.n_tests()) * n_words_, 0);
  for (int test = 0; test < axis.n_tests(); ++test)
    for (int value = 0; value < axis.n_values; ++value)
      if (axis.contains(test, value))
        tests_[static_cast<std::size_t>(test) * n_words_ + value / kBits] |= 1U << value % kBits;
}

ValueSets::Id ValueSets::intern(const std::vector<std::int32_t>& words) {
  const auto first = std::find_if(words.begin(), words.end(), [](std::int32_t word) { return word != 0; });
  if (first == words.end()) return kEmpty;
  const auto [id, is_new] = sets_.intern(words);
  if (!is_new) return id;
  least_.push_back(static_cast<int>(first - words.begin()) * kBits +
                   std::countr_zero(static_cast<std::uint32_t>(*first)));
  size_.push_back(0);
  for (const std::int32_t word : words) size_.back() += std::popcount(static_cast<std::uint32_t>(word));
  return id;
}

std::vector<int> ValueSets::values(Id set) const {
  const std::span<const std::int32_t> words = sets_.key(set);
  std::vector<int> values;
  for (int value = 0; value < axis_->n_values; ++value)
    if (static_cast<std::uint32_t>(words[value / kBits]) >> value % kBits & 1) values.push_back(value);
  return values;
}

ValueSets::Id ValueSets::part(Id set, int test, bool inside) {
  const std::span<const std::int32_t> from = sets_.key(set);
  const std::int32_t* passes = tests_.data() + static_cast<std::size_t>(test) * n_words_;
  for (int i = 0; i < n_words_; ++i) words_[i] = from[i] & (inside ? passes[i] : ~passes[i]);
  return intern(words_);
}

ValueSets::Id ValueSets::common(Id a, Id b) {
  const std::span<const std::int32_t> one = sets_.key(a), other = sets_.key(b);
  for (int i = 0; i < n_words_; ++i) words_[i] = one[i] & other[i];
  return intern(words_);
}

std::int32_t ValueSets::pair(Id set, int test) {
  const std::int32_t key[] = {set, test};
  return pairs_.intern(key).id;
}

}  // namespace onetree
