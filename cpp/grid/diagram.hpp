// The decision diagram of an ensemble, one layer a feature, for whatever its sums are turned into.
//
// Its states are the trees restricted to the slabs chosen so far. Equal states are met once and decided states are not
// opened, so what does not matter is known before any grid is enumerated.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "grid/grid.hpp"
#include "grid/restricted_trees.hpp"

namespace onetree {

inline constexpr double kMaxCells = 0x1p32;
inline constexpr double kCopies = 6;
inline constexpr double kSecondsPerCell = 1e-8;  // to paint it, copy it and look at it a few times
inline constexpr std::size_t kCellsBetweenChecks = 1 << 26;

// `Ends` says what is at the ends of the diagram:
//   kBounds                   whether bounds of the sums can settle an end; if so, decide(low, high): that end, or -1
//   exact()                   sums are integers, and settle an end by their leads: their order does not matter
//   end_of(leaves)            the end that these leaves lead to, a number of 0 or above
//   close()                   called once, when all ends have been met
//   number(end), n_numbers()  after that: ends of one number are the same
template <typename Ends>
class Diagram {
 public:
  Diagram(const Ensemble& ensemble, Ends& ends, Control& control, std::size_t max_states)
      : ensemble_(ensemble),
        ends_(ends),
        control_(control),
        max_states_(max_states),
        levels_(levels_of(ensemble)),
        layer_of_feature_(order_features()),
        trees_(ensemble, levels_, layer_of_feature_, control),
        layers_(feature_of_layer_.size()) {
    open_states();
    ends_.close();
    reduce();
  }

  Levels essential_levels() const;
  // Ascending: the numbers of ends that the function has.
  std::vector<std::int32_t> numbers_that_occur() const;
  // The axes that matter, and in `cells` the number of every cell, as `cell_of` writes it.
  template <typename Cell, typename CellOf>
  std::vector<Axis> paint(std::vector<Cell>& cells, const CellOf& cell_of) const;

 private:
  // Numbers below n_numbers are ends; the rest are nodes of the diagram, n_numbers + index.
  using Value = std::int32_t;

  struct Layer {
    Interner states;           // in the order in which they were met
    std::vector<Value> child;  // per state and slab: an end, or -1 - state of layer `child_layer`
    std::vector<std::int32_t> child_layer;
    std::vector<Value> function;  // per state, once reduced
    Interner rows;                // distinct rows of child functions
    std::vector<Value> node_of_row;
    std::vector<char> essential;  // per slab but the last: whether anything changes from it to the next
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

  // Turns restricted trees, added to base_, into an end or into -1 - state of the layer they wait for.
  std::int32_t classify(const std::vector<std::int32_t>& ids, std::int32_t& layer);

  void count_state(int layer);
  void open_states();
  void reduce();

