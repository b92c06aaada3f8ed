// A class function on a small grid in reduced form: every axis has at least two slabs, neighbouring slabs differ.
//
// A hyperplane across which nothing changes inside a box can be ignored there without loss, so a box is as hard as its
// reduced function, and different boxes often share one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "grid/grid.hpp"

namespace onetree {

struct Cut {
  int axis;
  int position;  // the left side ends with this slab, inclusive
};

// How to find an axis and slab of a function again in the grid that it came from.
struct Origin {
  std::vector<int> axis;                    // per axis of the function
  std::vector<std::vector<int>> last_slab;  // per axis and slab: the last slab of the grid that it stands for
};

struct Function {
  std::vector<int> size;       // slabs per axis
  std::vector<Class> classes;  // last axis fastest

  int n_axes() const { return static_cast<int>(size.size()); }
  std::size_t n_cells() const { return classes.size(); }
  bool is_constant() const { return size.empty(); }
  int n_hyperplanes() const;
  double n_boxes() const;
};

// Where each hyperplane matters: for hyperplane h (between slabs h and h+1 of its axis) and each axis, the first and
// last slab at which the class changes across h. Tells which hyperplanes survive in each side of each cut without
// building it.
class Profile {
 public:
  // A large function takes long: `tick` is called on the way and may throw.
  explicit Profile(const Function& function, const std::function<void()>& tick = {});

  struct Range {
    int first, last;
  };
  const Range& range(int axis, int h, int along) const { return ranges_[(offset_[axis] + h) * n_axes_ + along]; }

  // Slabs that the axis keeps in one side of the cut.
  int slabs_in(const Cut& cut, bool left, int axis) const;
  double cells_in(const Cut& cut, bool left) const;
  bool survives(const Cut& cut, bool left, int axis, int h) const {
    if (axis == cut.axis) return left ? h < cut.position : h > cut.position;
    const Range& r = range(axis, h, cut.axis);
    return left ? r.first <= cut.position : r.last > cut.position;
  }

 private:
  int n_axes_;
  std::vector<int> size_;
  std::vector<int> offset_;  // per axis: number of its first hyperplane
  std::vector<Range> ranges_;
};

// The cut whose sides have the smallest sum of square roots of cells, once reduced: a good guess where none is proven.
Cut cut_of_fewest_cells(const Function& function, const Profile& profile);

// One side of a cut, reduced. `origin`, where given, is carried along.
Function side_of(const Function& function, const Profile& profile, const Cut& cut, bool left,
                 const Origin* origin = nullptr, Origin* origin_of_side = nullptr);

// Numbers the classes from 0 on, in the order of their appearance; returns how many there are.
int rename_classes(std::vector<Class>& classes);

Function function_of(const Grid& grid);
Origin origin_of(const Grid& grid);

}  // namespace onetree
