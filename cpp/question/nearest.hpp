// The cheapest point that is wanted, with proof, or at a limit the cheapest known and a lower bound.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "question/bound.hpp"
#include "question/demand.hpp"
#include "question/forest.hpp"

namespace onetree::question {

enum class Outcome {
  optimal,  // the point is the cheapest one
  none,     // no point that is wanted costs at most `at_most`
  limit,    // a limit was reached; the point, if there is one, may not be the cheapest
};

struct Query {
  std::span<const double> costs;  // of all options, axis after axis; infinite: not allowed
  bool largest = false;           // the largest cost of a point counts, not the sum
  double at_most = std::numeric_limits<double>::infinity();
  bool any = false;            // the first point that is found will do
  int below = -1, above = -1;  // axes with an order: the option of the first must not be larger; -1: none
};

struct Answer {
  Outcome outcome = Outcome::none;
  std::vector<std::int32_t> point;  // an option per axis; empty: none was found
  double cost = std::numeric_limits<double>::infinity();
  double lower_bound = 0;
  std::int64_t n_boxes = 0;
};

// Throws Interrupted; limits end the search with what there is.
Answer nearest(Judge& judge, const Space& space, const Forest& forest, const Query& query, Control& control);

}  // namespace onetree::question
