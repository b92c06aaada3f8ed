// Exact engine for grids with axes that have no order: searches from the whole grid downwards and opens only what the
// bounds leave open.
//
// A state is a reduced function, so boxes that hold the same function are one state. Shares no search code with the
// table of boxes: each engine checks the other.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "base/control.hpp"
#include "grid/grid.hpp"
#include "sets/set_states.hpp"
#include "tree/solution.hpp"

namespace onetree {

class SetSearch {
 public:
  // `first`: a faithful tree with bounds that are proven, to be improved on.
  SetSearch(const Grid& grid, const Solution& first, Control& control);

  // At a limit the best tree found so far comes back, not optimal, with the bounds proven so far.
  Solution solve(Objective objective);

  std::int64_t states() const { return states_.size(); }
  std::size_t peak_bytes() const { return states_.bytes() + limited_.size() * kLimitedBytes; }

 private:
  struct Limited {  // fewest splits of a tree that is not too deep
    int lower = 0;
    int test = -1;  // that such a tree begins with; -1: not found yet
  };
  struct Bound {
    int lower;   // kNoTree: there is no tree
    bool known;  // a tree with `lower` splits is known, or none exists
  };
  struct Promise {  // the test whose sides may need the fewest splits
    int test;
    Bound inside, outside;
    int splits;
    int second;  // what the next best of the other tests promises
  };
  using ChooseTest = std::function<int(SetStateId, int max_depth)>;  // -1: whatever seems good

  static constexpr std::size_t kLimitedBytes = 64;  // an entry of the map with its share of the buckets, about
  static std::uint64_t key(SetStateId id, int max_depth) {
    return static_cast<std::uint64_t>(id) << 32 | static_cast<std::uint32_t>(max_depth);
  }

  void tick();
  void run(Objective objective);
  void note_bounds();

  bool fits(SetStateId id, int max_depth);
  Bound bound(SetStateId id, int max_depth) const;
  void search(SetStateId id, int max_depth, int budget);
  Promise best_promise(SetStateId id, int max_depth_of_sides) const;
  void settle(SetStateId id, int max_depth, const Promise& promise);
  int splits_test(SetStateId id, int max_depth) const;
  int most_promising_test(SetStateId id) const;

  void settle_depth();
  void settle_leaves(int max_depth);
  void settle_depth_at_least_leaves();
  FlatTree read_tree(int max_depth, const ChooseTest& choose);
  void keep(FlatTree tree);

  const Grid& grid_;
  Control& control_;
  const Solution first_;
  bool depth_comes_first_ = true;
  Solution best_;
  SetStates states_;
  SetStateId root_ = -1;
  int nesting_ = 0;                                     // of `fits` and `search`
  std::unordered_map<std::uint64_t, Limited> limited_;  // by state and depth
};

}  // namespace onetree
