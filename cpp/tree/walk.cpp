#include "tree/walk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace onetree {

namespace {

constexpr int kTogether = 16;                   // rows that walk side by side, so that their cache misses overlap
constexpr int kMoves = 4;                       // between two looks whether all have arrived
constexpr std::size_t kBytesInCache = 1 << 17;  // of rows that are looked through for NaN before they are walked

// Leaves below each node; they only decide an order, so where shared subtrees make them countless an end will do.
std::vector<float> weights(const NodesView& nodes) {
  std::vector<float> weight(nodes.n_nodes, 1.0F);
  for (std::size_t node = nodes.n_nodes; node-- > 0;) {
    if (nodes.feature[node] < 0) continue;
    const float both =
        weight[static_cast<std::size_t>(nodes.left[node])] + weight[static_cast<std::size_t>(nodes.right[node])];
    weight[node] = std::min(both, 1e30F);
  }
  return weight;
}

Step step_of(const NodesView& nodes, std::int32_t node, std::size_t width, std::uint32_t own_place) {
  Step step{};
  if (nodes.feature[node] < 0) {
    step.leaf = {node, nodes.leaf_value == nullptr ? -1 : nodes.leaf_value[node]};
    step.child = own_place;
    return step;
  }
  step.test = Step::kInner | static_cast<std::uint32_t>(nodes.feature[node]);
  step.threshold = nodes.threshold[node];
  if (nodes.missing_left != nullptr && nodes.missing_left[node] != 0) step.test |= Step::kMissingLeft;
  if (nodes.subset != nullptr && nodes.subset[node] >= 0) {
    step.test |= Step::kSet;
    step.first_member = static_cast<std::int64_t>(nodes.subset[node]) * static_cast<std::int64_t>(width);
  }
  return step;
}

// Whether a row goes to the right child.
template <bool kPlain, typename Real>
bool goes_right(const Step& at, Real value, const std::uint8_t* members) {
  const auto x = static_cast<double>(value);
  if constexpr (!kPlain) {
    if ((at.test & Step::kSet) != 0) return members[at.first_member + static_cast<std::int64_t>(x)] == 0;
    return !(x <= at.threshold) && !((at.test & Step::kMissingLeft) != 0 && std::isnan(x));
  }
  return !(x <= at.threshold);
}

template <bool kPlain, typename Real>
class Walk {
 public:
  Walk(const Walkers& walkers, const MatrixView<Real>& rows, Wanted wanted)
      : steps_(walkers.steps.data()), members_(walkers.members.data()), rows_(rows), wanted_(wanted) {}

  void run(std::uint32_t root, std::size_t begin, std::size_t end, std::int32_t* found) const {
    for (; begin + kTogether <= end; begin += kTogether) together(root, begin, kTogether, found);
    if (begin < end) together(root, begin, static_cast<int>(end - begin), found);
  }

 private:
  void together(std::uint32_t root, std::size_t begin, int n_rows, std::int32_t* found) const {
    std::array<std::uint32_t, kTogether> place;
    place.fill(root);
    const Real* first = rows_.data + static_cast<std::ptrdiff_t>(begin) * rows_.row_stride;
    for (bool moving = true; moving;) {
      for (int move = 0; move < kMoves; ++move)
        for (int i = 0; i < n_rows; ++i) {
          const Step& at = steps_[place[i]];
          const auto feature = static_cast<std::ptrdiff_t>(at.test & Step::kFeature);
          const Real x = first[i * rows_.row_stride + feature * rows_.column_stride];
          const std::uint32_t is_inner = at.test >> 31;
          place[i] = at.child + (is_inner & static_cast<std::uint32_t>(goes_right<kPlain>(at, x, members_)));
        }
      moving = false;
      for (int i = 0; i < n_rows; ++i) moving |= (steps_[place[i]].test & Step::kInner) != 0;
    }
    for (int i = 0; i < n_rows; ++i) {
      const Step& at = steps_[place[i]];
      found[begin + static_cast<std::size_t>(i)] = wanted_ == Wanted::kNode ? at.leaf.node : at.leaf.value;
    }
  }

