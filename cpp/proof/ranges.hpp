// The certificate of ranges: how far the numbers of a tree are from what the library returns, at worst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "proof/model.hpp"
#include "proof/prove.hpp"

namespace onetree::proof {

// Of whole evaluations: the leaf of the tree, and n_outputs divided sums each. Gives the deviation of each, from what
// the library's own functions return, as `deviation` defines it.
using Evaluate = std::function<std::vector<double>(std::span<const std::int32_t>, std::span<const double>)>;

struct Promise {
  std::span<const double> number;  // n_nodes x n_numbers: what the leaves of the tree say
  bool relative;                   // deviations are shares of the library's number
  double known;                    // deviations up to this need not be told apart; below 0: all are
  double allowed;                  // the first deviation above this ends the proof
};

struct RangeVerdict {
  double worst = -1;          // deviation that was met; no input has a larger one, unless this is more than is allowed
  std::vector<double> point;  // an input that has it; empty: none has more than the known deviation
  std::int32_t leaf = -1;     // of the tree, where that input ends
  Counts counts;              // `fragile` counts whole evaluations
};

// Branch and bound on the trees of the ensemble, in the box of every leaf of the tree. Throws LimitReached or
// Interrupted.
RangeVerdict prove_ranges(const Model& model, const Response& response, const Tree& tree, const Promise& promise,
                          const Evaluate& evaluate, Control& control);

}  // namespace onetree::proof
