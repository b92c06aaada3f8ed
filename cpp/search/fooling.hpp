// Lower bounds on the tree of a reduced function from its cells alone.
//
// A fooling set is a set of cells no two of which fit in one homogeneous box: every tree has a leaf for each of them.
// A direction of a cell is blocked where its neighbour has another class: the leaf that holds the cell ends there, so
// every blocked direction is a node of its own on the path to that leaf. On an axis without an order, a test counts as
// a direction if it alone tells the cell from one of another class.
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

// Cells are handled in rows: the last axes, as many as make at most 64 cells, are the bits of a word. A slice are the
// cells of one value on each of the other axes that have no order. Keeps its work space between calls.
class Fooling {
 public:
  // `work`: about the number of rows to look at where an axis has no order, after which the bounds are what they are.
  // `tick` is called on the way through large functions; it may throw. The shapes must outlive this object.
  Fooling(Shapes& shapes, std::size_t memory_limit, std::size_t work, std::function<void()> tick)
      : shapes_(shapes), memory_limit_(memory_limit), work_(work), tick_(std::move(tick)) {}

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

  struct InnerAxis {
    int slabs, stride;
    const Shapes::Pairs* pairs;  // null: it has an order
    std::vector<Word> slab;      // per slab: its cells
  };
  struct SetRows {  // another axis without an order
    int size;
    std::size_t step;            // in rows
    const Shapes::Pairs* pairs;  // null: too many to be of use
    int value(std::size_t row) const { return static_cast<int>(row / step % size); }
  };
  struct Spread {  // bad |= (bad & from) shifted away from the chosen cell
    Word from;
    int up, down;  // one of them is zero
  };
  struct Visited {
    std::uint32_t row;
    Directions moved;  // away from the chosen cell
  };

  void pass(std::size_t n_rows);  // looks at the clock when enough rows were passed
  void lay_out(const Function& function);
  void lay_out_sets(const Function& function);
  void fill_rows(const Function& function);
  Word differing(std::size_t row, std::size_t other) const;
  void count_blocked(bool has_sets);
  template <typename Differing>
  void count_blocking_tests(int here, int size, const Shapes::Pairs* pairs, std::size_t row,
                            const Differing& differing);
  int most_nodes() const;
  int degree();
  void find_spreads(int bit);
  void find_spreads_of_hulls(const InnerAxis& inner, int here);
  Word shadowed(Word bad) const;
  void find_zone(std::uint32_t row, int bit, const Word* same_class, bool excludes);
  void exclude_hulls(std::uint32_t row, int bit, const Word* same_class);
  void list_hull(std::size_t slice, std::size_t other);

  int n_outer_ = 0;
  int row_cells_ = 0;
  std::size_t n_rows_ = 0;
  int n_classes_ = 0;
  int most_blocked_ = 0;  // no cell has more
  Word full_ = 0;
  std::vector<InnerAxis> inner_;
  std::vector<int> outer_slabs_;
  std::vector<std::ptrdiff_t> step_;                     // per direction: from row to row
  Directions ordered_ways_ = 0;                          // those of axes with an order
  std::vector<Directions> exists_;                       // per row: directions that do not leave the grid
  std::vector<Word> planes_;                             // per class and row: the cells of that class
  std::vector<std::array<Word, kCounterBits>> blocked_;  // per row: blocked directions and differing values, bit by bit
  std::vector<Word> excluded_;
  std::vector<Spread> spreads_;
  std::uint32_t zone_ = 0;
  std::vector<std::uint32_t> stamp_;  // per row: the last zone that reached it
  std::vector<Word> in_zone_;         // per row, where stamped
  std::vector<Visited> queue_;
  std::vector<std::uint64_t> chosen_;
  std::vector<Word> scratch_;
  std::vector<SetRows> sets_;
  bool counts_values_ = false, counts_tests_ = false;  // otherwise an axis counts once: more would not fit
  std::vector<std::array<Word, kCounterBits>> nodes_;  // per row: nodes that paths need, bit by bit
  std::vector<std::size_t> first_row_;                 // per slice
  std::vector<std::size_t> zone_begin_;                // per slice: where its zone begins in the queue
  std::vector<std::size_t> hull_;                      // first rows of slices
  Shapes& shapes_;
  std::size_t memory_limit_, work_;
  std::function<void()> tick_;
  std::size_t rows_since_tick_ = 0;
};

// The bounds of a whole grid; {1, 0} where there is no memory to find better ones.
CellBounds bounds_of_grid(const Grid& grid, std::size_t memory_limit, std::function<void()> tick);

}  // namespace onetree
