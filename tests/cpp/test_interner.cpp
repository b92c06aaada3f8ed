#include <map>
#include <vector>

#include "base/interner.hpp"
#include "check.hpp"

using onetree::Interner;

TEST(equal_keys_have_one_number_and_different_ones_two) {
  check::Random random(1);
  Interner interner;
  std::map<std::vector<std::int32_t>, std::int32_t> known;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::int32_t> key(random.below(4));
    for (std::int32_t& word : key) word = random.below(12) - 6;
    const auto [id, is_new] = interner.intern(key);
    CHECK_EQUAL(is_new, !known.contains(key));
    CHECK_EQUAL(known.try_emplace(key, id).first->second, id);
  }
  CHECK_EQUAL(interner.size(), static_cast<std::int32_t>(known.size()));
  for (const auto& [key, id] : known) CHECK((std::vector(interner.key(id).begin(), interner.key(id).end()) == key));
}

TEST(numbers_count_up_from_zero) {
  Interner interner;
  for (std::int32_t i = 0; i < 1'000; ++i) {
    const std::int32_t key[] = {i, -i};
    CHECK_EQUAL(interner.intern(key).id, i);
  }
}

TEST(a_key_is_not_its_own_beginning) {
  Interner interner;
  const std::int32_t key[] = {0, 0, 0};
  const std::int32_t shorter = interner.intern({key, 2}).id, none = interner.intern({key, 0}).id;
  const std::int32_t whole = interner.intern(key).id;
  CHECK(shorter != whole && none != whole && none != shorter);
}
