// Lower bounds on the tree of a reduced function from its cells alone.
//
// A fooling set is a set of cells no two of which fit in one homogeneous box: every tree has a leaf for each of them.
// A direction of a cell is blocked where its neighbour has another class: the leaf that holds the cell ends there, so
// every blocked direction is a node of its own on the path to that leaf.
// The degree is that of the classes' indicators as polynomials over GF(2): a leaf is a product of one factor per axis
// that was cut on the path to it, so no sum of leaves has a higher degree than the tree has depth.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "grid/function.hpp"

namespace onetree {

struct CellBounds {
  int leaves;  // cells of a fooling set
  int depth;   // the larger of degree and blocked directions of a cell
};

// Cells are handled in rows: the last axes, as many as make at most 64 cells, are the bits of a word. Keeps its work
// space between calls.
class Fooling {
 public:
  // `tick` is called on the way through large functions; it may throw.
  Fooling(std::size_t memory_limit, std::function<void()> tick) : memory_limit_(memory_limit), tick_(std::move(tick)) {}

  // Its work space for a function.
  static std::size_t bytes_for(const Function& function);
  std::size_t bytes() const;  // that it has now

  // The classes must be numbered from 0 on, without gaps. Throws LimitReached where the work space would not fit.
  CellBounds bounds(const Function& function);
  // Of such a set, the number of cells left of each cut, axis by axis, and at last of all cells. What is on one side of
  // a cut is a fooling set of that side.
  std::vector<int> left_of_cuts(const Function& function);

 private:
  using Word = std::uint64_t;
  using Directions = std::uint64_t;  // of a row; bit 2a: towards smaller slabs of axis a, bit 2a+1: towards larger ones
  static constexpr int kCounterBits = 6;

  void pass(std::size_t n_rows);  // looks at the clock when enough rows were passed
  void lay_out(const Function& function);
  void fill_rows(const Function& function);
  void count_blocked();
  int degree();
  void find_spreads(int bit);
  Word shadowed(Word bad) const;
  void exclude_zone(std::uint32_t row, int bit, const Word* same_class);

  struct InnerAxis {
    int slabs, stride;
    std::vector<Word> slab;  // per slab: its cells
  };
  struct Spread {  // bad |= (bad & from) shifted away from the chosen cell
    Word from;
    int up, down;  // one of them is zero
  };
  struct Visited {
    std::uint32_t row;
    Directions moved;  // away from the chosen cell
  };

  int n_outer_ = 0;
  int row_cells_ = 0;
  std::size_t n_rows_ = 0;
  int n_classes_ = 0;
  Word full_ = 0;
  std::vector<InnerAxis> inner_;
  std::vector<int> outer_slabs_;
  std::vector<std::ptrdiff_t> step_;                     // per direction: from row to row
  std::vector<Directions> exists_;                       // per row: directions that do not leave the grid
  std::vector<Word> planes_;                             // per class and row: the cells of that class
  std::vector<std::array<Word, kCounterBits>> blocked_;  // per row: number of blocked directions, bit by bit
  std::vector<Word> excluded_;
  std::vector<Spread> spreads_;
  std::uint32_t zone_ = 0;
  std::vector<std::uint32_t> stamp_;  // per row: the last zone that reached it
  std::vector<Word> in_zone_;         // per row, where stamped
  std::vector<Visited> queue_;
  std::vector<std::uint64_t> chosen_;
  std::vector<Word> scratch_;
  std::size_t memory_limit_;
  std::function<void()> tick_;
  std::size_t rows_since_tick_ = 0;
};

// The bounds of a function whatever the numbers of its classes; {1, 0} where there is no memory to find better ones.
CellBounds cell_bounds(Function function, std::size_t memory_limit, std::function<void()> tick);

}  // namespace onetree
