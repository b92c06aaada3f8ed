// A class function on a small grid in reduced form: no axis is idle, and neighbouring slabs differ where there is an
// order.
//
// A hyperplane across which nothing changes inside a box can be ignored there without loss, so a box is as hard as its
// reduced function, and different boxes often share one. An axis without an order is kept whole or dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "grid/grid.hpp"
#include "grid/shapes.hpp"

namespace onetree {

inline constexpr int kOrdered = -1;  // in place of a shape

struct Cut {
  int axis;
  int position;  // the left side ends with this slab, inclusive; or it is the inside of this test of the axis' shape
};

// How to find an axis and slab of a function again in the grid that it came from.
struct Origin {
  std::vector<int> axis;                    // per axis of the function
  std::vector<std::vector<int>> last_slab;  // per axis and slab: the last slab of the grid that it stands for
};

struct Extent {              // the axes of a function, whatever its cells hold
  std::vector<int> size;     // slabs per axis, or values
  std::vector<int> shape{};  // per axis: its number or kOrdered; empty where every axis has an order

  int n_axes() const { return static_cast<int>(size.size()); }
  bool is_constant() const { return size.empty(); }
  bool has_sets() const { return !shape.empty(); }
  bool is_set(int axis) const { return !shape.empty() && shape[axis] != kOrdered; }
};

struct Function : Extent {
  std::vector<CellClass> classes;  // last axis fastest

  std::size_t n_cells() const { return classes.size(); }
};

// Cuts are numbered axis by axis.
int n_cuts(const Extent& function, const Shapes& shapes, int axis);
int n_cuts(const Extent& function, const Shapes& shapes);
Cut cut_at(const Extent& function, const Shapes& shapes, int number);
int number_of(const Extent& function, const Shapes& shapes, const Cut& cut);

// No path of a tree needs more cuts.
int longest_path(const Extent& function, const Shapes& shapes);
double n_boxes(const Extent& function, Shapes& shapes);

// The axes of a grid, those without an order first; `order` becomes theirs in the grid.
Extent extent_of(const GridAxes& grid, Shapes& shapes, std::vector<int>& order, Origin* origin);
// What one side of a cut keeps of the axis that is cut: its slabs or values, ascending; and their shape.
int keep_on_cut_axis(const Extent& function, Shapes& shapes, const Cut& cut, bool left, std::vector<int>& kept);
// Where all axes have an order, none needs a shape.
void forget_shapes_of_order(Extent& function);

// Where each hyperplane matters: for hyperplane h (between slabs h and h+1 of its axis) and each axis, the first and
// last slab at which the class changes across h, or all such values. An axis without an order counts as one hyperplane,
// which matters where the class depends on it. Tells what survives in each side of each cut without building it.
class Profile {
 public:
  // A large function takes long: `tick` is called on the way and may throw. The shapes must outlive this object.
  Profile(const Function& function, Shapes& shapes, const std::function<void()>& tick = {});

  struct Range {
    int first, last;
  };
  const Range& range(int axis, int h, int along) const { return ranges_[(offset_[axis] + h) * n_axes_ + along]; }

  // Slabs that the axis keeps in one side of the cut.
  int slabs_in(const Cut& cut, bool left, int axis) const;
  double cells_in(const Cut& cut, bool left) const;
  bool survives(const Cut& cut, bool left, int axis, int h) const {
    if (is_set(cut.axis)) return survives_test(cut, left, axis, h);
    if (axis == cut.axis) return left ? h < cut.position : h > cut.position;
    const Range& r = range(axis, h, cut.axis);
    return left ? r.first <= cut.position : r.last > cut.position;
  }
  Shapes& shapes() const { return shapes_; }

 private:
  void look_across(const Function& function, int axis, std::size_t inner, std::size_t outer,
                   const std::function<void()>& tick);
  void note(std::uint8_t* marked, std::size_t n, int first, int last, int hyperplane);
  void find_equal_values(const Function& function, int axis);
  bool is_set(int axis) const { return !shape_.empty() && shape_[axis] != kOrdered; }
  bool survives_test(const Cut& cut, bool left, int axis, int h) const;

  int n_axes_;
  Shapes& shapes_;
  std::vector<int> size_, shape_;  // as in the function
  std::vector<int> offset_;        // per axis: number of its first hyperplane
  std::vector<Range> ranges_;
  // Of axes without an order only, one after the other.
  std::size_t n_values_ = 0;
  std::vector<std::size_t> first_value_;  // per axis
  std::vector<std::uint8_t> matters_at_;  // per hyperplane and value
  std::vector<int> equal_to_;             // per value: the first one of its axis with the same classes
};

// The cut whose sides have the smallest sum of square roots of cells, once reduced: a good guess where none is proven.
Cut cut_of_fewest_cells(const Function& function, const Profile& profile);

// One side of a cut, reduced. `origin`, where given, is carried along.
Function side_of(const Function& function, const Profile& profile, const Cut& cut, bool left,
                 const Origin* origin = nullptr, Origin* origin_of_side = nullptr);

// Numbers the classes from 0 on, in the order of their appearance; returns how many there are.
int rename_classes(std::vector<CellClass>& classes);

// Axes without an order come first.
Function function_of(const Grid& grid, Shapes& shapes, Origin* origin = nullptr);

// A cut of a function as a split of the grid that it came from.
struct GridSplit {
  int feature;
  double threshold;
  bool is_swapped;  // its left side is the right side of the cut
  int axis;         // of the grid
  int position;     // among the thresholds of that axis
};
GridSplit grid_split(const std::vector<Axis>& axes, const Extent& function, const Shapes& shapes, const Origin& origin,
                     const Cut& cut);

}  // namespace onetree
