// Boxes of options, and the cheapest option that a box leaves of an axis.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/ensemble.hpp"

namespace onetree::question {

// What a box leaves of an axis with an order. Of an axis without one, the box holds a set of bits instead.
struct Part {
  std::int32_t first = 0, last = -1;  // options, inclusive; none if last < first
  bool missing = false;               // the option after all ordered ones is inside as well

  bool is_empty() const { return last < first && !missing; }
};

struct Box {
  std::vector<Part> parts;          // per axis
  std::vector<std::uint64_t> bits;  // of the axes without an order, one after another
};

// A test that splits an axis in two: options up to `place` go left, or those that the test of this number contains.
struct Test {
  std::int32_t axis, place;
  bool missing_left;
};

// The axes of an ensemble and the number of options on each.
class Space {
 public:
  // `n_options` counts the missing value of an axis that takes it.
  Space(const Ensemble& ensemble, std::span<const std::int32_t> n_options);

  int n_axes() const { return static_cast<int>(n_options_.size()); }
  int n_options(int axis) const { return n_options_[axis]; }
  int n_ordered(int axis) const { return n_options_[axis] - has_missing_[axis]; }
  bool has_missing(int axis) const { return has_missing_[axis] != 0; }
  bool is_set(int axis) const { return n_words_[axis] > 0; }
  std::size_t first_word(int axis) const { return first_word_[axis]; }
  std::size_t n_words(int axis) const { return n_words_[axis]; }
  std::size_t bytes_of_box() const;

  Box whole() const;
  // Whether the test sends this option left.
  bool goes_left(const Test& test, std::int32_t option) const;
  // Whether something of the box goes left, and right.
  void sides(const Box& box, const Test& test, bool& left, bool& right) const;
  // Leaves of the box what goes to one side, which is not empty.
  void narrow(Box& box, const Test& test, bool left) const;
  bool contains(const Box& box, int axis, std::int32_t option) const;

 private:
  const std::uint64_t* members(const Test& test) const {
    return members_[test.axis].data() + static_cast<std::size_t>(test.place) * n_words_[test.axis];
  }

  std::vector<std::int32_t> n_options_;
  std::vector<std::uint8_t> has_missing_;
  std::vector<std::size_t> first_word_, n_words_;    // in the bits of a box; no words: an axis with an order
  std::vector<std::vector<std::uint64_t>> members_;  // per axis: the options that go left, n_words for each test
};

// What every option costs; infinite: it must not be chosen.
class Costs {
 public:
  Costs(const Space& space, std::span<const double> costs);  // of all options, axis after axis

  double operator()(int axis, std::int32_t option) const { return costs_[begin_[axis] + option]; }
  // The cheapest option of what the box leaves of an axis, the first of several.
  std::int32_t cheapest(const Box& box, int axis) const;
  // Of the ordered options: costs never rise before the best one, and never fall after it.
  bool has_one_valley(int axis) const { return minima_[axis].has_one_valley; }
  // Whether the best option of such an axis is this one or comes before it.
  bool is_best_up_to(int axis, std::int32_t option) const { return minima_[axis].best <= option; }

 private:
  struct Minima {  // of the ordered options of an axis
    bool has_one_valley = false;
    std::int32_t best = 0;
    std::vector<std::vector<std::int32_t>> wide;  // of 2^k options from each on, otherwise
  };

  std::int32_t cheapest_between(int axis, std::int32_t first, std::int32_t last) const;

  const Space& space_;
  std::span<const double> costs_;
  std::vector<std::size_t> begin_;
  std::vector<Minima> minima_;
};

}  // namespace onetree::question
