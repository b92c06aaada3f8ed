#include "bound/tree_bounds.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <numeric>
#include <set>
#include <thread>
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
      : tree_(tree),
        control_(control),
        bounds_(bounds),
        set_(tree),
        open_(tree.n_leaves()),
        n_blocks_((tree.n_leaves() - 1) / kBlock + 1),
        step_(step_through(n_blocks_)) {}

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
  // Which cell a leaf has does not depend on the thread that looks for it.
  void find_cells() {
    const int n_workers = static_cast<int>(
        std::min<std::uint32_t>(n_blocks_, static_cast<std::uint32_t>(std::max(1, control_.n_threads))));
    std::vector<Worker> workers;
    for (int i = 0; i < n_workers; ++i) workers.emplace_back(tree_);
    {
      const Helpers helpers(*this, workers);
      const double seconds = control_.elapsed();
      const std::int64_t work = control_.work();
      do {
        control_.check("bound", -1, -1, std::min(next_ * kBlock, tree_.n_leaves()), kShareOfCells * next_ / n_blocks_);
        if (is_gone(control_.time_limit - seconds, control_.elapsed() - seconds) ||
            is_gone(static_cast<double>(control_.work_limit - work), static_cast<double>(control_.work() - work)))
          break;
      } while (find_in_block(workers[0]));
    }
    for (const Worker& worker : workers) {
      if (worker.failed) std::rethrow_exception(worker.failed);
      order_.insert(order_.end(), worker.leaves.begin(), worker.leaves.end());
      bounds_.depth = std::max<std::int64_t>(bounds_.depth, worker.most_blocked);
    }
  }

  struct Worker {
    explicit Worker(const SlabTree& tree) : hemmed(tree) {}
    HemmedCells hemmed;
    HemmedCell cell;
    std::vector<std::uint32_t> leaves;  // that were looked at
    int most_blocked = 0;
    std::exception_ptr failed;
  };

  // All workers but the first, each in a thread; they end with the block they are at when this object goes.
  class Helpers {
   public:
    Helpers(Search& search, std::vector<Worker>& workers) : search_(search) {
      for (std::size_t i = 1; i < workers.size(); ++i)
        threads_.emplace_back([&search, &worker = workers[i]] {
          try {
            while (!search.is_over_ && search.find_in_block(worker)) {
            }
          } catch (...) {
            worker.failed = std::current_exception();
          }
        });
    }
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;
    ~Helpers() { search_.is_over_ = true; }  // before the threads are joined

   private:
    Search& search_;
    std::vector<std::jthread> threads_;
  };

  // Looks for the cells of the next block of leaves; whether there was one. Neighbours come one after the other, since
  // they ask for the same parts of the tree.
  bool find_in_block(Worker& worker) {
    const std::uint32_t number = next_++;
    if (number >= n_blocks_) return false;
    const auto first = static_cast<std::uint32_t>(number * step_ % n_blocks_) * kBlock;
    for (std::uint32_t leaf = first; leaf < std::min(first + kBlock, tree_.n_leaves()); ++leaf) {
      worker.hemmed.find(leaf, worker.cell);
      open_[leaf] = worker.cell.open;
      set_.propose(leaf, worker.cell);
      worker.leaves.push_back(leaf);
      worker.most_blocked = std::max(worker.most_blocked, worker.cell.blocked);
    }
    return true;
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
  std::uint32_t n_blocks_;
  std::uint64_t step_;
  std::atomic<std::uint32_t> next_ = 0;  // block
  std::atomic<bool> is_over_ = false;
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
