// Parts of a grid of scores whose cells are all known: cut where fewest cells are left, until a part is small enough
// for the table. As pieces of classes are (`piece`), but leaves carry what the cells below them admit, which their
// reduced functions do not tell any more: so a piece keeps its box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/control.hpp"
#include "grid/score_function.hpp"
#include "grid/score_grid.hpp"
#include "region/score_bounds.hpp"
#include "tree/shared_tree.hpp"
#include "tree/solution.hpp"

namespace onetree {

// Pieces of one grid may be in the hands of several threads.
struct ScorePiece {
  struct Whole {
    ScoreGrid grid;
    std::vector<std::size_t> stride;
    ScoreLeaves* leaves;
    Shapes shapes;
    std::mutex mutex;  // of the shapes, where an axis has one
    const std::vector<Axis>& axes = grid.axes;
  };
  using Slabs = std::vector<std::vector<int>>;  // per axis of the grid: slabs or values, ascending

  std::shared_ptr<Whole> whole;
  ScoreFunction function;
  Origin origin;
  Slabs box;

  std::size_t bytes() const {
    return function.cells.size() * sizeof(std::uint32_t) + sizeof(ScorePiece) + 64 * box.size();
  }
};

double boxes_of(const ScorePiece& piece);

struct ScorePieceCut {
  GridSplit split;
  ScorePiece below, above;
};
// `tick` is called now and then; it may throw.
ScorePieceCut cut_of(const ScorePiece& piece, const std::function<void()>& tick);

// The best tree of a piece, for one objective. Its splits name axis and position of cuts of the function.
FlatTree tree_of(const ScorePiece& piece, Objective objective, std::int64_t expected_splits, Control& control,
                 std::size_t* peak_bytes);
// The same on the features of the grid, with leaves that carry what their cells admit.
SharedTree::Id import_tree(const ScorePiece& piece, const FlatTree& tree, SharedTree& shared);

struct ScorePainter {
  using Piece = ScorePiece;
  const Scoring* scoring;
  ScoreLeaves* leaves;

  // Nothing where the grid has too many states to be worth painting. Throws LimitReached.
  std::optional<Piece> painted(const Ensemble& ensemble, Control& control) const;
  SharedTree::Id join(SharedTree& shared, int feature, double threshold, SharedTree::Id below,
                      SharedTree::Id above) const {
    return leaves->join(shared, feature, threshold, below, above);
  }
};

}  // namespace onetree
