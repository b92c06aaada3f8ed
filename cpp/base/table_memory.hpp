// Memory for tables that are filled before they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace onetree {

inline constexpr std::size_t kTableAlignment = 64;

struct ReleaseTable {
  enum class Origin : std::uint8_t { heap, kept, mapped };
  Origin origin = Origin::heap;
  std::size_t bytes = 0;
  void operator()(std::uint8_t* memory) const;
};

using TableMemory = std::unique_ptr<std::uint8_t[], ReleaseTable>;

// What is in it is not defined. Throws LimitReached("memory").
TableMemory allocate_table(std::size_t bytes);

}  // namespace onetree
