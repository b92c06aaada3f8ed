#include "grid/grid.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "grid/diagram.hpp"

namespace onetree {

Levels levels_of(const Ensemble& ensemble) {
  Levels levels(ensemble.n_features);
  for (std::size_t node = 0; node < ensemble.feature.size(); ++node)
    if (ensemble.feature[node] >= 0) levels[ensemble.feature[node]].push_back(ensemble.threshold[node]);
  for (int j = 0; j < ensemble.n_features; ++j) {
    std::vector<double>& t = levels[j];
    if (ensemble.is_set(j)) {
      if (!t.empty()) t.resize(ensemble.sets[j].n_tests());
      std::iota(t.begin(), t.end(), 0);
      continue;
    }
    std::sort(t.begin(), t.end());
    t.erase(std::unique(t.begin(), t.end()), t.end());
    constexpr double inf = std::numeric_limits<double>::infinity();
    if (!ensemble.nan_features[j]) {
      if (!t.empty() && t.back() == inf) t.pop_back();  // every input is on its left
    } else if (!t.empty() && t.back() != inf) {
      t.push_back(inf);
    }
  }
  return levels;
}

int n_slabs_of(const Ensemble& ensemble, const Levels& levels, int feature) {
  return ensemble.is_set(feature) ? ensemble.sets[feature].n_values : static_cast<int>(levels[feature].size()) + 1;
}

std::vector<std::size_t> cell_strides(const GridAxes& grid) {
  std::vector<std::size_t> stride(grid.n_axes());
  std::size_t step = 1;
  for (int axis = grid.n_axes(); axis-- > 0; step *= grid.axes[axis].n_slabs()) stride[axis] = step;
  return stride;
}

template <typename Cell>
std::vector<Cell> reordered_cells(const GridAxes& grid, std::span<const Cell> cells, const std::vector<int>& order) {
  if (std::is_sorted(order.begin(), order.end())) return {cells.begin(), cells.end()};
  const std::vector<std::size_t> stride = cell_strides(grid);
  const int n = grid.n_axes(), last = order[n - 1], inner = grid.axes[last].n_slabs();
  std::vector<Cell> reordered(cells.size());
  std::vector<int> slab(n, 0);
  std::size_t from = 0;
  for (Cell *out = reordered.data(), *end = out + reordered.size(); out < end; out += inner) {
    for (int i = 0; i < inner; ++i) out[i] = cells[from + i * stride[last]];
    for (int k = n - 2; k >= 0; --k) {
      from += stride[order[k]];
      if (++slab[k] < grid.axes[order[k]].n_slabs()) break;
      from -= slab[k] * stride[order[k]];
      slab[k] = 0;
    }
  }
  return reordered;
}

template std::vector<CellClass> reordered_cells(const GridAxes&, std::span<const CellClass>, const std::vector<int>&);
template std::vector<std::uint32_t> reordered_cells(const GridAxes&, std::span<const std::uint32_t>,
                                                    const std::vector<int>&);

namespace {

// Where a class is at the ends of the diagram.
class ClassEnds {
 public:
  static constexpr bool kBounds = true;

  explicit ClassEnds(const Ensemble& ensemble) : ensemble_(ensemble), decider_(ensemble) {}

  int decide(const double* low, const double* high) const { return decider_.decide(low, high); }
  bool exact() const { return decider_.exact(); }
  std::int32_t end_of(std::span<const std::int32_t> leaves) const { return ensemble_.decide(leaves); }
  void close() {}
  std::int32_t number(std::int32_t end) const { return end; }
  int n_numbers() const { return ensemble_.n_classes; }

 private:
  const Ensemble& ensemble_;
  BoundDecider decider_;
};

}  // namespace

Grid build_grid(const Ensemble& ensemble, Control& control, std::size_t max_states) {
  ClassEnds ends(ensemble);
  const Diagram diagram(ensemble, ends, control, max_states);
  Grid grid;
  if (ensemble.n_classes > kMaxCellClasses) {
    for (const std::int32_t number : diagram.numbers_that_occur()) grid.names.push_back(static_cast<Class>(number));
    if (grid.names.size() > kMaxCellClasses)
      throw GridTooLarge(std::to_string(grid.names.size()) + " classes, more than " + std::to_string(kMaxCellClasses));
  }
  std::vector<CellClass> cell_class(ensemble.n_classes);
  for (std::size_t k = 0; k < grid.names.size(); ++k) cell_class[grid.names[k]] = static_cast<CellClass>(k);
  if (grid.names.empty()) std::iota(cell_class.begin(), cell_class.end(), CellClass{0});
  grid.axes = diagram.paint(grid.classes, [&](std::int32_t number) { return cell_class[number]; });
  return grid;
}

Levels essential_levels(const Ensemble& ensemble, Control& control) {
  ClassEnds ends(ensemble);
  return Diagram(ensemble, ends, control, kMaxStates).essential_levels();
}

}  // namespace onetree
