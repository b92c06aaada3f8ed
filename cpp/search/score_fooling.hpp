// Lower bounds on the tree of a reduced function of scores from its cells alone.
//
// A fooling set is a set of cells no two of which fit in one leaf: the hull of any two of them, all cells that a leaf
// with both must have, holds two cells that are at odds. Every tree has a leaf for each of them. A direction of a cell
// is blocked where two cells on the way to the edge of the grid are at odds: the leaf that holds the cell ends before,
// so every blocked direction is a node of its own on the path to that leaf. Beside `Fooling`, whose words of 64 cells
// need neighbours that are of one class or not: here what a hull admits has to be found step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "grid/score_function.hpp"
#include "search/fooling.hpp"

namespace onetree {

class ScoreFooling {
 public:
  // `work`: about the number of cells of hulls to look at, after which the bounds are what they are. `tick` is called
  // on the way; it may throw. The shapes must outlive this object.
  ScoreFooling(Shapes& shapes, std::size_t memory_limit, std::size_t work, std::function<void()> tick)
      : shapes_(shapes), memory_limit_(memory_limit), work_(work), tick_(std::move(tick)) {}

  std::size_t bytes() const;  // of its work space

  // Throws LimitReached where the work space would not fit.
  CellBounds bounds(const ScoreFunction& function);
  // Of such a set, the number of cells left of each cut, axis by axis, and at last of all cells. What is on one side of
  // a cut is a fooling set of that side.
  std::vector<int> left_of_cuts(const ScoreFunction& function);

 private:
  using Rank = ScoreFunction::Rank;

  struct Reach {  // of a cell along an axis: slabs within which nothing is at odds with what is between
    int first, last;
  };

  void pass(std::size_t n_cells);
  void lay_out(const ScoreFunction& function);
  Reach reach(const ScoreFunction& function, std::size_t cell, int axis);
  void order_by_room(const ScoreFunction& function);
  std::size_t exclude_around(const ScoreFunction& function, std::size_t cell);
  void spread(int axis, const std::vector<int>& hulls, std::size_t here, std::size_t inner);

  Shapes& shapes_;
  std::size_t memory_limit_, work_;
  std::function<void()> tick_;
  std::size_t cells_since_tick_ = 0;
  std::size_t n_admissions_ = 0;
  int n_columns_ = 0;
  std::vector<std::size_t> stride_;
  std::vector<std::pair<float, std::uint32_t>> order_;  // cells by the room that they have, the least first
  std::vector<std::uint8_t> excluded_;
  std::vector<std::uint32_t> chosen_;
  int most_blocked_ = 0;
  // Of the zone in hand: slabs per axis; what the hulls of its cells with the chosen one admit; the cells.
  std::vector<std::vector<int>> kept_;
  std::vector<Rank> least_, most_, scratch_;
  std::vector<std::uint32_t> zone_;
};

}  // namespace onetree
