// The inner loop of the interval DP: one block of rows, in the widest vectors that the processor has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interval_nest.hpp"

namespace onetree {

enum class Measure { kDepth, kLeaves, kLeavesDepth };

// How a word of the leaves-depth table is shared between the number of splits and the depth.
template <typename Word>
struct PackedBits {
  static constexpr int kDepthBits = sizeof(Word) == 1 ? 3 : sizeof(Word) == 2 ? 5 : 8;
};

// One split of every row of a block along one of the outer loops: row q of the block is the union of two rows
// elsewhere.
struct RowPair {
  const std::uint8_t* left;        // first row of the left block
  const std::uint32_t* left_list;  // which of its rows stands for row q
  const std::uint8_t* right;
  const std::uint32_t* right_list;
};

// All intervals of the last loop, for fixed intervals on the others.
struct Block {
  std::uint8_t* rows;
  const Intervals* intervals;  // one per row
  bool single;                 // one slab on every other loop
  const RowPair* pairs;
  int n_pairs;
  const int* grid_slabs;           // per slab of the block
  const std::uint8_t* lo_classes;  // classes of the lanes' first cells, for grid slab 0 of the last loop
  const std::uint8_t* hi_classes;  // classes of the lanes' last cells
};

using RowVector = std::array<std::uint8_t, kRowBytes>;

struct alignas(kRowBytes) RowStep {  // the k-th split of every lane of a level
  std::uint8_t left[kRowBytes];      // lane numbers, in words of the table's width
  std::uint8_t right[kRowBytes];
};

// How splits along the row's own axes are made: lanes of equal total length form a level and are settled together.
struct RowPlan {
  alignas(kRowBytes) RowVector singles;     // lanes of one cell of the row axes
  alignas(kRowBytes) RowVector base_level;  // lanes that no row axis splits: the same set, padded lanes included
  int n_levels = 0;
  std::vector<int> level_steps;
  struct alignas(kRowBytes) Lanes : RowVector {};
  std::vector<Lanes> level_lanes;
  std::vector<RowStep> steps;
};

using FillBlock = void (*)(const Block&, const RowPlan&);

FillBlock fill_block_for(Measure measure, std::size_t element_bytes, bool one_value_rows);

}  // namespace onetree
