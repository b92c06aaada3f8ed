// What it costs at least to meet a demand, from the leaves that a box can reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "question/demand.hpp"
#include "question/forest.hpp"

namespace onetree::question {

struct Bound {
  double cost = std::numeric_limits<double>::infinity();   // the demand is not met for less
  double lead = -std::numeric_limits<double>::infinity();  // how far the leaves get beyond what is needed
  Demand* demand = nullptr;
};

// Every tree takes its best leaf within a cost: the least cost at which that is enough is a bound.
//
// Where costs are added up, the trees cannot all spend that cost each on an axis of its own. So every tree pays for its
// leaf: a price for each unit that an axis becomes dearer, and for one axis no more than 1 is paid by all trees
// together. What a point gains is then at most the sum over the trees of gain minus payment, each at its best, plus all
// that is paid, which is at most the cost of the point; each unit of it is worth some gain. This holds for any shares
// and any worth. Those that bound well are found by letting the trees that want an axis share it, over and over, and
// are kept from box to box, since they change little.
class Bounds {
 public:
  Bounds(const Forest& forest, int n_axes, bool adds_up);

  bool adds_up() const { return adds_up_; }
  // Sets a box: the leaves that cost less than `limit`, what its cheapest point costs, and a bound that is known.
  void set(const Reach& reach, double base, double known, double limit);
  // Infinite if the demand is not met below the limit.
  Bound of(Demand& demand);
  // How far the demand that was asked for last is still met if a tree takes its best leaf on one side of its first
  // open test, and all others theirs; negative: nothing below the limit lies there. Not for combinations.
  void room(const Demand& demand, std::vector<double>& left, std::vector<double>& right) const;
  // The leaves that trees chose last, beyond their payments, with what the tree loses without it, negative.
  void chosen(std::vector<std::pair<double, std::int32_t>>& order) const;

 private:
  struct Step {  // a leaf that gains more than the tree does for free
    double cost, gain, price;
    std::uint32_t leaf, tree;
  };
  struct Total {
    double gain, price;
  };
  struct Payments {
    std::vector<double> shares;  // per tree and axis, in units of the scale of the axis: what the tree pays of it
    std::vector<double> scale;   // per axis
    double worth = 0;
    bool is_new = true;
  };

  Bound of_sums(Demand& demand);
  Bound of_combination(Demand& demand);
  bool list_steps(const Demand& demand, Bound& found);
  double least_cost(double needed, double worth);
  bool is_refuted_by_sharing(double needed, int n_rounds);
  double price_of(const Step& step) const;
  Total best(double cost, double worth);
  void share(double weight);

  const Forest& forest_;
  const std::size_t n_axes_;
  const bool adds_up_;
  const Reach* reach_ = nullptr;
  double base_ = 0, known_ = 0, limit_ = 0, most_ = 0;
  double paid_lead_ = 0;      // how far leaves get beyond what is needed, after their payments
  bool is_paid_ = false;      // whether that holds for everything below the limit
  std::vector<double> free_;  // per tree: the largest gain at no extra cost
  std::vector<Step> steps_;   // tree by tree
  std::vector<double> best_;  // per tree
  std::vector<std::pair<double, std::uint32_t>> events_;
  std::vector<double> costs_;
  std::vector<double> wanted_;                         // per axis
  std::vector<std::uint32_t> chosen_, chosen_before_;  // steps
  std::unordered_map<const Demand*, Payments> payments_;
  Payments* paid_ = nullptr;  // of the demand at hand
};

}  // namespace onetree::question
