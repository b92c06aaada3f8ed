#include "bound/tree_bounds.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <tuple>

#include "bound/fooling_set.hpp"
#include "bound/hemmed_cells.hpp"

namespace onetree {

namespace {

constexpr std::size_t kMostLeaves = std::size_t{1} << 22;  // of the part that is looked at
constexpr double kShareOfCells = 0.7;                      // of the time, in which cells are looked for
constexpr std::uint32_t kBlock = 64;                       // leaves between two looks at the clock

// The next in an order of n things whose beginning is spread over all of them, and which has each of them once.
std::uint32_t step_through(std::uint32_t n) {
  auto step = static_cast<std::uint32_t>(0.6180339887 * n) | 1;
  while (std::gcd(step, n) != 1) step += 2;
  return step;
}

class Search {
 public:
  Search(const SlabTree& tree, Control& control, TreeBounds& bounds)
      : tree_(tree), control_(control), bounds_(bounds), set_(tree), open_(tree.n_leaves()) {}

  void run() {
    try {
      find_cells();
      choose();
    } catch (const LimitReached&) {
      // Those that were chosen so far are a fooling set.
    }
    bounds_.leaves = std::max<std::int64_t>(1, static_cast<std::int64_t>(set_.leaves().size()));
    bounds_.depth =
        std::max<std::int64_t>(bounds_.depth, std::bit_width(static_cast<std::uint64_t>(bounds_.leaves - 1)));
    for (int axis = 0; axis < tree_.n_axes(); ++axis) bounds_.feature.push_back(tree_.axis(axis).feature);
    for (const std::uint32_t leaf : set_.leaves())
      bounds_.cells.insert(bounds_.cells.end(), set_.cell(leaf), set_.cell(leaf) + tree_.n_axes());
  }

 private:
  void find_cells() {
    HemmedCells hemmed(tree_);
    HemmedCell cell;
    // Neighbours come one after the other, since they ask for the same parts of the tree.
    const std::uint32_t n_leaves = tree_.n_leaves(), n_blocks = (n_leaves - 1) / kBlock + 1;
    const std::uint64_t step = step_through(n_blocks);
    const double seconds = control_.elapsed();
    const std::int64_t work = control_.work();
    for (std::uint32_t i = 0; i < n_blocks; ++i) {
      control_.check("bound", -1, -1, i * kBlock, kShareOfCells * i / n_blocks);
      if (is_gone(control_.time_limit - seconds, control_.elapsed() - seconds) ||
          is_gone(static_cast<double>(control_.work_limit - work), static_cast<double>(control_.work() - work)))
        return;
      const auto first = static_cast<std::uint32_t>(i * step % n_blocks) * kBlock;
      for (std::uint32_t leaf = first; leaf < std::min(first + kBlock, n_leaves); ++leaf) {
        hemmed.find(leaf, cell);
        open_[leaf] = cell.open;
        bounds_.depth = std::max<std::int64_t>(bounds_.depth, cell.blocked);
        set_.propose(leaf, cell);
        order_.push_back(leaf);
      }
    }
  }
  static bool is_gone(double limit, double used) { return limit > 0 && used > kShareOfCells * limit; }

  // The most hemmed-in cells first, class by class.
  void choose() {
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(tree_.class_of(a), open_[a], a) < std::tuple(tree_.class_of(b), open_[b], b);
    });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (i % kBlock == 0) {
        const double done = static_cast<double>(i) / static_cast<double>(order_.size());
        control_.check("bound", -1, -1, static_cast<std::int64_t>(set_.leaves().size()),
                       kShareOfCells + done * (1 - kShareOfCells));
      }
      set_.join(order_[i]);
    }
  }

  const SlabTree& tree_;
  Control& control_;
  TreeBounds& bounds_;
  FoolingSet set_;
  std::vector<int> open_;             // per leaf: of its cell
  std::vector<std::uint32_t> order_;  // leaves that have one
};

}  // namespace

TreeBounds bounds_from_tree(const FlatTree& tree, std::span<const SetAxis> sets, Control& control) {
  TreeBounds bounds;
  if (!SlabTree::can_hold(tree, sets)) return bounds;
  const std::set<int> features(tree.feature.begin(), tree.feature.end());
  const auto n_sets = static_cast<std::size_t>(std::count_if(
      features.begin(), features.end(), [&](int feature) { return feature >= 0 && !sets.empty() && sets[feature]; }));
  const std::size_t leaf_bytes = SlabTree::bytes_for(1, n_sets) + FoolingSet::bytes_for(1, features.size(), n_sets) +
                                 sizeof(int) + sizeof(std::uint32_t);
  const std::size_t most_leaves = std::min(kMostLeaves, control.memory_limit / leaf_bytes);
  if (most_leaves == 0) return bounds;
  const double seconds = control.elapsed();
  const std::int64_t work = control.work();
  try {
    const SlabTree on_slabs(tree, sets, most_leaves, control);
    bounds.peak_bytes = on_slabs.n_leaves() * leaf_bytes;
    Search(on_slabs, control, bounds).run();
  } catch (const LimitReached&) {
    // The bounds are what they were.
  }
  bounds.seconds = control.elapsed() - seconds;
  bounds.work = control.work() - work;
  return bounds;
}

}  // namespace onetree
