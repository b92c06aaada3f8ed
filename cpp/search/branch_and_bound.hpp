// Exact engine that searches from the whole grid downwards and opens only what the bounds leave open.
//
// A state is a reduced function, so boxes that hold the same function are one state. Axes may have an order or not;
// those that have one keep what it is good for, whatever the others are. Shares no search code with the interval DP:
// each engine checks the other.
#pragma once

#include <cstdint>
#include <functional>

#include "base/control.hpp"
#include "search/state_search.hpp"
#include "tree/solution.hpp"

namespace onetree {

// `Cells`: ClassCells or ScoreCells. The leaves of a tree for scores carry no class, and have to be given what they
// admit.
template <typename Cells>
class BranchAndBound {
 public:
  using Grid = typename Cells::Grid;
  using Function = typename Cells::Function;
  using Profile = typename Cells::Profile;

  // `first`: a faithful tree with bounds that are proven, to be improved on.
  BranchAndBound(const Grid& grid, const Solution& first, Control& control);

  // Leaves functions of at most so many boxes to the interval DP. Then this is no independent engine any more.
  void use_tables_below(double max_boxes) { max_boxes_of_table_ = max_boxes; }

  // At a limit the best tree found so far comes back, not optimal, with the bounds proven so far.
  Solution solve(Objective objective);

  std::int64_t states() const { return static_cast<std::int64_t>(search_.store().size()); }
  std::size_t peak_bytes() const { return search_.bytes(); }

 private:
  // The cut to begin with, of a function whose classes may be renamed; -1: any.
  using Choice = std::function<int(Function&, int max_depth)>;

  void tick();
  void run();
  void settle_depth();
  void settle_leaves(int max_depth);
  void settle_depth_at_least_leaves();
  void note_bounds();

  StateId state_of(Function& function);
  FlatTree read_tree(int max_depth, const Choice& choice);
  FlatTree read_shallowest();
  FlatTree read_smallest(int max_depth);
  FlatTree guess();
  void keep(FlatTree tree);

  const Grid& grid_;
  Control& control_;
  Objective objective_ = Objective::kDepth;
  double max_boxes_of_table_ = 0;
  Solution best_;
  Shapes shapes_;
  StateSearch<Cells> search_;
  StateId root_ = kNoState;
};

extern template class BranchAndBound<ClassCells>;
extern template class BranchAndBound<ScoreCells>;

}  // namespace onetree
