// A tree ensemble as borrowed arrays, and the rule that turns its leaves into a class.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/combination.hpp"
#include "model/set_axis.hpp"

namespace onetree {

using Class = std::uint16_t;

struct Rule {
  bool float32 = false;        // the accumulator is a float, not a double
  double divisor = 1.0;        // the sum is divided by this before the decision
  double cut = 0.0;            // one output: class 1 iff score > cut
  bool cut_inclusive = false;  // ... or score >= cut
  bool softmax = false;        // several outputs: the library compares probabilities, where near-ties are ties
};

struct Ensemble {
  int n_features;
  int n_outputs;  // n_classes, or 1 for a single score; those of all members of a combination
  int n_classes;
  std::span<const std::int32_t> roots;         // one per tree
  std::span<const std::int32_t> feature;       // per node; -1 at a leaf
  std::span<const std::int32_t> left, right;   // per node; -1 at a leaf
  std::span<const double> threshold;           // left iff x <= threshold
  std::span<const std::uint8_t> missing_left;  // where NaN goes
  std::span<const double> value;               // n_nodes x n_outputs
  std::span<const double> base;                // n_outputs: where the sum starts
  std::span<const std::uint8_t> nan_features;  // features on which NaN is an input
  Rule rule;
  // Per feature, or empty if there are none: those without an order. There the threshold of a split is the number of
  // its test, and NaN is no input.
  std::span<const SetAxis> sets = {};
  // Not null: a rule of two levels, which takes the place of `rule`.
  const Combination* combination = nullptr;

  bool is_set(int j) const { return !sets.empty() && sets[j]; }
  int n_trees() const { return static_cast<int>(roots.size()); }
  const double* leaf_value(std::int32_t node) const {
    return value.data() + static_cast<std::size_t>(node) * n_outputs;
  }
  // For an interner: equal for leaves of equal values, and not the key of a split, which begins with a feature.
  void leaf_key(std::int32_t node, std::vector<std::int32_t>& key) const;

  // The sums of these leaves in the library's order and precision, divided as it divides them; one per output.
  void sums(std::span<const std::int32_t> leaves, std::vector<double>& scores) const;
  // The class that the source library computes when these leaves are reached, in its order and precision.
  Class decide(std::span<const std::int32_t> leaves) const;
  Class decide_scores(std::span<const double> scores) const;

  // All sums are small integers: order and rounding cannot matter.
  bool sums_are_exact() const;
  // A lead of one undivided sum over another, or over the cut, that is larger than this decides whatever the rounding.
  // Infinite where a sum could overflow: then only whole evaluations decide. Zero if sums are exact.
  double margin() const;
};

// What the sums of a combination decide, from bounds of the undivided sums that do not count rounding.
class CombinedBounds {
 public:
  explicit CombinedBounds(const Ensemble& ensemble);
  void decisive(const double* low, const double* high, std::vector<Between>& found) const;
  // Bounds of the divided sums, as the library may round them.
  void divided(const double* low, const double* high, std::vector<Between>& sums) const;
  int decide(const double* low, const double* high) const;

 private:
  const Combination* combination_;
  std::vector<double> error_;  // per output: what rounding can do to a sum, and to its bounds
};

// Decides a region from bounds alone: the class every point of it gets, or -1 where the bounds do not tell.
class BoundDecider {
 public:
  explicit BoundDecider(const Ensemble& ensemble);
  int decide(const double* low, const double* high) const;
  bool exact() const { return exact_; }

 private:
  const Ensemble& ensemble_;
  CombinedBounds combined_;
  bool exact_;
  double margin_;
};

}  // namespace onetree
