// The trees of an ensemble, restricted to a box that is narrowed axis by axis and widened again by undoing.
//
// A restriction changes only the nodes above what it cuts off; everything else is shared with the trees as they were.
// New nodes lie on a stack: undoing takes them off, so the memory is that of one path of restrictions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proof/box.hpp"
#include "proof/model.hpp"

namespace onetree::proof {

class Forest {
 public:
  using Id = std::int32_t;
  struct Mark {
    std::size_t roots, ranges, nodes;
  };
  struct Split {  // at the root of a restricted tree
    Test test;
    double gain, gain_left, gain_right;  // of a rival
  };

  static constexpr int kNoCandidate = -1;

  // `candidate` is the class that others are compared with; without one, there are sums only.
  Forest(const Model& model, const Axes& axes, int candidate);

  const std::vector<int>& rivals() const { return rivals_; }  // all other classes
  std::span<const Range> ranges() const { return ranges_; }

  // Narrows the box on one axis to a part of what it was there, which is not empty.
  void narrow(int axis, const Range& range);
  Mark mark() const { return {old_roots_.size(), old_ranges_.size(), nodes_.size()}; }
  void undo(const Mark& mark);

  // Every tree is down to one leaf.
  bool is_constant() const { return n_open_ == 0; }
  // The leaf of each tree, if every tree is down to one.
  std::span<const std::int32_t> leaves();
  // Per tree, the most that the rival of this number gains on the candidate on any leaf that is left: the difference of
  // their values, or for a single score the score itself, taken as negative if the candidate is class 1.
  void gains(std::size_t rival, std::vector<double>& gains) const;
  // What the trees that are not constant ask first.
  void splits(std::size_t rival, std::vector<Split>& splits) const;
  // Of a combination, or without a candidate: the least and the largest sum of each output, undivided and up to
  // rounding.
  void sums(std::vector<double>& least, std::vector<double>& most) const;
  // ... per tree and output the largest value and the least one, negated: n_outputs x 2 for one tree after the other.
  std::span<const double> ends(std::size_t tree) const {
    return {gains_.data() + static_cast<std::size_t>(roots_[tree]) * n_gains_, n_gains_};
  }
  // ... and the gains of splits, if what each of these is lowered by is worth its weight.
  void splits(std::span<const double> weights, std::vector<Split>& splits) const;

 private:
  struct Node {
    std::uint64_t axes;  // one bit per axis that is asked for here or below, shared by axes that are 64 apart
    std::int32_t axis;   // -1: a leaf
    std::int32_t place;  // of the test; of a leaf, its number in the ensemble
    Id left, right;
    bool missing_left;
  };
  struct Visit {
    Id node;
    Id left;  // what became of it; -1: not yet known
  };
  struct OldRoot {
    int tree;
    Id root;
  };
  struct OldRange {
    int axis;
    Range range;
  };

  static std::uint64_t bit(int axis) { return std::uint64_t{1} << (axis % 64); }
  Test test_of(const Node& node) const { return {node.axis, node.place, node.missing_left}; }
  Id import(std::int32_t root);
  Id add_leaf(std::int32_t leaf);
  bool are_equal_leaves(Id a, Id b) const;
  // The left side, if both are leaves of equal values.
  Id add_split(int axis, int place, bool missing_left, Id left, Id right);
  Id restricted(Id root, int axis);
  void set_root(int tree, Id root);

  const Model& model_;
  const Axes& axes_;
  const int candidate_;
  const bool has_sums_;
  const std::size_t n_gains_;  // one per rival; of sums, two per output: the largest value, and negated value
  std::vector<int> rivals_;
  std::vector<Node> nodes_;
  std::vector<double> gains_;  // n_nodes x n_gains
  std::vector<Id> roots_;
  std::vector<Range> ranges_;
  std::vector<std::vector<int>> trees_of_;  // per axis: the trees that ask for it
  int n_open_ = 0;                          // trees that are not constant
  std::vector<OldRoot> old_roots_;
  std::vector<OldRange> old_ranges_;
  // Of the restriction under way.
  bool walk_left_ = true, walk_right_ = true;  // whether it can cut off anything on that side of a test that stays open
  std::vector<std::uint8_t> sides_;            // per test of a set axis: bit 0, something goes left; bit 1, right
  std::vector<Visit> visits_;
  std::vector<std::int32_t> leaves_;
};

}  // namespace onetree::proof
