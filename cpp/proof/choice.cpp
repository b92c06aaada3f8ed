#include "proof/choice.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace onetree::proof {

// On an ordered axis a test also settles the roots at other places: left of it those above, right of it those below.
Choice best_split(std::vector<Forest::Split>& splits, const Axes& axes, double needed) {
  auto order = [](const Forest::Split& a, const Forest::Split& b) {
    return std::tie(a.test.axis, a.test.place) < std::tie(b.test.axis, b.test.place);
  };
  std::sort(splits.begin(), splits.end(), order);
  const double least = 1e-3 * needed;
  Choice best{splits[0].test, 0, 0};
  double best_score = -1, best_sum = 0;
  for (std::size_t begin = 0, end; begin < splits.size(); begin = end) {
    const Test& first = splits[begin].test;
    const bool one_place = axes.is_set(first.axis);
    double left = 0, right = 0;
    for (end = begin; end < splits.size() && splits[end].test.axis == first.axis &&
                      (!one_place || splits[end].test.place == first.place);
         ++end)
      left += splits[end].gain - splits[end].gain_left;
    for (std::size_t i = begin; i < end;) {
      const Test& test = splits[i].test;
      double passed = 0;
      for (; i < end && splits[i].test.place == test.place; ++i) {
        right += splits[i].gain - splits[i].gain_right;
        passed += splits[i].gain - splits[i].gain_left;
      }
      // A side that loses nothing still leaves the other to compare.
      const double score = std::clamp(left, least, needed) * std::clamp(right, least, needed);
      if (score > best_score || (score == best_score && left + right > best_sum)) {
        best = {test, left, right};
        best_score = score;
        best_sum = left + right;
      }
      left -= passed;
    }
  }
  return best;
}

}  // namespace onetree::proof
