#include "grid/grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "grid/restricted_trees.hpp"

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

namespace {

constexpr double kMaxCells = 0x1p32;
constexpr double kCopies = 6;
constexpr double kSecondsPerCell = 1e-8;  // to paint it, copy it and look at it a few times
constexpr std::size_t kCellsBetweenChecks = 1 << 26;

// Numbers below n_classes are classes; the rest are nodes of the diagram, n_classes + index.
using Function = std::int32_t;

class Diagram {
 public:
  Diagram(const Ensemble& ensemble, Control& control, std::size_t max_states)
      : ensemble_(ensemble),
        control_(control),
        max_states_(max_states),
        levels_(levels_of(ensemble)),
        decider_(ensemble),
        layer_of_feature_(order_features()),
        trees_(ensemble, levels_, layer_of_feature_, control),
        layers_(feature_of_layer_.size()) {
    open_states();
    reduce();
  }

  Levels essential_levels() const;
  Grid grid() const;
  std::vector<Class> classes_that_occur() const;

 private:
  struct Layer {
    Interner states;              // in the order in which they were met
    std::vector<Function> child;  // per state and slab: a class, or -1 - state of layer `child_layer`
    std::vector<std::int32_t> child_layer;
    std::vector<Function> function;  // per state, once reduced
    Interner rows;                   // distinct rows of child functions
    std::vector<Function> node_of_row;
    std::vector<char> essential;  // per slab but the last: whether the class changes anywhere from it to the next
  };

  int n_slabs(int layer) const { return n_slabs_of(ensemble_, levels_, feature_of_layer_[layer]); }
  Axis axis_of(int layer, std::vector<int>& representatives) const;
  Axis set_axis_of(int layer, std::vector<int>& representatives) const;

  // Features used by many splits come first: they settle most trees.
  std::vector<int> order_features() {
    std::vector<int> uses(ensemble_.n_features);
    for (const std::int32_t feature : ensemble_.feature)
      if (feature >= 0) ++uses[feature];
    for (int j = 0; j < ensemble_.n_features; ++j)
      if (!levels_[j].empty()) feature_of_layer_.push_back(j);
    std::stable_sort(feature_of_layer_.begin(), feature_of_layer_.end(),
                     [&](int a, int b) { return uses[a] > uses[b]; });
    std::vector<int> layer_of(ensemble_.n_features, -1);
    for (std::size_t layer = 0; layer < feature_of_layer_.size(); ++layer)
      layer_of[feature_of_layer_[layer]] = static_cast<int>(layer);
    return layer_of;
  }

  // Turns restricted trees, added to base_, into a class or into -1 - state of the layer they wait for.
  Function classify(const std::vector<std::int32_t>& ids, std::int32_t& layer);

  void count_state(int layer);
  void open_states();
  void reduce();

