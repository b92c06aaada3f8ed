// The two sides of a proof as plain arrays: an ensemble, and a tree that is said to be the same function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace onetree::proof {

struct Rule {
  bool float32;        // the library adds in float32, not in float64
  double divisor;      // positive; the sums are divided by it
  double cut;          // one output: class 1 iff score > cut
  bool cut_inclusive;  // ... or score >= cut
  bool softmax;        // several outputs: the library compares probabilities
};

// An axis of values without an order. The threshold of a node on it is the number of its test.
struct SetAxis {
  int n_values = 0;                      // 0: this axis has thresholds instead
  std::span<const std::uint8_t> member;  // n_tests x n_values: whether the value goes left
};

// One step of a rule of two levels.
struct Step {
  enum class Kind : std::uint8_t { affine, sigmoid, softmax, piecewise, normalise, log, winner, exp, unknown };

  Kind kind;
  std::span<const std::int32_t> inputs;  // places of what it takes: the outputs come first, then what the steps made
  int n_results;
  std::span<const double> numbers;
  double slack;  // relative error of the library here, generously
};

// A rule of two levels: what the sums of the members go through before they decide.
struct Combination {
  std::span<const std::uint8_t> float32;  // per output
  std::span<const double> divisor;        // per output
  std::vector<Step> steps;
  int n_decisive = 0;  // results at the end, one of which is compared with the cut; 0: the rule has one level
  double cut = 0;
  std::function<int(std::span<const double>)> ask = {};  // the class of divided sums, by the library's own functions
};

// What the library returns beside a class: the sums, or what the steps make of them.
struct Response {
  std::span<const std::uint8_t> float32;  // per output
  std::span<const double> divisor;        // per output
  std::vector<Step> steps;                // none: the numbers are the divided sums
  int n_numbers = 0;                      // results at the end
};

struct Model {
  int n_outputs;  // n_classes, or 1 for a single score; those of all members of a combination
  int n_classes;
  std::span<const std::int32_t> roots;         // one per tree, in the order of adding
  std::span<const std::int32_t> feature;       // per node; -1 at a leaf
  std::span<const std::int32_t> left, right;   // per node
  std::span<const double> threshold;           // per node; left iff x <= threshold
  std::span<const std::uint8_t> missing_left;  // per node; where NaN goes
  std::span<const double> value;               // n_nodes x n_outputs
  std::span<const double> base;                // n_outputs
  std::span<const std::uint8_t> takes_nan;     // per feature; whether NaN is an input
  std::vector<SetAxis> sets;                   // per feature, or empty if all have thresholds
  Rule rule;
  Combination combination = {};

  bool is_combined() const { return combination.n_decisive > 0; }
  int n_features() const { return static_cast<int>(takes_nan.size()); }
  bool is_set(int feature_index) const { return !sets.empty() && sets[feature_index].n_values > 0; }
  std::span<const double> leaf_value(std::int32_t node) const {
    return value.subspan(static_cast<std::size_t>(node) * n_outputs, n_outputs);
  }
};

// Goes left iff x <= threshold, NaN right. Children come after their parents; subtrees may be shared.
struct Tree {
  std::span<const std::int32_t> feature;  // -1 at a leaf
  std::span<const double> threshold;
  std::span<const std::int32_t> left, right;
  std::span<const std::int32_t> class_index;  // at a leaf; one that the model does not have is never right
};

}  // namespace onetree::proof