  const Ensemble& ensemble_;
  Ends& ends_;
  Control& control_;
  const std::size_t max_states_;
  Levels levels_;
  std::vector<int> feature_of_layer_;
  std::vector<int> layer_of_feature_;
  RestrictedTrees trees_;
  std::vector<Layer> layers_;
  std::vector<std::pair<int, std::int32_t>> nodes_;  // layer, and row in it, of every diagram node
  Value root_ = 0;
  std::int32_t root_layer_ = 0;
  std::vector<std::size_t> waiting_;
  std::vector<double> base_, low_, high_;
  std::vector<std::int32_t> key_;
  std::size_t n_states_ = 0;
  std::size_t bytes_ = 0;  // of states and their children
};

template <typename Ends>
std::int32_t Diagram<Ends>::classify(const std::vector<std::int32_t>& ids, std::int32_t& layer) {
  const int n = ensemble_.n_outputs;
  layer = RestrictedTrees::kLeafLayer;
  for (const std::int32_t id : ids) layer = std::min(layer, trees_[id].layer);
  if constexpr (Ends::kBounds) {
    low_ = high_ = base_;
    for (const std::int32_t id : ids) {
      const double *low = trees_.low(id), *high = trees_.high(id);
      for (int k = 0; k < n; ++k) low_[k] += low[k];
      for (int k = 0; k < n; ++k) high_[k] += high[k];
    }
    const int decided = ends_.decide(low_.data(), high_.data());
    if (decided >= 0) return decided;
  }
  if (layer == RestrictedTrees::kLeafLayer) {
    key_.clear();  // sums that are exact have decided above: low and high are the same
    for (const std::int32_t id : ids) key_.push_back(trees_[id].left);
    return ends_.end_of(key_);
  }
  if (ends_.exact()) {
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

template <typename Ends>
void Diagram<Ends>::count_state(int layer) {
  ++n_states_;
  bytes_ += key_.size() * sizeof(std::int32_t) + n_slabs(layer) * (sizeof(Value) + sizeof(std::int32_t)) + 32;
  if (n_states_ > max_states_) throw GridTooLarge("more than " + std::to_string(max_states_) + " states");
  if (bytes_ > control_.memory_limit) throw GridTooLarge("its states alone pass the memory limit");
}

template <typename Ends>
void Diagram<Ends>::open_states() {
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
      const std::size_t n_folded = ends_.exact() ? ensemble_.n_outputs : 0;
      ids.assign(key.begin(), key.end() - n_folded);
      if (n_folded) base_.assign(key.end() - n_folded, key.end());
      waiting_.clear();
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (trees_[ids[i]].layer == static_cast<int>(layer)) {
          trees_.ensure_row(ids[i]);
          waiting_.push_back(i);
        }
      Value* child = here.child.data() + static_cast<std::size_t>(state) * slabs;
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

template <typename Ends>
void Diagram<Ends>::reduce() {
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
        const Value child = here.child[at + slab];
        key_[slab] = child >= 0 ? ends_.number(child) : layers_[here.child_layer[at + slab]].function[-1 - child];
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
        here.node_of_row.push_back(ends_.n_numbers() + static_cast<Value>(nodes_.size()));
        nodes_.emplace_back(static_cast<int>(layer), row);
      }
      here.function[state] = here.node_of_row[row];
    }
    here.child = {};
    here.child_layer = {};
    here.states = Interner();
  }
  root_ = root_ < 0 ? layers_[root_layer_].function[-1 - root_] : ends_.number(root_);
}

template <typename Ends>
Levels Diagram<Ends>::essential_levels() const {
  Levels essential(ensemble_.n_features);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    std::vector<int> representatives;
    Axis axis = axis_of(static_cast<int>(layer), representatives);
    essential[axis.feature] = std::move(axis.thresholds);
  }
  return essential;
}

// What is left of a layer, and the slab of the full grid that stands for each slab of the axis. Without thresholds:
// nothing depends on the feature.
template <typename Ends>
Axis Diagram<Ends>::axis_of(int layer, std::vector<int>& representatives) const {
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
template <typename Ends>
Axis Diagram<Ends>::set_axis_of(int layer, std::vector<int>& representatives) const {
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

template <typename Ends>
std::vector<std::int32_t> Diagram<Ends>::numbers_that_occur() const {
  std::vector<char> occurs(ends_.n_numbers(), 0);
  if (root_ < ends_.n_numbers()) occurs[root_] = 1;
  for (const auto& [layer, row] : nodes_)
    for (const std::int32_t child : layers_[layer].rows.key(row))
      if (child < ends_.n_numbers()) occurs[child] = 1;
  std::vector<std::int32_t> numbers;
  for (int k = 0; k < ends_.n_numbers(); ++k)
    if (occurs[k]) numbers.push_back(k);
  return numbers;
}

template <typename Ends>
template <typename Cell, typename CellOf>
std::vector<Axis> Diagram<Ends>::paint(std::vector<Cell>& painted_cells, const CellOf& cell_of) const {
  std::vector<Axis> axes;
  // Per axis: its layer, and the slab of the full grid that stands for each slab that is left.
  std::vector<int> axis_layer;
  std::vector<std::vector<int>> kept;
  double n_cells = 1;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    std::vector<int> representatives;
    Axis axis = axis_of(static_cast<int>(layer), representatives);
    if (axis.thresholds.empty()) continue;
    n_cells *= axis.n_slabs();
    axes.push_back(std::move(axis));
    axis_layer.push_back(static_cast<int>(layer));
    kept.push_back(std::move(representatives));
  }
  // Engines copy the cells a few times.
  if (kCopies * sizeof(Cell) * n_cells > static_cast<double>(control_.memory_limit) || n_cells > kMaxCells)
    throw GridTooLarge(std::to_string(n_cells) + " cells");
  const bool takes_long = n_cells > static_cast<double>(kCellsBetweenChecks);
  if (takes_long && control_.time_limit > 0 && control_.elapsed() + kSecondsPerCell * n_cells > control_.time_limit)
    throw GridTooLarge(std::to_string(n_cells) + " cells, more than there is time to look at");
  // In steps that take no time to speak of: memory is touched here for the first time.
  painted_cells.reserve(static_cast<std::size_t>(n_cells));
  while (painted_cells.size() < static_cast<std::size_t>(n_cells)) {
    if (takes_long) control_.check("grid", -1, -1, static_cast<std::int64_t>(n_states_));
    painted_cells.resize(std::min(static_cast<std::size_t>(n_cells), painted_cells.size() + kCellsBetweenChecks));
  }

  const int n_axes = static_cast<int>(axes.size());
  std::vector<std::size_t> block(n_axes + 1, 1);  // cells below one slab of the axis before
  for (int axis = n_axes; axis-- > 0;) block[axis] = block[axis + 1] * axes[axis].n_slabs();
  // A function met again on the same axis is copied from where it was painted first.
  Cell* cells = painted_cells.data();
  std::vector<std::size_t> painted(nodes_.size(), ~std::size_t{0});
  std::size_t next_check = kCellsBetweenChecks;
  auto fill = [&](auto&& self, Value function, int axis, std::size_t at) -> void {
    if (at >= next_check) {
      control_.check("grid", -1, -1, static_cast<std::int64_t>(n_states_));
      next_check = at + kCellsBetweenChecks;
    }
    if (function < ends_.n_numbers()) {
      std::fill_n(cells + at, block[axis], cell_of(function));
      return;
    }
    const auto [layer, row] = nodes_[function - ends_.n_numbers()];
    std::size_t& first = painted[function - ends_.n_numbers()];
    int own = axis;  // the function does not depend on the axes before its own
    while (axis_layer[own] != layer) ++own;
    if (first != ~std::size_t{0}) {
      std::memcpy(cells + at, cells + first, block[own] * sizeof(Cell));
    } else {
      const std::span<const std::int32_t> child = layers_[layer].rows.key(row);
      for (std::size_t slab = 0; slab < kept[own].size(); ++slab)
        self(self, child[kept[own][slab]], own + 1, at + slab * block[own + 1]);
      first = at;
    }
    for (std::size_t done = block[own]; done < block[axis]; done += block[own])
      std::memcpy(cells + at + done, cells + at, block[own] * sizeof(Cell));
  };
  fill(fill, root_, 0, 0);
  return axes;
}

}  // namespace onetree
