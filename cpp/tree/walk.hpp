// The leaves that rows of a matrix reach, in one tree or in several: nodes laid out for walking, and the walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace onetree {

// Trees as their owners hold them; subtrees may be shared.
struct NodesView {
  std::size_t n_nodes;
  const std::int32_t* feature;  // -1 at a leaf
  const double* threshold;      // left iff x <= threshold
  const std::int32_t* left;
  const std::int32_t* right;
  const std::int32_t* leaf_value;    // what to report of a leaf besides its number
  const std::uint8_t* missing_left;  // null: NaN goes right everywhere
  const std::int32_t* subset;        // null: no set tests; else the row of the members at a set test, -1 elsewhere
};

// One step of a walk, 16 bytes. The children of an inner node lie side by side, the left one first. A leaf is its own
// left child, so that a row that has arrived stays where it is and no branch depends on the data.
struct Step {
  struct Leaf {
    std::int32_t node, value;
  };
  union {
    double threshold;
    std::int64_t first_member;  // of a set test: where its row of members begins
    Leaf leaf;
  };
  std::uint32_t test;  // the feature, and the flags below
  std::uint32_t child;

  static constexpr std::uint32_t kInner = 1U << 31, kMissingLeft = 1U << 30, kSet = 1U << 29, kFeature = kSet - 1;
};
static_assert(sizeof(Step) == 16);

// Number of steps that trees with this many roots and inner nodes take.
constexpr std::size_t n_steps(std::size_t n_roots, std::size_t n_inner) {
  return n_roots + 2 * n_inner;
}

// Writes the steps: the roots first, then what lies below each of them. `width` is the length of a row of members.
void lay_out(const NodesView& nodes, std::span<const std::int32_t> roots, std::size_t width, std::span<Step> steps);

template <typename Real>
struct MatrixView {
  const Real* data;
  std::size_t n_rows, n_columns;
  std::ptrdiff_t row_stride, column_stride;  // in elements; one of them is 1
};

struct Walkers {
  std::span<const Step> steps;
  std::span<const std::uint8_t> members;  // of the set tests: 1 where the element, which is then the input, goes left
  bool is_plain;                          // NaN goes right everywhere, and there are no set tests
};

enum class Wanted { kNode, kValue };

// For each row, what is wanted of the leaf that it reaches from the root of this number.
template <typename Real>
void find_leaves(const Walkers& walkers, std::size_t root, const MatrixView<Real>& rows, Wanted wanted,
                 std::int32_t* found);
// The same for the only tree; also says whether any entry of the matrix is NaN, while it is at hand.
template <typename Real>
bool find_leaves_and_gaps(const Walkers& walkers, const MatrixView<Real>& rows, Wanted wanted, std::int32_t* found);

}  // namespace onetree
