// The leaf that each row of a matrix reaches in a tree.
#pragma once

#include <cstddef>
#include <cstdint>

namespace onetree {

struct TreeView {
  std::size_t n_nodes;
  const std::int32_t* feature;  // -1 at a leaf
  const double* threshold;      // left iff x <= threshold; NaN goes right
  const std::int32_t* left;
  const std::int32_t* right;
};

template <typename Real>
struct MatrixView {
  const Real* data;
  std::size_t n_rows;
  std::ptrdiff_t row_stride, column_stride;  // in elements
};

void find_leaves(const TreeView& tree, const MatrixView<float>& rows, std::int32_t* leaf);
void find_leaves(const TreeView& tree, const MatrixView<double>& rows, std::int32_t* leaf);

}  // namespace onetree
