// The language boundary of trees that follow the data. Nothing here knows an algorithm.
#include <stdexcept>

#include "bindings/borrowed.hpp"
#include "support/nearest.hpp"
#include "support/row_split.hpp"
#include "support/slab_trees.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace onetree::python;

namespace {

// One line per feature, each without gaps.
using Slabs = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::device::cpu>;
using Numbers = Array<std::int32_t>;

onetree::RowTable table_of(const Slabs& slabs) {
  if (slabs.shape(1) > 1 && slabs.stride(1) != 1)
    throw std::invalid_argument("the slabs of a feature must be adjacent");
  return {slabs.shape(0), slabs.stride(0), slabs.data()};
}

onetree::RowNumbers rows_of(const Numbers& rows, const Slabs& slabs) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows.data()[i] < 0 || static_cast<std::size_t>(rows.data()[i]) >= slabs.shape(1))
      throw std::invalid_argument("there is no such row");
  return {rows.data(), rows.size()};
}

onetree::RowSplit least_impurity(const Slabs& slabs, const Numbers& classes, int n_classes, const Numbers& reference,
                                 const Numbers& synthetic, double synthetic_weight, bool faithful) {
  const onetree::RowTable table = table_of(slabs);
  const onetree::RowsOfNode rows{rows_of(reference, slabs), rows_of(synthetic, slabs), synthetic_weight};
  if (classes.size() < slabs.shape(1)) throw std::invalid_argument("every row needs a class");
  return run_released([&] { return onetree::least_impurity(table, rows, classes.data(), n_classes, faithful); });
}

onetree::RowSplit largest_gain(const Slabs& slabs, const Numbers& rows, const Array<double>& gain, double least) {
  const onetree::RowTable table = table_of(slabs);
  const onetree::RowNumbers numbers = rows_of(rows, slabs);
  if (gain.size() != numbers.size()) throw std::invalid_argument("every row needs a gain");
  return run_released([&] { return onetree::largest_gain(table, numbers, gain.data(), least); });
}

// The walk follows these numbers, so they are looked at before.
const onetree::SlabNode* nodes_of(const Matrix<std::int32_t>& nodes, std::span<const std::int32_t> roots,
                                  const Slabs& slabs) {
  static_assert(sizeof(onetree::SlabNode) == 5 * sizeof(std::int32_t));
  if (nodes.shape(1) != 5) throw std::invalid_argument("a node on slabs is five numbers");
  const auto* first = reinterpret_cast<const onetree::SlabNode*>(nodes.data());
  const auto below = [](std::int32_t number, std::size_t end) {
    return number >= 0 && static_cast<std::size_t>(number) < end;
  };
  for (std::size_t i = 0; i < nodes.shape(0); ++i)
    if (!below(first[i].feature, slabs.shape(0)) || !below(first[i].child[0], nodes.shape(0)) ||
        !below(first[i].child[1], nodes.shape(0)))
      throw std::invalid_argument("a node has a feature or child that there is not");
  for (const std::int32_t root : roots)
    if (!below(root, nodes.shape(0))) throw std::invalid_argument("a root is not among the nodes");
  return first;
}

template <typename Real>
nb::ndarray<nb::numpy, Real> ensemble_scores(const Numbers& roots, const Numbers& output,
                                             const Matrix<std::int32_t>& nodes, const Matrix<Real>& value,
                                             const Array<Real>& base, const Slabs& slabs) {
  const std::size_t n_rows = slabs.shape(1), n_outputs = base.size();
  if (output.size() != roots.size() || value.shape(0) != nodes.shape(0) || value.shape(1) != n_outputs)
    throw std::invalid_argument("the shapes of roots, output, nodes, value and base do not fit");
  const onetree::RowTable table = table_of(slabs);
  const onetree::SlabTrees trees{{roots.data(), roots.size()},
                                 {output.data(), output.size()},
                                 nodes_of(nodes, {roots.data(), roots.size()}, slabs),
                                 n_outputs};
  std::vector<Real> scores(n_rows * n_outputs);
  run_released([&] {
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = base.data()[i % n_outputs];
    onetree::add_scores(trees, value.data(), table, n_rows, scores.data());
  });
  return to_numpy(std::move(scores), {n_rows, n_outputs});
}

auto slab_leaves(const Matrix<std::int32_t>& nodes, std::int32_t root, const Slabs& slabs, const Numbers& rows) {
  const onetree::RowTable table = table_of(slabs);
  const onetree::SlabNode* first = nodes_of(nodes, {&root, 1}, slabs);
  const onetree::RowNumbers numbers = rows_of(rows, slabs);
  std::vector<std::int32_t> leaf(numbers.size());
  run_released([&] { onetree::find_leaves(first, root, table, numbers, leaf.data()); });
  return to_numpy(std::move(leaf));
}

auto smallest(const Matrix<double>& numbers, int n_smallest) {
  const std::size_t n_lines = numbers.shape(0), length = numbers.shape(1);
  if (n_smallest < 0 || static_cast<std::size_t>(n_smallest) > length)
    throw std::invalid_argument("a line has no more numbers than its length");
  std::vector<std::int32_t> found(n_lines * n_smallest);
  run_released([&] {
    for (std::size_t i = 0; i < n_lines; ++i)
      onetree::smallest({numbers.data() + i * length, length},
                        {found.data() + i * n_smallest, static_cast<std::size_t>(n_smallest)});
  });
  return to_numpy(std::move(found), {n_lines, static_cast<std::size_t>(n_smallest)});
}

}  // namespace

void bind_support(nb::module_& module) {
  module.def("least_impurity", &least_impurity, "slabs"_a, "classes"_a, "n_classes"_a, "reference"_a, "synthetic"_a,
             "synthetic_weight"_a, "faithful"_a);
  module.def("largest_gain", &largest_gain, "slabs"_a, "rows"_a, "gain"_a, "least"_a);
  module.def("ensemble_scores", &ensemble_scores<float>, "roots"_a, "output"_a, "nodes"_a, "value"_a, "base"_a,
             "slabs"_a);
  module.def("ensemble_scores", &ensemble_scores<double>, "roots"_a, "output"_a, "nodes"_a, "value"_a, "base"_a,
             "slabs"_a);
  module.def("slab_leaves", &slab_leaves, "nodes"_a, "root"_a, "slabs"_a, "rows"_a);
  module.def("smallest", &smallest, "numbers"_a, "n_smallest"_a);
}
