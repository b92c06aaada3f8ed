// Rules of two levels: what the members' sums become before they decide, as bounds.
//
// Bounds are for the real numbers that the library's own arithmetic approximates, widened by what it may be off. Where
// they do not tell, the library's functions themselves are asked, through a callback.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace onetree {

struct Operation {
  enum class Kind : std::uint8_t { affine, sigmoid, softmax, piecewise, normalise, log, winner, exp };

  Kind kind;
  std::vector<std::int32_t> inputs;  // registers: those of the outputs come first, then the results one after another
  int n_results;
  // affine: a row of factors per result, then what is added to each. sigmoid: a factor of the input. piecewise:
  // ascending places, then the value at each. log: what is added first. winner of one input: the cut.
  std::vector<double> numbers;
  double slack;  // relative error of the library here, generously
};

struct Between {
  double low, high;
};

struct Combination {
  std::vector<std::uint8_t> float32;  // per output: the library adds in float32
  std::vector<double> divisor;        // per output
  std::vector<Operation> operations;
  int n_decisive =
      0;  // registers that decide: the last ones. One is compared with the cut, of several the largest wins
  double cut = 0;
  // The class of divided sums, by the library's own functions. May be called from any thread, one at a time.
  std::function<int(std::span<const double>)> ask;

  int n_outputs() const { return static_cast<int>(divisor.size()); }
  // From bounds of the divided sums to bounds of what decides; of one that is compared with the cut, of it and the cut:
  // the cut first.
  void bounds(std::span<const Between> sums, std::vector<Between>& decisive) const;
  // Appends the results of all operations to bounds of the divided sums.
  void run(std::vector<Between>& registers) const;
  // The class that wins wherever inside these bounds, or -1.
  int clear_winner(std::span<const Between> decisive) const;
  // The class of divided sums as the library computes them.
  int decide(std::span<const double> sums) const;
  // Likely the class; rounding is left alone.
  int guess(std::span<const double> sums) const;

 private:
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, int> known_;  // sums that were asked for, by their bytes
};

}  // namespace onetree
