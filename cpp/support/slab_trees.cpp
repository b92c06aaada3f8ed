#include "support/slab_trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace onetree {

namespace {

constexpr std::size_t kBlock = 4096;  // rows that go through all trees before the next ones: they stay in the cache
constexpr std::size_t kChecks = 16;   // how often it is seen which rows need no more trees

// Sends rows down a tree together: at each node those of the first child are moved to the front. Deep and shallow
// leaves cost what their rows need, and no branch depends on a single row.
class Descent {
 public:
  explicit Descent(std::size_t n_rows) : rows_(n_rows), outside_(n_rows) {}

  // The rows that are sent down, counted from 0, before each run; the run puts them into another order.
  std::span<std::int32_t> rows(std::size_t n_rows) { return {rows_.data(), n_rows}; }

  // Calls `arrive` with each leaf that is reached and the rows there; `number(row)` is its place in the columns.
  template <typename Columns, typename Number, typename Arrive>
  void run(const SlabNode* nodes, std::int32_t root, const Columns& columns, std::size_t n_rows, Number number,
           Arrive arrive) {
    using Slab = typename Columns::Slab;
    stack_.assign(1, {root, 0, n_rows});
    while (!stack_.empty()) {
      const Visit at = stack_.back();
      stack_.pop_back();
      const SlabNode& node = nodes[at.node];
      if (node.child[0] == at.node) {
        arrive(at.node, RowNumbers(rows_.data() + at.begin, at.end - at.begin));
        continue;
      }
      const auto* column = columns.column(static_cast<std::size_t>(node.feature));
      const Slab first = static_cast<Slab>(node.first), last = static_cast<Slab>(node.last);
      std::size_t end_inside = at.begin, n_outside = 0;
      for (std::size_t i = at.begin; i < at.end; ++i) {
        const std::int32_t row = rows_[i];
        const bool is_outside = static_cast<Slab>(static_cast<Slab>(column[number(row)]) - first) > last;
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

// A few rows of a table, with slabs no wider than they need: twice as many of them fit into the cache.
template <typename Narrow>
class Block {
 public:
  using Slab = Narrow;

  Block(std::size_t n_features, std::size_t n_rows) : n_rows_(n_rows), slabs_(n_features * n_rows) {}

  void read(const RowTable& table, std::size_t start, std::size_t n_rows) {
    for (std::size_t feature = 0; feature < table.n_features; ++feature)
      std::transform(table.column(feature) + start, table.column(feature) + start + n_rows,
                     slabs_.begin() + static_cast<std::ptrdiff_t>(feature * n_rows_),
                     [](std::int32_t slab) { return static_cast<Narrow>(slab); });
  }

  const Narrow* column(std::size_t feature) const { return slabs_.data() + feature * n_rows_; }

 private:
  std::size_t n_rows_;
  std::vector<Narrow> slabs_;
};

// Whether what the other trees can still add does not matter for the class.
template <typename Real>
bool is_decided(const Real* score, std::size_t n_outputs, double cut, double open) {
  if (n_outputs == 1) return std::abs(static_cast<double>(*score) - cut) > open;
  double first = -std::numeric_limits<double>::infinity(), second = first;
  for (std::size_t k = 0; k < n_outputs; ++k) {
    second = std::max(second, std::min(first, static_cast<double>(score[k])));
    first = std::max(first, static_cast<double>(score[k]));
  }
  return first - second > open;
}

template <typename Narrow, typename Real>
void add_in_blocks(const SlabTrees& trees, const Real* value, const RowTable& table, std::size_t n_rows, Real* scores) {
  const std::size_t n_outputs = trees.n_outputs, n_most = std::min(kBlock, n_rows);
  Descent descent(n_most);
  Block<Narrow> block(table.n_features, n_most);
  std::vector<std::int32_t> undecided(n_most);
  const std::size_t check = std::max<std::size_t>(1, trees.roots.size() / kChecks);
  for (std::size_t start = 0; start < n_rows; start += kBlock) {
    Real* score = scores + start * n_outputs;
    block.read(table, start, std::min(kBlock, n_rows - start));
    undecided.resize(std::min(kBlock, n_rows - start));
    std::iota(undecided.begin(), undecided.end(), 0);
    for (std::size_t tree = 0; tree < trees.roots.size() && !undecided.empty(); ++tree) {
      const std::size_t first = trees.output[tree] < 0 ? 0 : trees.output[tree];
      const std::size_t end = trees.output[tree] < 0 ? n_outputs : first + 1;
      std::copy(undecided.begin(), undecided.end(), descent.rows(undecided.size()).begin());
      descent.run(
          trees.nodes, trees.roots[tree], block, undecided.size(), [](std::int32_t row) { return row; },
          [&](std::int32_t leaf, RowNumbers rows) {
            for (const std::int32_t row : rows)
              for (std::size_t k = first; k < end; ++k) score[row * n_outputs + k] += value[leaf * n_outputs + k];
          });
      if (tree % check == check - 1)
        std::erase_if(undecided, [&](std::int32_t row) {
          return is_decided(score + row * n_outputs, n_outputs, trees.cut, trees.open[tree]);
        });
    }
  }
}

}  // namespace

template <typename Real>
void add_scores(const SlabTrees& trees, const Real* value, const RowTable& table, std::size_t n_rows, Real* scores) {
  if (trees.n_slabs <= std::numeric_limits<std::uint16_t>::max())
    add_in_blocks<std::uint16_t>(trees, value, table, n_rows, scores);
  else
    add_in_blocks<std::uint32_t>(trees, value, table, n_rows, scores);
}

template void add_scores(const SlabTrees&, const float*, const RowTable&, std::size_t, float*);
template void add_scores(const SlabTrees&, const double*, const RowTable&, std::size_t, double*);

void find_leaves(const SlabNode* nodes, std::int32_t root, const RowTable& table, RowNumbers rows, std::int32_t* leaf) {
  Descent descent(rows.size());
  const std::span<std::int32_t> all = descent.rows(rows.size());
  std::iota(all.begin(), all.end(), 0);
  descent.run(
      nodes, root, table, rows.size(), [rows](std::int32_t row) { return rows[row]; },
      [leaf](std::int32_t node, RowNumbers here) {
        for (const std::int32_t row : here) leaf[row] = node;
      });
}

}  // namespace onetree
