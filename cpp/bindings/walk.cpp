// The language boundary of prediction: nodes as they are walked, and what rows reach. Nothing here knows an algorithm.
#include "tree/walk.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>
#include <utility>

#include "bindings/borrowed.hpp"
#include "tree/tree_check.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace onetree::python;

namespace {

using Index = Array<std::int32_t>;
using Steps = nb::ndarray<const std::uint64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using NewSteps = nb::ndarray<std::uint64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
template <typename Real>
using Rows = nb::ndarray<const Real, nb::ndim<2>, nb::device::cpu>;

onetree::NodesView view(const Index& feature, const Array<double>& threshold, const Index& left, const Index& right) {
  return {.n_nodes = feature.size(),
          .feature = feature.data(),
          .threshold = threshold.data(),
          .left = left.data(),
          .right = right.data(),
          .leaf_value = nullptr,
          .missing_left = nullptr,
          .subset = nullptr};
}

// Arrays of one length.
onetree::FoundDefect find_defect(const Index& feature, const Array<double>& threshold, const Index& left,
                                 const Index& right, const Index& leaf_class, std::int64_t n_features,
                                 std::int64_t n_classes) {
  onetree::NodesView tree = view(feature, threshold, left, right);
  tree.leaf_value = leaf_class.data();
  return onetree::find_defect(tree, n_features, n_classes);
}

// Sound trees; `steps` has as many rows as their roots and twice their inner nodes together.
void lay_out(const Index& roots, const Index& feature, const Array<double>& threshold, const Index& left,
             const Index& right, const std::optional<Index>& leaf_value, const std::optional<Array<bool>>& missing_left,
             const std::optional<Index>& subset, std::size_t width, const NewSteps& steps) {
  onetree::NodesView nodes = view(feature, threshold, left, right);
  if (leaf_value) nodes.leaf_value = leaf_value->data();
  if (missing_left) nodes.missing_left = reinterpret_cast<const std::uint8_t*>(missing_left->data());
  if (subset) nodes.subset = subset->data();
  nb::gil_scoped_release release;
  onetree::lay_out(nodes, {roots.data(), roots.size()}, width,
                   {reinterpret_cast<onetree::Step*>(steps.data()), steps.shape(0)});
}

onetree::Walkers walkers(const Steps& steps, const Array<bool>& members, bool is_plain) {
  return {{reinterpret_cast<const onetree::Step*>(steps.data()), steps.shape(0)},
          {reinterpret_cast<const std::uint8_t*>(members.data()), members.size()},
          is_plain};
}

template <typename Real>
onetree::MatrixView<Real> matrix(const Rows<Real>& rows) {
  return {rows.data(), rows.shape(0), rows.shape(1), rows.stride(0), rows.stride(1)};
}

// Rows of elements where features are categorical, and what is wanted of each row's leaf; whether there is a NaN.
template <typename Real>
std::pair<nb::ndarray<nb::numpy, std::int32_t>, bool> walk_tree(const Steps& steps, const Array<bool>& members,
                                                                bool is_plain, const Rows<Real>& rows,
                                                                onetree::Wanted wanted) {
  std::vector<std::int32_t> found(rows.shape(0));
  bool has_nan = false;
  {
    nb::gil_scoped_release release;
    has_nan = onetree::find_leaves_and_gaps(walkers(steps, members, is_plain), matrix(rows), wanted, found.data());
  }
  return {to_numpy(std::move(found)), has_nan};
}

// The nodes of the leaves, for each tree the ones of all rows.
template <typename Real>
nb::ndarray<nb::numpy, std::int32_t> walk_trees(const Steps& steps, const Array<bool>& members, bool is_plain,
                                                std::size_t n_trees, const Rows<Real>& rows) {
  const std::size_t n_rows = rows.shape(0);
  std::vector<std::int32_t> found(n_trees * n_rows);
  {
    nb::gil_scoped_release release;
    const onetree::Walkers all = walkers(steps, members, is_plain);
    for (std::size_t tree = 0; tree < n_trees; ++tree)
      onetree::find_leaves(all, tree, matrix(rows), onetree::Wanted::kNode, found.data() + tree * n_rows);
  }
  return to_numpy(std::move(found), {n_trees, n_rows});
}

}  // namespace

void bind_walk(nb::module_& module);
void bind_walk(nb::module_& module) {
  nb::enum_<onetree::Wanted>(module, "Wanted")
      .value("NODE", onetree::Wanted::kNode)
      .value("VALUE", onetree::Wanted::kValue);
  nb::enum_<onetree::Defect>(module, "Defect")
      .value("NONE", onetree::Defect::kNone)
      .value("FEATURE", onetree::Defect::kFeature)
      .value("LEFT", onetree::Defect::kLeft)
      .value("RIGHT", onetree::Defect::kRight)
      .value("THRESHOLD", onetree::Defect::kThreshold)
      .value("INNER_CLASS", onetree::Defect::kInnerClass)
      .value("LEAF_CHILD", onetree::Defect::kLeafChild)
      .value("LEAF_CLASS", onetree::Defect::kLeafClass)
      .value("UNREACHABLE", onetree::Defect::kUnreachable);
  nb::class_<onetree::FoundDefect>(module, "FoundDefect")
      .def_ro("defect", &onetree::FoundDefect::defect)
      .def_ro("node", &onetree::FoundDefect::node);
  module.def("find_defect", &find_defect, "feature"_a, "threshold"_a, "left"_a, "right"_a, "leaf_class"_a,
             "n_features"_a, "n_classes"_a);
  module.def("lay_out", &lay_out, "roots"_a, "feature"_a, "threshold"_a, "left"_a, "right"_a, "leaf_value"_a.none(),
             "missing_left"_a.none(), "subset"_a.none(), "width"_a, "steps"_a);
  module.def("walk_tree", &walk_tree<float>, "steps"_a, "members"_a, "is_plain"_a, "rows"_a, "wanted"_a);
  module.def("walk_tree", &walk_tree<double>, "steps"_a, "members"_a, "is_plain"_a, "rows"_a, "wanted"_a);
  module.def("walk_trees", &walk_trees<float>, "steps"_a, "members"_a, "is_plain"_a, "n_trees"_a, "rows"_a);
  module.def("walk_trees", &walk_trees<double>, "steps"_a, "members"_a, "is_plain"_a, "n_trees"_a, "rows"_a);
}
