// The trees of an ensemble on options: the leaves of a point, and those that a box can reach, with their costs.
#pragma once

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
  std::int32_t tree;
  bool right;  // of the first test of its tree that the box leaves open
};

class Forest {
 public:
  // Borrows the ensemble and the space.
  Forest(const Ensemble& ensemble, const Space& space);

  int n_trees() const { return static_cast<int>(roots_.size()); }
  Test test(std::int32_t node) const { return nodes_[node].test; }
  // The leaf of each tree at a point, which has an option for each axis.
  void leaves_at(std::span<const std::int32_t> point, std::vector<std::int32_t>& leaves) const;
  // Leaves the box only what lies in a leaf; false, and the box as it was, if nothing does.
  bool narrow_to(Box& box, std::int32_t leaf) const;

 private:
  friend class Walk;
  struct Node {
    Test test;  // axis -1: a leaf
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
  // The leaves that points of the box reach which cost less than `limit`, tree by tree.
  void leaves(double limit, std::vector<Reached>& reached);
  // The first test of each tree that the box leaves open, or -1; of the last call of `leaves`.
  std::span<const std::int32_t> open_tests() const { return open_; }
  // What the cheapest point of one side of a test costs, which is not empty.
  double cost_of_side(const Test& test, bool left);

 private:
  struct Frame {
    std::int32_t node;
    bool on_right;
    double total, cost;  // before the test
    Part part;
    std::size_t bits;  // of what was saved
  };

  double combined(double total, double before, double after) const {
    return largest_ ? std::max(total, after) : total + (after - before);
  }
  void save(Frame& frame, const Test& test);
  void restore(const Frame& frame, const Test& test);

  const Forest& forest_;
  const Space& space_;
  const Costs& costs_;
  const bool largest_;
  Box box_;
  double total_ = 0;
  std::vector<double> cost_of_;  // per axis, of its cheapest option
  std::vector<Frame> frames_;
  std::vector<std::uint64_t> saved_;
  std::vector<std::int32_t> open_;
};

}  // namespace onetree::question