  const Ensemble& ensemble_;
  Control& control_;
  const std::size_t max_states_;
  Levels levels_;
  BoundDecider decider_;
  std::vector<int> feature_of_layer_;
  std::vector<int> layer_of_feature_;
  RestrictedTrees trees_;
  std::vector<Layer> layers_;
  std::vector<std::pair<int, std::int32_t>> nodes_;  // layer, and row in it, of every diagram node
  Function root_ = 0;
  std::int32_t root_layer_ = 0;
  std::vector<std::size_t> waiting_;
  std::vector<double> base_, low_, high_;
  std::vector<std::int32_t> key_;
  std::size_t n_states_ = 0;
  std::size_t bytes_ = 0;  // of states and their children
};

Function Diagram::classify(const std::vector<std::int32_t>& ids, std::int32_t& layer) {
  const int n = ensemble_.n_outputs;
  low_ = high_ = base_;
  layer = RestrictedTrees::kLeafLayer;
  for (const std::int32_t id : ids) {
    const double *low = trees_.low(id), *high = trees_.high(id);
    for (int k = 0; k < n; ++k) low_[k] += low[k];
    for (int k = 0; k < n; ++k) high_[k] += high[k];
    layer = std::min(layer, trees_[id].layer);
  }
  const int decided = decider_.decide(low_.data(), high_.data());
  if (decided >= 0) return decided;
  if (layer == RestrictedTrees::kLeafLayer) {
    key_.clear();  // sums that are exact have decided above: low and high are the same
    for (const std::int32_t id : ids) key_.push_back(trees_[id].left);
    return ensemble_.decide(key_);
  }
  if (decider_.exact()) {
    // Only the sums of settled trees and the multiset of the others matter.
    key_.clear();
    low_ = base_;
    for (const std::int32_t id : ids) {
      if (trees_[id].layer != RestrictedTrees::kLeafLayer)
        key_.push_back(id);
      else
        for (int k = 0; k < n; ++k) low_[k] += trees_.low(id)[k];
    }
    std::sort(key_.begin(), key_.end());
    const double smallest = n == 1 ? 0 : *std::min_element(low_.begin(), low_.end());
    for (int k = 0; k < n; ++k) key_.push_back(static_cast<std::int32_t>(low_[k] - smallest));
  } else {
    key_ = ids;
  }
  const auto [state, is_new] = layers_[layer].states.intern(key_);
  if (is_new) count_state(layer);
  return -1 - state;
}

void Diagram::count_state(int layer) {
  ++n_states_;
  bytes_ += key_.size() * sizeof(std::int32_t) + n_slabs(layer) * (sizeof(Function) + sizeof(std::int32_t)) + 32;
  if (n_states_ > max_states_) throw GridTooLarge("more than " + std::to_string(max_states_) + " states");
  if (bytes_ > control_.memory_limit) throw GridTooLarge("its states alone pass the memory limit");
}

void Diagram::open_states() {
  base_.assign(ensemble_.base.begin(), ensemble_.base.end());
  std::int32_t layer_of_root = 0;
  root_ = classify(trees_.roots(), layer_of_root);
  if (root_ < 0) root_layer_ = layer_of_root;
  std::vector<std::int32_t> ids, restricted;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    Layer& here = layers_[layer];
    const int slabs = n_slabs(static_cast<int>(layer));
    here.child.resize(static_cast<std::size_t>(here.states.size()) * slabs);
    here.child_layer.resize(here.child.size());
    for (std::int32_t state = 0; state < here.states.size(); ++state) {
      if (state % 256 == 255) control_.check("grid", -1, -1, static_cast<std::int64_t>(n_states_));
      const std::span<const std::int32_t> key = here.states.key(state);
      const std::size_t n_folded = decider_.exact() ? ensemble_.n_outputs : 0;
      ids.assign(key.begin(), key.end() - n_folded);
      if (n_folded) base_.assign(key.end() - n_folded, key.end());
      waiting_.clear();
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (trees_[ids[i]].layer == static_cast<int>(layer)) {
          trees_.ensure_row(ids[i]);
          waiting_.push_back(i);
        }
      Function* child = here.child.data() + static_cast<std::size_t>(state) * slabs;
      std::int32_t* child_layer = here.child_layer.data() + static_cast<std::size_t>(state) * slabs;
      restricted = ids;
      for (int slab = 0; slab < slabs; ++slab) {
        bool same = slab > 0;
        for (const std::size_t i : waiting_) {
          const std::int32_t id = trees_.row(ids[i])[slab];
          same &= id == restricted[i];
          restricted[i] = id;
        }
        if (same) {
          child[slab] = child[slab - 1];
          child_layer[slab] = child_layer[slab - 1];
        } else {
          child[slab] = classify(restricted, child_layer[slab]);
        }
      }
    }
  }
}

void Diagram::reduce() {
  for (std::size_t layer = layers_.size(); layer-- > 0;) {
    Layer& here = layers_[layer];
    const int slabs = n_slabs(static_cast<int>(layer));
    here.function.resize(here.states.size());
    here.essential.assign(slabs - 1, 0);
    key_.resize(slabs);
    for (std::int32_t state = 0; state < here.states.size(); ++state) {
      const std::size_t at = static_cast<std::size_t>(state) * slabs;
      bool constant = true;
      for (int slab = 0; slab < slabs; ++slab) {
        const Function child = here.child[at + slab];
        key_[slab] = child >= 0 ? child : layers_[here.child_layer[at + slab]].function[-1 - child];
        if (slab > 0 && key_[slab] != key_[slab - 1]) {
          here.essential[slab - 1] = 1;
          constant = false;
        }
      }
      if (constant) {
        here.function[state] = key_[0];
        continue;
      }
      const auto [row, is_new] = here.rows.intern(key_);
      if (is_new) {
        here.node_of_row.push_back(ensemble_.n_classes + static_cast<Function>(nodes_.size()));
        nodes_.emplace_back(static_cast<int>(layer), row);
      }
      here.function[state] = here.node_of_row[row];
    }
    here.child = {};
    here.child_layer = {};
    here.states = Interner();
  }
  if (root_ < 0) root_ = layers_[root_layer_].function[-1 - root_];
}

