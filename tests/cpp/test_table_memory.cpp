// Memory for tables: from the heap, kept for the next, or mapped by the system, whichever system that is.
#include <thread>

#include "base/table_memory.hpp"
#include "check.hpp"

using namespace onetree;

namespace {

void use_tables_of_all_sizes() {
  for (int round = 0; round < 3; ++round)
    for (const std::size_t bytes : {1, 63, 4096, 1 << 16, 100'000, 3'000'000, 1 << 22, 9'000'001}) {
      const TableMemory tables[] = {allocate_table(bytes), allocate_table(bytes)};
      for (const TableMemory& table : tables) {
        CHECK(reinterpret_cast<std::uintptr_t>(table.get()) % kTableAlignment == 0);
        table[0] = 1;
        table[bytes - 1] = 2;
      }
      CHECK(tables[0].get() != tables[1].get());
    }
}

}  // namespace

TEST(tables_of_all_sizes_are_aligned_and_can_be_written_to_their_ends) {
  use_tables_of_all_sizes();
}

TEST(threads_do_not_share_the_tables_that_they_keep) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(use_tables_of_all_sizes);
  for (std::thread& thread : threads) thread.join();
}
