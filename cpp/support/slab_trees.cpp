#include "support/slab_trees.hpp"

#include <algorithm>
#include <numeric>

namespace onetree {

namespace {

constexpr std::size_t kBlock = 4096;  // rows that go through all trees before the next ones: they stay in the cache

// Sends rows down a tree together: at each node those of the first child are moved to the front. Deep and shallow
// leaves cost what their rows need, and no branch depends on a single row.
class Descent {
 public:
  explicit Descent(std::size_t n_rows) : rows_(n_rows), outside_(n_rows) {}

  // Calls `arrive` with each leaf that is reached and the rows there, counted from 0; `number(i)` is the i-th in the
  // table.
  template <typename Number, typename Arrive>
  void run(const SlabNode* nodes, std::int32_t root, const RowTable& table, std::size_t n_rows, Number number,
           Arrive arrive) {
    std::iota(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(n_rows), 0);
    stack_.assign(1, {root, 0, n_rows});
    while (!stack_.empty()) {
      const Visit at = stack_.back();
      stack_.pop_back();
      const SlabNode& node = nodes[at.node];
      if (node.child[0] == at.node) {
        arrive(at.node, RowNumbers(rows_.data() + at.begin, at.end - at.begin));
        continue;
      }
      const std::int32_t* column = table.column(static_cast<std::size_t>(node.feature));
      std::size_t end_inside = at.begin, n_outside = 0;
      for (std::size_t i = at.begin; i < at.end; ++i) {
        const std::int32_t row = rows_[i];
        const bool is_outside = static_cast<std::uint32_t>(column[number(row)]) - node.first > node.last;
        rows_[end_inside] = row;
        outside_[n_outside] = row;
        end_inside += !is_outside;
        n_outside += is_outside;
      }
      std::copy_n(outside_.begin(), n_outside, rows_.begin() + static_cast<std::ptrdiff_t>(end_inside));
      if (end_inside < at.end) stack_.push_back({node.child[1], end_inside, at.end});
      if (at.begin < end_inside) stack_.push_back({node.child[0], at.begin, end_inside});
    }
  }

 private:
  struct Visit {
    std::int32_t node;
    std::size_t begin, end;  // of its rows
  };
  std::vector<std::int32_t> rows_, outside_;
  std::vector<Visit> stack_;
};

}  // namespace

template <typename Real>
void add_scores(const SlabTrees& trees, const Real* value, const RowTable& table, std::size_t n_rows, Real* scores) {
  const std::size_t n_outputs = trees.n_outputs;
  Descent descent(std::min(kBlock, n_rows));
  for (std::size_t start = 0; start < n_rows; start += kBlock) {
    Real* score = scores + start * n_outputs;
    for (std::size_t tree = 0; tree < trees.roots.size(); ++tree) {
      const std::size_t first = trees.output[tree] < 0 ? 0 : trees.output[tree];
      const std::size_t end = trees.output[tree] < 0 ? n_outputs : first + 1;
      descent.run(
          trees.nodes, trees.roots[tree], table, std::min(kBlock, n_rows - start),
          [start](std::int32_t row) { return start + row; },
          [&](std::int32_t leaf, RowNumbers rows) {
            for (const std::int32_t row : rows)
              for (std::size_t k = first; k < end; ++k) score[row * n_outputs + k] += value[leaf * n_outputs + k];
          });
    }
  }
}

template void add_scores(const SlabTrees&, const float*, const RowTable&, std::size_t, float*);
template void add_scores(const SlabTrees&, const double*, const RowTable&, std::size_t, double*);

void find_leaves(const SlabNode* nodes, std::int32_t root, const RowTable& table, RowNumbers rows, std::int32_t* leaf) {
  Descent descent(rows.size());
  descent.run(
      nodes, root, table, rows.size(), [rows](std::int32_t row) { return rows[row]; },
      [leaf](std::int32_t node, RowNumbers here) {
        for (const std::int32_t row : here) leaf[row] = node;
      });
}

}  // namespace onetree
