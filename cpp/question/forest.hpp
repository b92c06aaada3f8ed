// The trees of an ensemble on options: the leaves of a point, and those that a box can reach, with their costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/ensemble.hpp"
#include "question/space.hpp"

namespace onetree::question {

// A leaf that some point of a box reaches.
struct Reached {
  double cost;        // of the cheapest point of the box that lies in this leaf
  std::int32_t leaf;  // node
  bool right;         // of the first test of its tree that the box leaves open
  std::uint32_t end;  // of its extras; they begin where those of the leaf before end
};

// By how much a leaf makes an axis dearer than it is at the cheapest point of the box.
struct Extra {
  std::int32_t axis;
  double cost;
};

// The leaves that a box can reach, tree by tree.
struct Reach {
  std::vector<Reached> leaves;
  std::vector<std::uint32_t> first;  // per tree, and one more: where its leaves begin
  std::vector<Extra> extras;
  std::vector<std::int32_t> open;  // per tree: the first test that the box leaves open, or -1

  std::span<const Reached> of_tree(std::size_t tree) const {
    return {leaves.data() + first[tree], leaves.data() + first[tree + 1]};
  }
  std::span<const Extra> extras_of(std::size_t leaf) const {
    const std::size_t begin = leaf == 0 ? 0 : leaves[leaf - 1].end;
    return {extras.data() + begin, extras.data() + leaves[leaf].end};
  }
};

class Forest {
 public:
  // Borrows the ensemble and the space.
  Forest(const Ensemble& ensemble, const Space& space);

  std::size_t n_trees() const { return roots_.size(); }
  std::size_t n_nodes() const { return nodes_.size(); }
  Test test(std::int32_t node) const { return nodes_[node].test; }
  // The leaf of each tree at a point, which has an option for each axis.
  void leaves_at(std::span<const std::int32_t> point, std::vector<std::int32_t>& leaves) const;
  // What all leaves gain together at each option of an axis, when a point has that option and otherwise its own.
  void gains_along(std::span<const std::int32_t> point, int axis, std::span<const double> gain,
                   std::vector<double>& sums) const;
  // Leaves the box only what lies in a leaf; false, and the box as it was, if nothing does.
  bool narrow_to(Box& box, std::int32_t leaf, Box& scratch) const;

 private:
  friend class Walk;
  struct Node {
    Test test;      // axis -1: a leaf
    bool is_plain;  // of an axis with an order and without a missing value
    std::int32_t left, right;
  };

  const Space& space_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> parent_;  // -1 at a root
  std::span<const std::int32_t> roots_;
};

// Goes through the trees within a box. Costs are added up, or the largest of them counts.
class Walk {
 public:
  Walk(const Forest& forest, const Costs& costs, bool largest)
      : forest_(forest), space_(forest.space_), costs_(costs), largest_(largest), cost_of_(space_.n_axes()) {}

  // Sets the box; returns what its cheapest point costs, and that point.
  double enter(const Box& box, std::vector<std::int32_t>& point);
  // The leaves that points of the box reach which cost less than `limit`.
  void leaves(double limit, Reach& reach);
  // What the cheapest point of one side of a test costs, which is not empty.
  double cost_of_side(const Test& test, bool left);

 private:
  struct Frame {
    std::int32_t node;
    bool on_right, is_dearer;
    double total, cost;  // before the test
    Part part;
    std::size_t bits;  // of what was saved
  };

  double combined(double total, double before, double after) const {
    return largest_ ? std::max(total, after) : total + (after - before);
  }
  // A box that cannot be missing there, and costs that have one valley: nothing has to be searched for.
  bool is_plain(int axis) const { return costs_.has_one_valley(axis) && !box_.parts[axis].missing; }
  // What one side of a test costs on such an axis, of which the box leaves something on both: the cheapest option lies
  // on one of them, and on the other the one next to the test is the cheapest.
  double cost_of_plain(const Test& test, bool left, double both) const {
    if (costs_.is_best_up_to(test.axis, test.place) == left) return both;
    return costs_(test.axis, left ? test.place : test.place + 1);
  }
  double narrow(const Test& test, bool left, double both);  // returns the cost of the axis
  void save(Frame& frame, const Test& test);
  void restore(const Frame& frame, const Test& test);

  const Forest& forest_;
  const Space& space_;
  const Costs& costs_;
  const bool largest_;
  Box box_;
  double total_ = 0;
  std::vector<double> cost_of_, least_;  // per axis, of its cheapest option: within a leaf, and in the box
  std::vector<Frame> frames_;
  std::vector<std::uint64_t> saved_;
  std::vector<std::int32_t> dearer_;  // axes that cost more than in the box
};

}  // namespace onetree::question
