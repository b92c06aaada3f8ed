// Exact engine that knows the value of every box: memory known in advance, every objective, the whole Pareto front.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "grid/function.hpp"
#include "grid/grid_parts.hpp"
#include "table/interval_table.hpp"
#include "tree/solution.hpp"

namespace onetree {

class IntervalDp {
 public:
  // `max_splits`: what the best tree is thought to need at most; it settles how wide a word is at first. Where the tree
  // needs more, the table is filled anew with wider words. Throws GridTooLarge where the tests of an axis leave too
  // many sets, or trees are too deep for the table's words.
  IntervalDp(const Grid& grid, std::int64_t max_splits, Control& control);
  // The same where leaves carry numbers: in its trees all leaves have class 0.
  IntervalDp(const ScoreGrid& grid, std::int64_t max_splits, Control& control);

  Solution solve(Objective objective);
  // Appends to `front`, from the shallowest on, so that nothing is lost at a limit.
  void pareto_front(std::vector<Solution>& front);

  std::size_t peak_bytes() const { return peak_bytes_; }
  std::int64_t states() const { return static_cast<std::int64_t>(search_memo_.size()); }

 private:
  struct Packed {
    std::int64_t splits, depth;
    bool splits_known, depth_known;  // false: did not fit in its bits
  };

  std::unique_ptr<IntervalTable> table(Measure measure, std::size_t element_bytes);
  void need_depth();
  void need_leaves();
  void need_leaves_depth(bool exact_depth);
  Packed unpack(std::uint32_t word) const;
  Packed packed(std::size_t offset) const;
  Packed root_packed() const;
  std::int64_t fewest_splits(Box& box, std::int64_t max_depth, std::int64_t budget);
  Solution depth_limited(std::int64_t max_depth);

  template <typename Open>
  FlatTree read_tree(const IntervalTable& table, const Open& open);

  const GridAxes& grid_;
  const Grid* classes_ = nullptr;      // either this
  const ScoreGrid* scores_ = nullptr;  // or this, with its ranks
  const std::unique_ptr<const ScoreRanks> ranks_;
  const GridParts parts_;
  std::int64_t max_splits_;
  Control& control_;
  std::unique_ptr<IntervalTable> depth_, leaves_, leaves_depth_;
  struct Known {
    std::int64_t splits;
    bool exact;  // false: no tree has fewer
  };
  std::unordered_map<std::uint64_t, Known> search_memo_;  // box and remaining depth -> fewest splits
  std::uint32_t n_searches_ = 0;
  std::size_t peak_bytes_ = 0;
};

}  // namespace onetree