  const Step* steps_;
  const std::uint8_t* members_;
  const MatrixView<Real> rows_;
  const Wanted wanted_;
};

template <typename Real>
void walk(const Walkers& walkers, std::size_t root, const MatrixView<Real>& rows, Wanted wanted, std::size_t begin,
          std::size_t end, std::int32_t* found) {
  const auto place = static_cast<std::uint32_t>(root);
  if ((walkers.steps[root].test & Step::kInner) == 0) {  // nothing is asked, and there may be no column to look at
    const auto& leaf = walkers.steps[root].leaf;
    std::fill(found + begin, found + end, wanted == Wanted::kNode ? leaf.node : leaf.value);
  } else if (walkers.is_plain) {
    Walk<true, Real>(walkers, rows, wanted).run(place, begin, end, found);
  } else {
    Walk<false, Real>(walkers, rows, wanted).run(place, begin, end, found);
  }
}

template <typename Real>
bool has_nan(const Real* values, std::size_t n) {
  int found = 0;
  for (std::size_t i = 0; i < n; ++i) found |= static_cast<int>(values[i] != values[i]);
  return found != 0;
}

template <typename Real>
bool has_nan(const MatrixView<Real>& rows, std::size_t begin, std::size_t end) {
  const Real* first = rows.data + static_cast<std::ptrdiff_t>(begin) * rows.row_stride;
  if (rows.column_stride == 1 && rows.row_stride == static_cast<std::ptrdiff_t>(rows.n_columns))
    return has_nan(first, (end - begin) * rows.n_columns);
  bool found = false;
  for (std::size_t column = 0; column < rows.n_columns; ++column)
    found |= has_nan(first + static_cast<std::ptrdiff_t>(column) * rows.column_stride, end - begin);
  return found;
}

}  // namespace

void lay_out(const NodesView& nodes, std::span<const std::int32_t> roots, std::size_t width, std::span<Step> steps) {
  const std::vector<float> weight = weights(nodes);
  constexpr std::uint32_t kUnknown = 0;                          // the place of a root, and so of no child
  std::vector<std::uint32_t> children(nodes.n_nodes, kUnknown);  // where the children of a node lie
  std::vector<std::pair<std::int32_t, std::uint32_t>> todo;      // nodes, and where they lie
  std::uint32_t n_placed = 0;
  for (std::size_t root = roots.size(); root-- > 0;) todo.emplace_back(roots[root], static_cast<std::uint32_t>(root));
  n_placed = static_cast<std::uint32_t>(roots.size());
  // Depth first, the heavier child next: a row's way is then mostly from one cache line to the next.
  while (!todo.empty()) {
    const auto [node, place] = todo.back();
    todo.pop_back();
    Step& step = steps[place] = step_of(nodes, node, width, place);
    if (nodes.feature[node] < 0) continue;
    const bool is_new = children[static_cast<std::size_t>(node)] == kUnknown;
    if (is_new) {
      children[static_cast<std::size_t>(node)] = n_placed;
      n_placed += 2;
    }
    step.child = children[static_cast<std::size_t>(node)];
    if (!is_new) continue;  // a shared subtree that lies elsewhere
    const std::pair left{nodes.left[node], step.child}, right{nodes.right[node], step.child + 1};
    const bool left_first =
        weight[static_cast<std::size_t>(left.first)] >= weight[static_cast<std::size_t>(right.first)];
    todo.push_back(left_first ? right : left);
    todo.push_back(left_first ? left : right);
  }
}

template <typename Real>
void find_leaves(const Walkers& walkers, std::size_t root, const MatrixView<Real>& rows, Wanted wanted,
                 std::int32_t* found) {
  walk(walkers, root, rows, wanted, 0, rows.n_rows, found);
}

template <typename Real>
bool find_leaves_and_gaps(const Walkers& walkers, const MatrixView<Real>& rows, Wanted wanted, std::int32_t* found) {
  const std::size_t n_groups = kBytesInCache / (kTogether * sizeof(Real) * std::max<std::size_t>(rows.n_columns, 1));
  const std::size_t n_at_once = kTogether * std::max<std::size_t>(n_groups, 1);
  bool any_nan = false;
  for (std::size_t begin = 0; begin < rows.n_rows; begin += n_at_once) {
    const std::size_t end = std::min(begin + n_at_once, rows.n_rows);
    any_nan = any_nan || has_nan(rows, begin, end);
    walk(walkers, 0, rows, wanted, begin, end, found);
  }
  return any_nan;
}

template void find_leaves(const Walkers&, std::size_t, const MatrixView<float>&, Wanted, std::int32_t*);
template void find_leaves(const Walkers&, std::size_t, const MatrixView<double>&, Wanted, std::int32_t*);
template bool find_leaves_and_gaps(const Walkers&, const MatrixView<float>&, Wanted, std::int32_t*);
template bool find_leaves_and_gaps(const Walkers&, const MatrixView<double>&, Wanted, std::int32_t*);

}  // namespace onetree
