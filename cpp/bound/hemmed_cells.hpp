// The most hemmed-in cell of a leaf: the fewer cells a homogeneous box around it can reach, the fewer others exclude
// it.
//
// From a cell, a ray goes along one axis until the class changes, both ways, or to each other value of an axis without
// an order. No leaf of any tree reaches from the cell to where a ray ended or beyond. Up to 64 cells of a leaf are
// judged at once: they are the bits of a word, and walk through the tree together.
#pragma once

#include <cstdint>
#include <vector>

#include "bound/slab_tree.hpp"

namespace onetree {

struct HemmedCell {
  std::vector<Slab> at;         // per axis
  std::vector<Slab> low, high;  // per axis: what its leaf can reach, inclusive; all there is on one without an order
  std::vector<Values> reach;    // per axis without an order: the values that its leaf can reach
  int open = 0;                 // how much that is, all axes together: the less, the better
  int blocked = 0;              // rays that ended: each takes a node of its own on the path to the cell
};

class HemmedCells {
 public:
  explicit HemmedCells(const SlabTree& tree);
  // The best of some cells of a leaf and of what is near them. The same for the same leaf, whatever came before.
  void find(std::uint32_t leaf, HemmedCell& found);

 private:
  using Mask = std::uint64_t;  // of cells
  static constexpr int kTogether = 64;
  struct Step {          // of the path to the leaf
    std::uint32_t away;  // the child that is not on the path
    std::uint16_t axis, test;
    bool left;      // the path goes there
    Values values;  // of an axis without an order: those that part here
  };
  struct Walk {
    std::uint32_t node;
    int from;  // slab where this part of the ray begins
    Mask cells;
  };
  struct Change {  // of one cell
    int axis;
    Slab to;
  };

  void find_path(std::uint32_t leaf);
  Mask draw(std::uint64_t& random);
  Mask vary(const std::vector<Slab>& cell, std::uint64_t& random);
  void put_all_at(const std::vector<Slab>& cell);
  void judge(Mask cells);
  int best_of(Mask cells) const;
  void measure(HemmedCell& cell);
  template <typename Hit>
  void send_rays(Mask cells, const Hit& hit);

  const SlabTree& tree_;
  std::vector<int> weight_;              // per axis: of a slab
  std::vector<std::size_t> first_test_;  // per axis: in passing_
  std::vector<Mask> passing_;            // per axis and test: the cells that go left
  int class_ = 0;
  std::vector<Step> path_;        // from the leaf upwards
  std::vector<Slab> low_, high_;  // of the leaf
  std::vector<Values> values_;    // of the leaf
  std::vector<int> wide_;         // axes on which the leaf has more than one slab
  std::vector<Mask> up_, down_;   // per axis: the cells whose rays go on
  std::vector<Walk> walks_;
  std::vector<std::vector<Slab>> drawn_;  // per axis
  std::vector<Change> changes_;
  std::vector<int> gain_;  // per cell: what rays that ended take from its reach
};

}  // namespace onetree
