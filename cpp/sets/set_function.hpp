// A class function on a box of sets in reduced form, without the axes on which nothing depends.
//
// Boxes that hold the same function under tests that tell their values apart in the same way are one function: an axis
// is known by its shape only. Does not list families of sets, so it serves axes that have too many of them as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/interner.hpp"
#include "grid/grid.hpp"

namespace onetree {

// Every shape met so far, once.
class SetShapes {
 public:
  int add(const SetAxis& axis);
  const SetAxis& operator[](int shape) const { return entries_[shape].axis; }
  // No path of a tree has more tests of the axis that tell something.
  int longest_path(int shape) const;

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
    bool has_pairs = false;
    Pairs pairs;
  };
  int intern(SetAxis shape);

  Interner keys_;
  std::deque<Entry> entries_;  // do not move
  std::size_t bytes_ = 0;
};

struct SetFunction {
  std::vector<int> shape;      // per axis
  std::vector<int> size;       // values per axis
  std::vector<Class> classes;  // last axis fastest

  int n_axes() const { return static_cast<int>(shape.size()); }
  std::size_t n_cells() const { return classes.size(); }
  bool is_constant() const { return shape.empty(); }
};

// How to find an axis and a test of a function again in the grid that it came from.
struct SetOrigin {
  std::vector<int> axis;                 // per axis of the function
  std::vector<std::vector<int>> values;  // per axis of the function: the values of the grid
};

struct ShapeTest {
  int axis;  // of the function
  int test;  // of its shape
};

// Both fill `origin` where it is given.
SetFunction set_function_of(const Grid& grid, SetShapes& shapes, SetOrigin* origin = nullptr);
SetFunction side_of(const SetFunction& function, SetShapes& shapes, const ShapeTest& cut, bool inside,
                    const SetOrigin* origin = nullptr, SetOrigin* origin_of_side = nullptr);

// Tests of a function are numbered axis by axis.
int count_tests(const SetFunction& function, const SetShapes& shapes);
ShapeTest test_at(const SetFunction& function, const SetShapes& shapes, int number);
int number_of(const SetFunction& function, const SetShapes& shapes, const ShapeTest& cut);

struct GridTest {
  int axis, test;   // of the grid
  bool is_swapped;  // its inside is the outside of the function's test
};
GridTest grid_test(const Grid& grid, const SetFunction& function, const SetShapes& shapes, const SetOrigin& origin,
                   const ShapeTest& cut);

}  // namespace onetree
