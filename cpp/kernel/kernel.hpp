// The inner loop of the interval DP: one block of rows. One source, compiled once for each instruction set; plain
// structs only, so that no function of a header is compiled with instructions that the processor may lack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/compiler.hpp"
#include "kernel/interval.hpp"

namespace onetree {

enum class Simd : int;

enum class Measure { kDepth, kLeaves, kLeavesDepth };

// How a word of the leaves-depth table is shared between the number of splits and the depth.
template <typename Word>
struct PackedBits {
  static constexpr int kDepthBits = sizeof(Word) == 1 ? 3 : sizeof(Word) == 2 ? 5 : 8;
};

// A row consists of groups: shuffles never leave a group, which is what every instruction set can do at once.
inline constexpr std::size_t kGroupBytes = 16;
inline constexpr int kMostGroups = 64;       // in a row
inline constexpr int kMostGroupsAtOnce = 4;  // in the widest vector
inline constexpr std::size_t kVectorBytes = kGroupBytes * kMostGroupsAtOnce;
inline constexpr std::size_t kMostRowBytes = kGroupBytes * kMostGroups;

// The same for every group of a vector.
struct alignas(kVectorBytes) GroupMask {
  std::uint8_t bytes[kVectorBytes];
};

// Lanes of a group whose intervals have the same total length, so that they have the same number of splits and depend
// on shorter ones only. All their splits are made by one pair of shuffles, each in a lane of its own, and then folded,
// by halves, into the lane that they belong to.
struct GroupLevel {
  static constexpr int kMostFolds = 2;
  GroupMask left, right;  // shuffles of the values of the group
  GroupMask folds[kMostFolds];
  GroupMask lanes;  // of this level: all ones
};

struct GroupPlan {
  static constexpr int kMostLevels = 4;
  GroupMask singles;  // lanes of one cell of the group's axes
  GroupLevel levels[kMostLevels];
  int n_levels;
};

struct GroupSplit {  // of a group into two others of its row: where they begin
  std::uint16_t left, right;
};

// Neighbouring groups that do not depend on each other, as many as a vector holds.
struct Chunk {
  std::uint16_t at;           // byte of the row
  std::uint8_t n_groups;      // a power of two
  std::uint8_t n_splits;      // of each group
  std::uint32_t first_split;  // all groups' first splits, then all groups' second splits, ...
};

struct RowPlan {
  std::size_t row_bytes;
  const GroupPlan* group;
  const Chunk* chunks;
  int n_chunks;
  const GroupSplit* splits;
};

// One split of every row of a block along one of the outer loops: row q of the block is the union of two rows
// elsewhere.
struct RowPair {
  const std::uint8_t* left;        // first row of the left block
  const std::uint32_t* left_list;  // which of its rows stands for row q
  const std::uint8_t* right;
  const std::uint32_t* right_list;
};

struct Source {  // two rows whose union is the row to be filled
  const std::uint8_t *left, *right;
};

// All intervals of the last loop, for fixed intervals on the others.
struct Block {
  std::uint8_t* rows;
  int n_rows;
  const Interval* intervals;  // one per row
  const SplitIndex* splits;   // row q has those from first_split[q] to first_split[q + 1]
  const int* first_split;
  bool single;  // one slab on every other loop
  const RowPair* pairs;
  int n_pairs;
  Source* sources;                 // room for all pairs and splits of one row
  const int* grid_slabs;           // per slab of the block
  const std::uint8_t* lo_classes;  // classes of the lanes' first cells, for grid slab 0 of the last loop
  const std::uint8_t* hi_classes;  // classes of the lanes' last cells
  // Where leaves carry numbers, in place of the classes, which are zero then: all ones where a box may not be a leaf,
  // row by row.
  const std::uint8_t* differs = nullptr;
};

using FillBlock = void (*)(const Block&, const RowPlan&);

// What a block of rows may carry as leaves: of each column two planes, the largest of the lower ends and the smallest
// of the upper ends, as ranks. Rows of one slab of the last loop keep theirs before the rows of the block, those of
// slab 0 last, since other blocks are made of them; all others are cut along that loop.
struct ScoreBlock {
  std::size_t row_bytes;
  int n_planes;
  std::uint8_t* rows;  // as in Block
  int n_rows;
  int n_slabs;                // the first rows
  const Interval* intervals;  // one per row
  const SplitIndex* splits;
  const int* first_split;
  const RowPair* pair;          // a split of the block along another loop; null: one slab on every other loop
  const int* grid_slabs;        // per slab of the block
  const std::uint8_t* singles;  // then: planes of the lanes' boxes, for grid slab 0 of the last loop
  std::uint8_t* planes;         // room for those of rows that are cut
  std::uint8_t* differs;        // what Block needs
};

using MarkBlock = void (*)(const ScoreBlock&);

// `n_levels`: of the groups; 0 if no axes share a row, which then holds one value.
FillBlock fill_block_for(Simd simd, Measure measure, std::size_t element_bytes, int n_levels);

MarkBlock mark_block_for(Simd simd, std::size_t element_bytes);

// The same of each instruction set, in a file of its own.
FillBlock baseline_fill(Measure measure, std::size_t element_bytes, int n_levels);
MarkBlock baseline_mark(std::size_t element_bytes);
FillBlock sse4_fill(Measure measure, std::size_t element_bytes, int n_levels);
MarkBlock sse4_mark(std::size_t element_bytes);
FillBlock avx2_fill(Measure measure, std::size_t element_bytes, int n_levels);
MarkBlock avx2_mark(std::size_t element_bytes);
FillBlock avx512_fill(Measure measure, std::size_t element_bytes, int n_levels);
MarkBlock avx512_mark(std::size_t element_bytes);
FillBlock neon_fill(Measure measure, std::size_t element_bytes, int n_levels);
MarkBlock neon_mark(std::size_t element_bytes);

}  // namespace onetree
