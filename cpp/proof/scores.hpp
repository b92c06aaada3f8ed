// The arithmetic of the source library: the class that leaves add up to, and what rounding leaves open.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "proof/model.hpp"

namespace onetree::proof {

class Scores {
 public:
  explicit Scores(const Model& model);

  // The class of these leaves, one per tree: added, divided and compared as the library does.
  int decide(std::span<const std::int32_t> leaves);
  // One score: whether the library gives `candidate` to sums of one number per tree. Rounded addition and division are
  // monotone, so if it does for the extreme leaf of every tree, it does for all leaves.
  bool decides(std::span<const double> extremes, int candidate);
  // Several scores: whether `rival` cannot win over `candidate` if the real sum of its score, undivided, is at most by
  // `lead` above the candidate's. `lead` may be off by the rounding of one float64 sum over the trees.
  bool is_beaten(double lead, int rival, int candidate) const;
  // A lead has to fall below this for the rival to be beaten.
  double needed() const { return exact_ ? 0 : -margin_; }

 private:
  template <typename Real>
  void add(std::span<const std::int32_t> leaves);
  int first_of_the_best() const;

  const Model& model_;
  bool exact_;     // all sums are small integers
  double margin_;  // infinite where sums could overflow
  std::vector<double> scores_;
};

}  // namespace onetree::proof
