// From thresholds to integers: the levels of each feature, the hyperplanes that matter, the class of every cell.
//
// The class function is first built as a decision diagram (diagram.hpp), so hyperplanes across which the class never
// changes are known, and dropped, before any grid is enumerated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/control.hpp"
#include "base/interner.hpp"
#include "model/ensemble.hpp"
#include "model/set_axis.hpp"

namespace onetree {

// Slab s of a feature holds thresholds[s-1] < x <= thresholds[s]. Where NaN is an input the last threshold is +inf and
// the slab above it is NaN.
using Levels = std::vector<std::vector<double>>;

// Of a set axis: the numbers of all its tests, if a split uses one.
Levels levels_of(const Ensemble& ensemble);

int n_slabs_of(const Ensemble& ensemble, const Levels& levels, int feature);

struct Axis {
  int feature;                     // index in the ensemble
  std::vector<double> thresholds;  // ascending; of a set axis, the numbers of its tests in the ensemble
  SetAxis set{};                   // one test per threshold; its slabs are its values
  int n_slabs() const { return set ? set.n_values : static_cast<int>(thresholds.size()) + 1; }
};

// A class, by its number among those that a grid has. One byte, since cells are many and classes few: models may have
// more than bytes can tell, but then few of them in the grids that are worth enumerating.
using CellClass = std::uint8_t;
inline constexpr int kMaxCellClasses = 256;

struct GridAxes {
  std::vector<Axis> axes;  // features with an essential hyperplane, in the order that suited the diagram

  int n_axes() const { return static_cast<int>(axes.size()); }
  bool has_order() const {  // some axis has
    return std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return !axis.set; });
  }
  bool has_sets() const {
    return std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return static_cast<bool>(axis.set); });
  }
};

struct Grid : GridAxes {
  std::vector<CellClass> classes;  // per cell, last axis fastest
  std::vector<Class> names;        // of these classes in the ensemble, ascending; empty where they are the same

  std::size_t n_cells() const { return classes.size(); }
  // Neighbours then differ in class, so that the best trees are known without a search.
  bool is_line() const { return axes.size() == 1 && !axes[0].set; }
};

// Strides of a grid's cells, last axis fastest.
std::vector<std::size_t> cell_strides(const GridAxes& grid);
// Its cells with the axes in another order.
template <typename Cell>
std::vector<Cell> reordered_cells(const GridAxes& grid, std::span<const Cell> cells, const std::vector<int>& order);

// The grid does not fit in the memory limit, or has more states than can be worth enumerating.
struct GridTooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A diagram of more states takes long, and its grid is far too large for exact search anyway.
inline constexpr std::size_t kMaxStates = std::size_t{1} << 23;

// Throws GridTooLarge, or LimitReached when time is up.
Grid build_grid(const Ensemble& ensemble, Control& control, std::size_t max_states = kMaxStates);

// Per feature, the thresholds across which the class changes somewhere, or the tests of a set axis that matters.
Levels essential_levels(const Ensemble& ensemble, Control& control);

}  // namespace onetree
