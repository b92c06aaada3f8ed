// What the core is asked for and answers, as Python sees it. Arrays are views: they keep their result alive.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/borrowed.hpp"
#include "bound/tree_bounds.hpp"
#include "kernel/kernel.hpp"
#include "region/estimate.hpp"
#include "solve/solve.hpp"
#include "support/row_split.hpp"

namespace nb = nanobind;

namespace {

template <typename Owner, typename Value>
auto view(std::vector<Value> Owner::* field) {
  return [field](const Owner& owner) {
    const std::vector<Value>& values = owner.*field;
    return nb::ndarray<nb::numpy, const Value, nb::ndim<1>>(values.data(), {values.size()});
  };
}

template <typename Owner, typename Value>
void def_view(nb::class_<Owner>& bound, const char* name, std::vector<Value> Owner::* field) {
  bound.def_prop_ro(name, view(field), nb::rv_policy::reference_internal);
}

auto rows_of_leaves(std::vector<double> onetree::Outcome::* field) {
  return [field](const onetree::Outcome& outcome) {
    const std::vector<double>& values = outcome.*field;
    const std::size_t n_columns = static_cast<std::size_t>(outcome.n_columns);
    return nb::ndarray<nb::numpy, const double, nb::ndim<2>>(
        values.data(), {n_columns == 0 ? 0 : values.size() / n_columns, n_columns});
  };
}

void bind_choices(nb::module_& module) {
  nb::enum_<onetree::Objective>(module, "Objective")
      .value("DEPTH", onetree::Objective::kDepth)
      .value("LEAVES", onetree::Objective::kLeaves)
      .value("DEPTH_LEAVES", onetree::Objective::kDepthLeaves)
      .value("LEAVES_DEPTH", onetree::Objective::kLeavesDepth);
  nb::enum_<onetree::Engine>(module, "Engine")
      .value("AUTO", onetree::Engine::kAuto)
      .value("INTERVAL_DP", onetree::Engine::kIntervalDp)
      .value("BRANCH_AND_BOUND", onetree::Engine::kBranchAndBound)
      .value("COMBINED", onetree::Engine::kCombined)
      .value("QUICK_TABLE", onetree::Engine::kQuickTable);
  nb::enum_<onetree::Measure>(module, "Measure")
      .value("DEPTH", onetree::Measure::kDepth)
      .value("LEAVES", onetree::Measure::kLeaves)
      .value("LEAVES_DEPTH", onetree::Measure::kLeavesDepth);
}

void bind_outcome(nb::module_& module) {
  nb::class_<onetree::FlatTree> tree(module, "FlatTree");
  def_view(tree, "feature", &onetree::FlatTree::feature);
  def_view(tree, "threshold", &onetree::FlatTree::threshold);
  def_view(tree, "children_left", &onetree::FlatTree::left);
  def_view(tree, "children_right", &onetree::FlatTree::right);
  def_view(tree, "leaf_class", &onetree::FlatTree::leaf_class);
  nb::class_<onetree::Solution>(module, "Found")
      .def_ro("tree", &onetree::Solution::tree)
      .def_ro("depth", &onetree::Solution::depth)
      .def_ro("leaves", &onetree::Solution::leaves)
      .def_ro("depth_bound", &onetree::Solution::depth_bound)
      .def_ro("leaves_bound", &onetree::Solution::leaves_bound)
      .def_ro("optimal", &onetree::Solution::optimal);
  nb::class_<onetree::Statistics>(module, "Statistics")
      .def_ro("cells", &onetree::Statistics::cells)
      .def_ro("boxes", &onetree::Statistics::boxes)
      .def_ro("states", &onetree::Statistics::states)
      .def_ro("seconds", &onetree::Statistics::seconds)
      .def_ro("work", &onetree::Statistics::work)
      .def_ro("peak_bytes", &onetree::Statistics::peak_bytes)
      .def_ro("engine", &onetree::Statistics::engine);
  nb::class_<onetree::Outcome>(module, "Outcome")
      .def_ro("solutions", &onetree::Outcome::solutions)
      .def_ro("statistics", &onetree::Outcome::statistics)
      .def_ro("is_complete", &onetree::Outcome::is_complete)
      .def_prop_ro("leaf_least", rows_of_leaves(&onetree::Outcome::leaf_least), nb::rv_policy::reference_internal)
      .def_prop_ro("leaf_most", rows_of_leaves(&onetree::Outcome::leaf_most), nb::rv_policy::reference_internal);
}

void bind_bounds(nb::module_& module) {
  nb::class_<onetree::TreeBounds> bounds(module, "TreeBounds");
  bounds.def_ro("leaves", &onetree::TreeBounds::leaves)
      .def_ro("depth", &onetree::TreeBounds::depth)
      .def_ro("seconds", &onetree::TreeBounds::seconds)
      .def_ro("work", &onetree::TreeBounds::work)
      .def_ro("peak_bytes", &onetree::TreeBounds::peak_bytes);
  def_view(bounds, "feature", &onetree::TreeBounds::feature);
  def_view(bounds, "cells", &onetree::TreeBounds::cells);
}

void bind_estimate(nb::module_& module) {
  nb::class_<onetree::Quantity>(module, "Quantity")
      .def_ro("mean", &onetree::Quantity::mean)
      .def_ro("low", &onetree::Quantity::low)
      .def_ro("high", &onetree::Quantity::high);
  nb::class_<onetree::Estimate>(module, "Estimate")
      .def_ro("leaves", &onetree::Estimate::leaves)
      .def_ro("seconds", &onetree::Estimate::seconds)
      .def_ro("bytes", &onetree::Estimate::bytes)
      .def_ro("is_exact", &onetree::Estimate::is_exact)
      .def_ro("is_beyond", &onetree::Estimate::is_beyond)
      .def_ro("boxes", &onetree::Estimate::boxes)
      .def_ro("n_probes", &onetree::Estimate::n_probes);
}

}  // namespace

void bind_results(nb::module_& module) {
  bind_choices(module);
  bind_outcome(module);
  bind_bounds(module);
  bind_estimate(module);
  nb::class_<onetree::RowSplit>(module, "RowSplit")
      .def_ro("feature", &onetree::RowSplit::feature)
      .def_ro("below", &onetree::RowSplit::below)
      .def_ro("above", &onetree::RowSplit::above)
      .def_ro("gain", &onetree::RowSplit::gain);
}
