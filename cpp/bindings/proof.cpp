// The language boundary of the proof. Nothing here knows an algorithm.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "bindings/borrowed.hpp"
#include "proof/prove.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace onetree::python;

namespace {

// The proof has types of its own, since it shares none with the search.
onetree::proof::Model as_model(const onetree::Ensemble& ensemble) {
  onetree::proof::Model model{
      .n_outputs = ensemble.n_outputs,
      .n_classes = ensemble.n_classes,
      .roots = ensemble.roots,
      .feature = ensemble.feature,
      .left = ensemble.left,
      .right = ensemble.right,
      .threshold = ensemble.threshold,
      .missing_left = ensemble.missing_left,
      .value = ensemble.value,
      .base = ensemble.base,
      .takes_nan = ensemble.nan_features,
      .sets = {},
      .rule = {ensemble.rule.float32, ensemble.rule.divisor, ensemble.rule.cut, ensemble.rule.cut_inclusive,
               ensemble.rule.softmax},
  };
  for (const onetree::SetAxis& axis : ensemble.sets) model.sets.push_back({axis.n_values, axis.member});
  if (ensemble.combination != nullptr) {
    const onetree::Combination& given = *ensemble.combination;
    model.combination = {given.float32, given.divisor, {}, given.n_decisive, given.cut, given.ask};
    for (const onetree::Operation& each : given.operations)
      model.combination.steps.push_back(
          {static_cast<onetree::proof::Step::Kind>(each.kind), each.inputs, each.n_results, each.numbers, each.slack});
  }
  return model;
}

auto certify_boxes(nb::handle ensemble, const Matrix<double>& lower, const Matrix<double>& upper,
                   const Array<std::int32_t>& expected_class, double time_limit, const nb::object& progress,
                   std::int64_t max_nodes) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, 0, 1);
  const std::size_t n_boxes = lower.shape(0), n_features = (*borrowed).n_features;
  if (lower.shape(1) != n_features || upper.shape(1) != n_features || upper.shape(0) != n_boxes ||
      expected_class.size() != n_boxes)
    throw std::invalid_argument("the shapes of lower, upper and expected_class do not fit");
  const onetree::proof::Boxes boxes{n_boxes,
                                    {lower.data(), lower.size()},
                                    {upper.data(), upper.size()},
                                    {expected_class.data(), expected_class.size()}};
  onetree::proof::BoxVerdicts verdicts =
      run_released([&] { return onetree::proof::prove_boxes(as_model(*borrowed), boxes, max_nodes, control); });
  const std::size_t n_points = verdicts.points.size() / std::max<std::size_t>(1, n_features);
  return std::tuple(to_numpy(std::move(verdicts.holds)), to_numpy(std::move(verdicts.points), {n_points, n_features}),
                    verdicts.counts);
}

auto certify_tree(nb::handle ensemble, const Array<std::int32_t>& feature, const Array<double>& threshold,
                  const Array<std::int32_t>& left, const Array<std::int32_t>& right,
                  const Array<std::int32_t>& leaf_class, double time_limit, const nb::object& progress) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, 0, 1);
  const std::size_t n_nodes = feature.size();
  if (n_nodes == 0 || threshold.size() != n_nodes || left.size() != n_nodes || right.size() != n_nodes ||
      leaf_class.size() != n_nodes)
    throw std::invalid_argument("the arrays of a tree must be of the same size");
  const onetree::proof::Tree tree{{feature.data(), n_nodes},
                                  {threshold.data(), n_nodes},
                                  {left.data(), n_nodes},
                                  {right.data(), n_nodes},
                                  {leaf_class.data(), n_nodes}};
  onetree::proof::TreeVerdict verdict =
      run_released([&] { return onetree::proof::prove_tree(as_model(*borrowed), tree, control); });
  return std::tuple(to_numpy(std::move(verdict.point)), verdict.counts);
}

}  // namespace

void bind_proof(nb::module_& module) {
  nb::class_<onetree::proof::Counts>(module, "Counts")
      .def_ro("boxes", &onetree::proof::Counts::boxes)
      .def_ro("nodes", &onetree::proof::Counts::nodes)
      .def_ro("fragile", &onetree::proof::Counts::fragile);
  module.def("certify_boxes", &certify_boxes, "ensemble"_a, "lower"_a, "upper"_a, "expected_class"_a, "time_limit"_a,
             "progress"_a.none(), "max_nodes"_a = std::numeric_limits<std::int64_t>::max(),
             nb::sig("def certify_boxes(" ENSEMBLE ", lower: numpy.typing.NDArray[numpy.float64], "
                     "upper: numpy.typing.NDArray[numpy.float64], expected_class: numpy.typing.NDArray[numpy.int32], "
                     "time_limit: float, " PROGRESS ", max_nodes: int = ...) -> "
                     "tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.float64], Counts]"));
  module.def("certify_tree", &certify_tree, "ensemble"_a, "feature"_a, "threshold"_a, "left"_a, "right"_a,
             "leaf_class"_a, "time_limit"_a, "progress"_a.none(),
             nb::sig("def certify_tree(" ENSEMBLE ", feature: numpy.typing.NDArray[numpy.int32], "
                     "threshold: numpy.typing.NDArray[numpy.float64], left: numpy.typing.NDArray[numpy.int32], "
                     "right: numpy.typing.NDArray[numpy.int32], leaf_class: numpy.typing.NDArray[numpy.int32], "
                     "time_limit: float, " PROGRESS ") -> tuple[numpy.typing.NDArray[numpy.float64], Counts]"));
}
