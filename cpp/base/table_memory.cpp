#include "base/table_memory.hpp"

#include <bit>
#include <new>
#include <vector>

#include "base/control.hpp"
#include "base/system_memory.hpp"

namespace onetree {

namespace {

constexpr std::size_t kSmall = std::size_t{64} << 10;  // the heap keeps it warm
constexpr std::size_t kLarge = std::size_t{4} << 20;   // to be mapped in huge pages

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kMostKept = 0;  // so that each table has its own bounds
#elif defined(__MINGW32__) && !defined(__clang__)
constexpr std::size_t kMostKept = 0;  // its threads free their memory first, and then destroy what was in it
#else
constexpr std::size_t kMostKept = kLarge;  // per thread
#endif

std::uint8_t* from_heap(std::size_t bytes) {
  void* memory = ::operator new(bytes, std::align_val_t{kTableAlignment}, std::nothrow);
  if (memory == nullptr) throw LimitReached("memory");
  return static_cast<std::uint8_t*>(memory);
}

void to_heap(std::uint8_t* memory) {
  ::operator delete(memory, std::align_val_t{kTableAlignment});
}

// Tables of a heuristic run come and go by the thousand. A heap may give each back to the system (in the workers of
// dask it is told to), and then every page of the next is cleared and mapped anew; so the last ones are kept here.
class KeptTables {
 public:
  ~KeptTables() {
    for (const Table& table : tables_) to_heap(table.memory);
  }

  std::uint8_t* take(std::size_t bytes) {
    for (std::size_t i = tables_.size(); i-- > 0;) {
      if (tables_[i].bytes != bytes) continue;
      std::uint8_t* memory = tables_[i].memory;
      tables_.erase(tables_.begin() + static_cast<std::ptrdiff_t>(i));
      kept_bytes_ -= bytes;
      return memory;
    }
    return nullptr;
  }

  void give(std::uint8_t* memory, std::size_t bytes) {
    tables_.push_back({memory, bytes});
    kept_bytes_ += bytes;
    while (kept_bytes_ > kMostKept) {
      to_heap(tables_.front().memory);
      kept_bytes_ -= tables_.front().bytes;
      tables_.erase(tables_.begin());
    }
  }

 private:
  struct Table {
    std::uint8_t* memory;
    std::size_t bytes;
  };
  std::vector<Table> tables_;  // the longest kept first
  std::size_t kept_bytes_ = 0;
};

thread_local KeptTables kept_tables;

}  // namespace

void ReleaseTable::operator()(std::uint8_t* memory) const {
  switch (origin) {
    case Origin::heap:
      to_heap(memory);
      break;
    case Origin::kept:
      kept_tables.give(memory, bytes);
      break;
    case Origin::mapped:
      unmap_pages(memory, bytes);
      break;
  }
}

TableMemory allocate_table(std::size_t bytes) {
  using enum ReleaseTable::Origin;
  if (bytes < kSmall || (bytes < kLarge && kMostKept == 0)) {
    const std::size_t whole = (bytes + kTableAlignment - 1) / kTableAlignment * kTableAlignment;
    return {from_heap(whole), {heap, whole}};
  }
  if (bytes < kLarge) {
    const std::size_t whole = std::bit_ceil(bytes);  // few sizes, so that one fits; untouched pages cost nothing
    std::uint8_t* memory = kept_tables.take(whole);
    return {memory != nullptr ? memory : from_heap(whole), {kept, whole}};
  }
  // Huge pages, whose first touch costs less than the work.
  void* memory = map_pages(bytes);
  if (memory == nullptr) throw LimitReached("memory");
  return {static_cast<std::uint8_t*>(memory), {mapped, bytes}};
}

}  // namespace onetree
