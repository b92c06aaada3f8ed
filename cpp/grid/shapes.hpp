// How the tests of axes without an order tell their values apart: every way met so far, once.
//
// Boxes that hold the same function under tests that tell their values apart in the same way are one function, so such
// an axis is known by its shape only. Does not list families of sets, so it serves axes that have too many of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/interner.hpp"
#include "model/set_axis.hpp"

namespace onetree {

class Shapes {
 public:
  int add(const SetAxis& axis);
  const SetAxis& operator[](int shape) const { return entries_[shape].axis; }
  // No path of a tree has more tests of the axis that tell something.
  int longest_path(int shape) const;
  // Sets that conjunctions of tests leave; HUGE_VAL where there are too many to list.
  double n_sets(int shape);

  struct Side {
    int shape = -1;
    std::vector<int> values;  // that it keeps of the whole, ascending
  };
  const Side& side(int shape, int test, bool inside);

  // What every leaf contains that contains both of two values, and what tells two values apart.
  struct Pairs {
    static constexpr int kMaxValues = 64;
    std::vector<std::uint64_t> hull;             // per two values: bits of values
    std::vector<int> only_test;                  // that tells them apart, or -1: there are several
    bool empty() const { return hull.empty(); }  // there are too many values
  };
  const Pairs& pairs(int shape);

  std::size_t bytes() const { return bytes_ + keys_.bytes(); }

 private:
  struct Entry {
    SetAxis axis;
    std::vector<Side> sides;  // inside and outside of every test
    double n_sets = 0;        // 0: not counted yet
    bool has_pairs = false;
    Pairs pairs;
  };
  int intern(SetAxis shape);

  Interner keys_;
  std::deque<Entry> entries_;  // do not move
  std::size_t bytes_ = 0;
};

struct AxisTest {
  int test;
  bool is_swapped;  // its inside is the other side of what was asked for
};
// The test of an axis that splits some of its values as a test of their shape does.
AxisTest axis_test(const SetAxis& axis, const std::vector<int>& values, const SetAxis& shape, int test_of_shape);
// The first test that tells two values apart; not swapped if it has the first of them inside.
AxisTest test_between(const SetAxis& axis, int value, int other);

}  // namespace onetree
