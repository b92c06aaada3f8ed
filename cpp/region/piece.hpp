// Parts of a grid whose cells are all known: cut where fewest cells are left, until a part is small enough for the
// table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/control.hpp"
#include "grid/function.hpp"
#include "grid/grid.hpp"
#include "tree/shared_tree.hpp"
#include "tree/solution.hpp"

namespace onetree {

// Pieces of one grid may be in the hands of several threads.
struct Piece {
  struct Whole {
    std::vector<Axis> axes;
    std::vector<Class> names;  // of the cells' classes, as in the grid
    bool has_sets = false;     // otherwise there are no shapes, and nothing that changes
    Shapes shapes;
    std::mutex mutex;  // of the shapes
  };
  std::shared_ptr<Whole> whole;
  Function function;
  Origin origin;

  bool is_line() const { return function.n_axes() == 1 && !function.has_sets(); }
  std::size_t bytes() const { return function.classes.size() + sizeof(Piece) + 64 * function.size.size(); }
};

// The whole grid of an ensemble; nothing where it has too many states to be worth painting. Throws LimitReached.
std::optional<Piece> painted(const Ensemble& ensemble, Control& control);

// As the exact engine counts them; infinite where an axis has so many sets that even listing them takes long.
double boxes_of(const Piece& piece);

struct PieceCut {
  GridSplit split;
  Piece below, above;
};
// `tick` is called now and then where the piece is large; it may throw.
PieceCut cut_of(const Piece& piece, const std::function<void()>& tick);

// The best tree of a piece, for one objective. Its splits name the feature, and the position of the cut on its axis.
// `expected_splits` is a guess, which costs time where it is far off. `peak_bytes` is what that took.
FlatTree tree_of(const Piece& piece, Objective objective, std::int64_t expected_splits, Control& control,
                 std::size_t* peak_bytes);
// The same on the features of the grid.
SharedTree::Id import_tree(const Piece& piece, const FlatTree& tree, SharedTree& shared);

// How regions become pieces, and pieces one tree: a policy of whoever cuts up regions.
struct ClassPainter {
  using Piece = onetree::Piece;

  std::optional<Piece> painted(const Ensemble& ensemble, Control& control) const {
    return onetree::painted(ensemble, control);
  }
  SharedTree::Id join(SharedTree& shared, int feature, double threshold, SharedTree::Id below,
                      SharedTree::Id above) const {
    return shared.split(feature, threshold, below, above);
  }
};

}  // namespace onetree
