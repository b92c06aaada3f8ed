// Searches of the branch and bound: how deep the tree of a state must be, and how many splits it must have.
//
// Both narrow the bounds of states in the store, so whatever was proven before a limit is not lost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "search/cells.hpp"
#include "search/state_store.hpp"

namespace onetree {

inline constexpr int kNoTree = 1 << 29;  // splits: there is no such tree
inline constexpr int kAnyDepth = 1 << 29;

// What another engine says about a small function; a cut of -1 where it was not asked.
struct Settled {
  int depth = 0, depth_cut = -1;
  int splits = 0, splits_depth = 0, splits_cut = -1;
};

template <typename Cells>
class StateSearch {
 public:
  using Function = typename Cells::Function;
  using Profile = typename Cells::Profile;

  // `tick` is called often; it may throw, and nothing is lost. The memory limit is in bytes.
  StateSearch(Shapes& shapes, std::size_t memory_limit, std::function<void()> tick);

  // From now on functions of at most so many boxes are settled by another engine, as soon as they are met.
  void settle_small(double max_boxes, std::function<Settled(const Function&)> settle);

  // Renames the classes of the function.
  StateId add(Function& function);

  // Whether a tree of at most this depth exists.
  bool fits(StateId id, int max_depth);

  struct Bound {
    int lower;
    bool known;  // a tree with `lower` splits exists, or none whatever its splits
  };
  // What is known about the fewest splits of a tree of at most this depth.
  Bound bound(StateId id, int max_depth) const;
  // Works on it until it is known or over the budget.
  void search(StateId id, int max_depth, int budget);

  // The first cut of the tree that `fits` or `search` has found; -1: none.
  int depth_cut(StateId id) const { return store_[id].depth_cut; }
  int splits_cut(StateId id, int max_depth) const;
  // Where a tree of few splits is not found yet, the cut that promises it; -1 for a state that was not opened.
  int most_promising_cut(StateId id);

  StateStore<Function>& store() { return store_; }
  const StateStore<Function>& store() const { return store_; }
  std::size_t bytes() const {
    return store_.bytes() + limited_.size() * kLimitedBytes + fooling_.bytes() + shapes_.bytes();
  }

 private:
  struct Opened {  // a state's function, while its children are being made
    Opened(Function function_, Shapes& shapes, const std::function<void()>& tick)
        : function(std::move(function_)), profile(function, shapes, tick) {}
    Function function;
    Profile profile;
  };
  struct Limited {  // fewest splits of a tree that is not too deep
    int lower = 0;
    int cut = -1;  // -1: not found yet
  };
  struct Promise {  // what a cut promises, given the bounds of its sides
    int cut;
    int left, right;  // fewest splits of each side
    int splits;
    bool known;
    int second;  // the next best promise of another cut
  };
  static constexpr std::size_t kLimitedBytes = 64;  // an entry of the map with its share of the buckets, about

  static std::uint64_t key(StateId id, int max_depth) {
    return static_cast<std::uint64_t>(id) << 32 | static_cast<std::uint32_t>(max_depth);
  }

  void tick();
  bool all_sides_made(StateId id) const;
  void make_sides(StateId id, int cut, const Opened& opened);
  void make_all_sides(StateId id);
  void bound_sides(StateId id, int cut, const std::vector<int>& in_left);
  bool axis_fits(StateId id, int first_cut, int n_cuts, int max_depth, const std::vector<int>& in_left,
                 const Opened& opened);
  bool tests_fit(StateId id, int first_cut, int shape, int max_depth, const std::vector<int>& in_left,
                 const Opened& opened);
  void deepen_larger_sides(StateId id, int first_cut, int shape, int test, bool inside, int depth);
  void raise(StateId id, int max_depth, int lower);
  void settle(StateId id, int max_depth, int splits, int cut);
  Promise best_promise(StateId id, int max_depth_of_sides);

  Shapes& shapes_;
  StateStore<Function> store_;
  std::size_t memory_limit_;
  std::function<void()> on_tick_;
  double max_boxes_settled_ = 0;
  std::function<Settled(const Function&)> settle_;
  typename Cells::Bounds fooling_;
  int nesting_ = 0;                                     // of `fits` and `search`
  std::unordered_map<std::uint64_t, Limited> limited_;  // by state and depth
  std::vector<Bound> left_, right_;                     // work space of best_promise
};

extern template class StateSearch<ClassCells>;
extern template class StateSearch<ScoreCells>;

}  // namespace onetree