Levels Diagram::essential_levels() const {
  Levels essential(ensemble_.n_features);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    std::vector<int> representatives;
    Axis axis = axis_of(static_cast<int>(layer), representatives);
    essential[axis.feature] = std::move(axis.thresholds);
  }
  return essential;
}

// What is left of a layer, and the slab of the full grid that stands for each slab of the axis. Without thresholds: the
// class does not depend on the feature.
Axis Diagram::axis_of(int layer, std::vector<int>& representatives) const {
  const std::vector<char>& essential = layers_[layer].essential;
  Axis axis{feature_of_layer_[layer], {}, {}};
  if (std::find(essential.begin(), essential.end(), 1) == essential.end()) return axis;
  if (ensemble_.is_set(axis.feature)) return set_axis_of(layer, representatives);
  for (std::size_t h = 0; h < essential.size(); ++h)
    if (essential[h]) {
      axis.thresholds.push_back(levels_[axis.feature][h]);
      representatives.push_back(static_cast<int>(h));
    }
  representatives.push_back(static_cast<int>(essential.size()));
  return axis;
}

// A test that changes nothing by itself, or that no split names any more, can still stand for several others, so all
// that differ are kept; but values that none of them tells apart are one.
Axis Diagram::set_axis_of(int layer, std::vector<int>& representatives) const {
  Axis axis{feature_of_layer_[layer], {}, {}};
  const SetAxis& whole = ensemble_.sets[axis.feature];
  Interner tests, columns;
  std::vector<std::int32_t> bits;
  for (const double test : levels_[axis.feature]) {
    const bool turned = whole.contains(static_cast<int>(test), 0);  // a test and its complement are one
    bits.clear();
    for (int value = 0; value < whole.n_values; ++value)
      bits.push_back(whole.contains(static_cast<int>(test), value) != turned);
    if (std::find(bits.begin(), bits.end(), 1) == bits.end()) continue;
    if (tests.intern(bits).is_new) axis.thresholds.push_back(test);
  }
  for (int value = 0; value < whole.n_values; ++value) {
    bits.clear();
    for (const double test : axis.thresholds) bits.push_back(whole.contains(static_cast<int>(test), value));
    if (columns.intern(bits).is_new) representatives.push_back(value);
  }
  axis.set.n_values = static_cast<int>(representatives.size());
  for (const double test : axis.thresholds)
    for (const int value : representatives) axis.set.member.push_back(whole.contains(static_cast<int>(test), value));
  return axis;
}

// Ascending. Throws GridTooLarge where there are more than the cells of a grid can tell apart.
std::vector<Class> Diagram::classes_that_occur() const {
  std::vector<char> occurs(ensemble_.n_classes, 0);
  if (root_ < ensemble_.n_classes) occurs[root_] = 1;
  for (const auto& [layer, row] : nodes_)
    for (const std::int32_t child : layers_[layer].rows.key(row))
      if (child < ensemble_.n_classes) occurs[child] = 1;
  std::vector<Class> classes;
  for (int k = 0; k < ensemble_.n_classes; ++k)
    if (occurs[k]) classes.push_back(static_cast<Class>(k));
  if (classes.size() > kMaxCellClasses)
    throw GridTooLarge(std::to_string(classes.size()) + " classes, more than " + std::to_string(kMaxCellClasses));
  return classes;
}

