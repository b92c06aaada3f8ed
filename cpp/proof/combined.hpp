// What a rule of two levels says of bounds: an implementation of its own, as the proof has of everything.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "proof/model.hpp"
#include "proof/steps.hpp"

namespace onetree::proof {

class Combined {
 public:
  explicit Combined(const Model& model);

  // The class of these leaves, one per tree, as the library computes it.
  int decide(std::span<const std::int32_t> leaves);
  // From the least and largest sums, undivided and up to rounding: the most by which each class can be ahead of the
  // candidate. Below zero it cannot win.
  void leads(std::span<const double> least, std::span<const double> most, int candidate, std::vector<double>& leads);
  // Per end of each output, as Forest::splits takes them: how much of the lead of a rival is gone when the sum is
  // known, per unit of what was open of it.
  void weigh(std::vector<double> least, std::vector<double> most, int candidate, int rival,
             std::vector<double>& weights);

 private:
  // After the sums were put into the registers.
  void run();
  int only_winner() const;

  const Model& model_;
  std::vector<double> error_;  // per output, of an undivided sum
  Registers registers_{false};
  std::vector<double> leads_;
};

}  // namespace onetree::proof
