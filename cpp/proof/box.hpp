// Boxes of inputs: an interval of slabs, or a set of values, on each axis.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "proof/model.hpp"

namespace onetree::proof {

// What a box leaves of one axis.
struct Range {
  int first = 0, last = -1;           // slabs, inclusive; none if last < first
  bool missing = false;               // NaN is inside as well
  std::vector<std::uint64_t> values;  // of a set axis, one bit each; there the other members do not count

  bool operator==(const Range&) const = default;
};

// A question that splits an axis in two.
struct Test {
  int axis;
  int place;          // the level: slabs up to this number go left; on a set axis the number of the test
  bool missing_left;  // where NaN goes
};

// The axes of an ensemble. Slab i holds the numbers above level i - 1 and up to level i.
class Axes {
 public:
  // `cuts` are numbers of the other side of the proof, per feature: they become levels, too.
  Axes(const Model& model, const std::vector<std::vector<double>>& cuts);

  int size() const { return static_cast<int>(levels_.size()); }
  bool is_set(int axis) const { return model_.is_set(axis); }
  int n_tests(int axis) const { return is_set(axis) ? static_cast<int>(tests_[axis].size()) : 0; }
  // The number of a threshold that is a level, or of a test.
  int place_of(int axis, double threshold) const;
  Test test(int axis, double threshold, bool missing_left) const;

  Range whole(int axis) const;
  // The part above `lower` and up to `upper`, where NaN stands above all numbers. Both are levels or infinite.
  Range between(int axis, double lower, double upper) const;
  bool is_empty(int axis, const Range& range) const;
  // The parts of a range that go left and right; one of them may be empty.
  std::pair<Range, Range> parts(const Range& range, const Test& test) const;
  // Whether something of the range goes left, and right.
  std::pair<bool, bool> sides(const Range& range, const Test& test) const;
  // An input of a range that is not empty; on a set axis the number of a value.
  double input(int axis, const Range& range) const;

 private:
  int n_slabs(int axis) const;

  const Model& model_;
  std::vector<std::vector<double>> levels_;                     // per axis, ascending
  std::vector<std::vector<std::vector<std::uint64_t>>> tests_;  // per set axis and test: the values that go left
};

}  // namespace onetree::proof