Grid Diagram::grid() const {
  Grid grid;
  // Per axis: its layer, and the slab of the full grid that stands for each slab that is left.
  std::vector<int> axis_layer;
  std::vector<std::vector<int>> kept;
  double n_cells = 1;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    std::vector<int> representatives;
    Axis axis = axis_of(static_cast<int>(layer), representatives);
    if (axis.thresholds.empty()) continue;
    n_cells *= axis.n_slabs();
    grid.axes.push_back(std::move(axis));
    axis_layer.push_back(static_cast<int>(layer));
    kept.push_back(std::move(representatives));
  }
  // Engines copy the cells a few times.
  if (kCopies * n_cells > static_cast<double>(control_.memory_limit) || n_cells > kMaxCells)
    throw GridTooLarge(std::to_string(n_cells) + " cells");
  const bool takes_long = n_cells > static_cast<double>(kCellsBetweenChecks);
  if (takes_long && control_.time_limit > 0 && control_.elapsed() + kSecondsPerCell * n_cells > control_.time_limit)
    throw GridTooLarge(std::to_string(n_cells) + " cells, more than there is time to look at");
  // In steps that take no time to speak of: memory is touched here for the first time.
  grid.classes.reserve(static_cast<std::size_t>(n_cells));
  while (grid.classes.size() < static_cast<std::size_t>(n_cells)) {
    if (takes_long) control_.check("grid", -1, -1, static_cast<std::int64_t>(n_states_));
    grid.classes.resize(std::min(static_cast<std::size_t>(n_cells), grid.classes.size() + kCellsBetweenChecks));
  }

  std::vector<CellClass> cell_class(ensemble_.n_classes);
  if (ensemble_.n_classes > kMaxCellClasses) grid.names = classes_that_occur();
  for (std::size_t k = 0; k < grid.names.size(); ++k) cell_class[grid.names[k]] = static_cast<CellClass>(k);
  if (grid.names.empty()) std::iota(cell_class.begin(), cell_class.end(), CellClass{0});

  const int n_axes = grid.n_axes();
  std::vector<std::size_t> block(n_axes + 1, 1);  // cells below one slab of the axis before
  for (int axis = n_axes; axis-- > 0;) block[axis] = block[axis + 1] * grid.axes[axis].n_slabs();
  // A function met again on the same axis is copied from where it was painted first.
  CellClass* cells = grid.classes.data();
  std::vector<std::size_t> painted(nodes_.size(), ~std::size_t{0});
  std::size_t next_check = kCellsBetweenChecks;
  auto fill = [&](auto&& self, Function function, int axis, std::size_t at) -> void {
    if (at >= next_check) {
      control_.check("grid", -1, -1, static_cast<std::int64_t>(n_states_));
      next_check = at + kCellsBetweenChecks;
    }
    if (function < ensemble_.n_classes) {
      std::memset(cells + at, cell_class[function], block[axis]);
      return;
    }
    const auto [layer, row] = nodes_[function - ensemble_.n_classes];
    std::size_t& first = painted[function - ensemble_.n_classes];
    int own = axis;  // the function does not depend on the axes before its own
    while (axis_layer[own] != layer) ++own;
    if (first != ~std::size_t{0}) {
      std::memcpy(cells + at, cells + first, block[own]);
    } else {
      const std::span<const std::int32_t> child = layers_[layer].rows.key(row);
      for (std::size_t slab = 0; slab < kept[own].size(); ++slab)
        self(self, child[kept[own][slab]], own + 1, at + slab * block[own + 1]);
      first = at;
    }
    for (std::size_t done = block[own]; done < block[axis]; done += block[own])
      std::memcpy(cells + at + done, cells + at, block[own]);
  };
  fill(fill, root_, 0, 0);
  return grid;
}

}  // namespace

std::vector<std::size_t> cell_strides(const Grid& grid) {
  std::vector<std::size_t> stride(grid.n_axes());
  std::size_t step = 1;
  for (int axis = grid.n_axes(); axis-- > 0; step *= grid.axes[axis].n_slabs()) stride[axis] = step;
  return stride;
}

std::vector<CellClass> reordered_cells(const Grid& grid, const std::vector<int>& order) {
  if (std::is_sorted(order.begin(), order.end())) return grid.classes;
  const std::vector<std::size_t> stride = cell_strides(grid);
  const int n = grid.n_axes(), last = order[n - 1], inner = grid.axes[last].n_slabs();
  std::vector<CellClass> cells(grid.n_cells());
  std::vector<int> slab(n, 0);
  std::size_t from = 0;
  for (CellClass *out = cells.data(), *end = out + cells.size(); out < end; out += inner) {
    for (int i = 0; i < inner; ++i) out[i] = grid.classes[from + i * stride[last]];
    for (int k = n - 2; k >= 0; --k) {
      from += stride[order[k]];
      if (++slab[k] < grid.axes[order[k]].n_slabs()) break;
      from -= slab[k] * stride[order[k]];
      slab[k] = 0;
    }
  }
  return cells;
}

Grid build_grid(const Ensemble& ensemble, Control& control, std::size_t max_states) {
  return Diagram(ensemble, control, max_states).grid();
}

Levels essential_levels(const Ensemble& ensemble, Control& control) {
  return Diagram(ensemble, control, kMaxStates).essential_levels();
}

}  // namespace onetree
