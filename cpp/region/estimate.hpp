// How large the tree of an ensemble would be, and how long it would take, before the work is done.
#pragma once

#include <cstdint>

#include "base/control.hpp"
#include "model/ensemble.hpp"
#include "region/score_bounds.hpp"
#include "tree/solution.hpp"

namespace onetree {

struct Quantity {
  double mean = 0, low = 0, high = 0;
};

struct Estimate {
  Quantity leaves, seconds, bytes;
  bool is_exact = false;   // the whole grid was solved: the number of leaves is known
  bool is_beyond = false;  // kHopeless leaves and more, or probes were cut off: the means are lower bounds
  double boxes = 0;        // of the whole grid, if it could be enumerated; otherwise 0
  std::int64_t n_probes = 0;
};

inline constexpr double kHopeless = 1e12;

// Random descents through the tree that the heuristic would build (Knuth 1975): each is weighted by the inverse of its
// probability, so the mean is right whatever the chances; they favour the side with more cells to keep the spread
// small. Leaves count on every path that leads to them. Work is done once for each region, however many paths lead
// there, so a region's time is weighted by the inverse of its own probability, the sum over the paths that are known.
Estimate estimate(const Ensemble& ensemble, Objective objective, double max_boxes, double seconds, std::uint64_t seed,
                  Control& control);
Estimate estimate(const Ensemble& ensemble, const Scoring& scoring, Objective objective, double max_boxes,
                  double seconds, std::uint64_t seed, Control& control);

}  // namespace onetree
