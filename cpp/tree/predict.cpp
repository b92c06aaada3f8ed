#include "tree/predict.hpp"

#include <vector>

namespace onetree {

namespace {

// A leaf is its own child, so a row that has arrived stays where it is: no branch depends on the data.
struct Node {
  double threshold;
  std::int32_t child[2];  // left, right
  std::ptrdiff_t column;  // in elements from the start of a row
};

constexpr int kTogether = 16;  // rows that walk side by side
constexpr int kSteps = 4;      // between two looks whether all have arrived

template <typename Real>
void walk(const std::vector<Node>& nodes, const Real* row, std::ptrdiff_t row_stride, int n_rows, std::int32_t* leaf) {
  std::int32_t node[kTogether] = {};
  for (bool moving = true; moving;) {
    for (int step = 0; step < kSteps; ++step)
      for (int i = 0; i < n_rows; ++i) {
        const Node& at = nodes[node[i]];
        const double x = row[i * row_stride + at.column];
        node[i] = at.child[!(x <= at.threshold)];
      }
    moving = false;
    for (int i = 0; i < n_rows; ++i) moving |= nodes[node[i]].child[0] != node[i];
  }
  for (int i = 0; i < n_rows; ++i) leaf[i] = node[i];
}

template <typename Real>
void walk_all(const TreeView& tree, const MatrixView<Real>& rows, std::int32_t* leaf) {
  std::vector<Node> nodes(tree.n_nodes);
  for (std::size_t i = 0; i < tree.n_nodes; ++i) {
    const auto self = static_cast<std::int32_t>(i);
    nodes[i] = tree.feature[i] < 0
                   ? Node{0, {self, self}, 0}
                   : Node{tree.threshold[i], {tree.left[i], tree.right[i]}, tree.feature[i] * rows.column_stride};
  }
  std::size_t first = 0;
  for (; first + kTogether <= rows.n_rows; first += kTogether)
    walk(nodes, rows.data + static_cast<std::ptrdiff_t>(first) * rows.row_stride, rows.row_stride, kTogether,
         leaf + first);
  if (first < rows.n_rows)
    walk(nodes, rows.data + static_cast<std::ptrdiff_t>(first) * rows.row_stride, rows.row_stride,
         static_cast<int>(rows.n_rows - first), leaf + first);
}

}  // namespace

void find_leaves(const TreeView& tree, const MatrixView<float>& rows, std::int32_t* leaf) {
  walk_all(tree, rows, leaf);
}
void find_leaves(const TreeView& tree, const MatrixView<double>& rows, std::int32_t* leaf) {
  walk_all(tree, rows, leaf);
}

}  // namespace onetree
