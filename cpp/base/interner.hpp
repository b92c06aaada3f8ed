// Gives equal sequences of integers one small number.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace onetree {

inline std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9E3779B97F4A7C15ULL;
  return h ^ (h >> 29);
}

// Keys are kept whole and compared whole: a hash collision costs time, never correctness.
class Interner {
 public:
  struct Result {
    std::int32_t id;
    bool is_new;
  };

  explicit Interner(std::size_t expected = 32) : slots_(std::size_t{4} << std::bit_width(expected / 2), -1) {
    offsets_.push_back(0);
  }

  std::int32_t size() const { return static_cast<std::int32_t>(offsets_.size()) - 1; }

  std::span<const std::int32_t> key(std::int32_t id) const {
    return {arena_.data() + offsets_[id], arena_.data() + offsets_[id + 1]};
  }

  Result intern(std::span<const std::int32_t> key) {
    if (4 * offsets_.size() > 3 * slots_.size()) grow();
    const std::uint64_t hash = hash_of(key);
    for (std::size_t slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
      const std::int32_t id = slots_[slot];
      if (id < 0) {
        slots_[slot] = size();
        arena_.insert(arena_.end(), key.begin(), key.end());
        offsets_.push_back(arena_.size());
        return {slots_[slot], true};
      }
      const std::span<const std::int32_t> other = this->key(id);
      if (other.size() == key.size() && std::memcmp(other.data(), key.data(), key.size() * sizeof(std::int32_t)) == 0)
        return {id, false};
    }
  }

  std::size_t bytes() const {
    return arena_.capacity() * sizeof(std::int32_t) + offsets_.capacity() * sizeof(std::size_t) +
           slots_.capacity() * sizeof(std::int32_t);
  }

 private:
  static std::uint64_t hash_of(std::span<const std::int32_t> key) {
    std::uint64_t hash = key.size();
    for (const std::int32_t word : key) hash = mix(hash, static_cast<std::uint32_t>(word));
    return hash ^ (hash >> 32);
  }

  void grow() {
    std::vector<std::int32_t> larger(2 * slots_.size(), -1);
    for (std::int32_t id = 0; id < size(); ++id) {
      std::size_t slot = hash_of(key(id)) & (larger.size() - 1);
      while (larger[slot] >= 0) slot = (slot + 1) & (larger.size() - 1);
      larger[slot] = id;
    }
    slots_.swap(larger);
  }

  std::vector<std::int32_t> slots_;
  std::vector<std::int32_t> arena_;
  std::vector<std::size_t> offsets_;
};

}  // namespace onetree
