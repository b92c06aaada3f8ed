#include <set>
#include <vector>

#include "check.hpp"
#include "region/value_sets.hpp"

using onetree::SetAxis;
using onetree::ValueSets;

namespace {

SetAxis random_axis(check::Random& random, int n_values, int n_tests) {
  SetAxis axis;
  axis.n_values = n_values;
  for (int i = 0; i < n_values * n_tests; ++i) axis.member.push_back(static_cast<std::uint8_t>(random.below(2)));
  return axis;
}

std::set<int> values_of(const ValueSets& sets, ValueSets::Id id) {
  if (id == ValueSets::kEmpty) return {};
  const std::vector<int> values = sets.values(id);
  return {values.begin(), values.end()};
}

}  // namespace

TEST(parts_and_common_values_are_those_of_plain_sets) {
  check::Random random(2);
  for (const int n_values : {1, 2, 7, 31, 32, 33, 64, 100}) {
    const SetAxis axis = random_axis(random, n_values, 5);
    ValueSets sets(axis);
    std::vector<ValueSets::Id> met{ValueSets::kWhole};
    for (int i = 0; i < 300; ++i) {
      const ValueSets::Id from = met[random.below(static_cast<int>(met.size()))];
      const ValueSets::Id other = met[random.below(static_cast<int>(met.size()))];
      const int test = random.below(5);
      const bool inside = random.below(2) == 1;
      std::set<int> part, common;
      for (const int value : values_of(sets, from)) {
        if (axis.contains(test, value) == inside) part.insert(value);
        if (values_of(sets, other).contains(value)) common.insert(value);
      }
      for (const auto& [id, expected] :
           {std::pair(sets.part(from, test, inside), part), std::pair(sets.common(from, other), common)}) {
        CHECK((values_of(sets, id) == expected));
        if (id == ValueSets::kEmpty) continue;
        CHECK_EQUAL(sets.size(id), static_cast<int>(expected.size()));
        CHECK_EQUAL(sets.least(id), *expected.begin());
        met.push_back(id);
      }
    }
  }
}

TEST(equal_sets_have_one_number) {
  check::Random random(3);
  const SetAxis axis = random_axis(random, 40, 4);
  ValueSets sets(axis);
  const ValueSets::Id a = sets.part(sets.part(ValueSets::kWhole, 0, true), 1, false);
  const ValueSets::Id b = sets.part(sets.part(ValueSets::kWhole, 1, false), 0, true);
  CHECK_EQUAL(a, b);
  CHECK_EQUAL(sets.common(a, ValueSets::kWhole), a);
}

TEST(a_pair_keeps_its_set_and_its_test) {
  check::Random random(4);
  const SetAxis axis = random_axis(random, 9, 6);
  ValueSets sets(axis);
  const ValueSets::Id part = sets.part(ValueSets::kWhole, 2, true);
  for (int test = 0; test < 6; ++test) {
    const std::int32_t pair = sets.pair(part, test);
    CHECK_EQUAL(sets.set_of_pair(pair), part);
    CHECK_EQUAL(sets.test_of_pair(pair), test);
    CHECK_EQUAL(sets.pair(part, test), pair);
  }
}
