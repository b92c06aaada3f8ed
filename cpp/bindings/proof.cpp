// The language boundary of the proof. Nothing here knows an algorithm.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "bindings/borrowed.hpp"
#include "proof/prove.hpp"
#include "proof/ranges.hpp"

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

// What a Python Response says of the numbers after the sums, and of the precision of the sums.
class BorrowedResponse {
 public:
  BorrowedResponse(nb::handle source, int n_outputs, std::size_t n_numbers) {
    for (const nb::handle divisor : source.attr("divisors")()) divisor_.push_back(nb::cast<double>(divisor));
    for (const nb::handle dtype : source.attr("dtypes")())
      float32_.push_back(nb::cast<int>(dtype.attr("itemsize")) == 4);
    std::size_t n_registers = static_cast<std::size_t>(n_outputs);
    for (const nb::handle each : source.attr("operations")()) {
      inputs_.push_back(nb::cast<Array<std::int32_t>>(each.attr("inputs")));
      numbers_.push_back(nb::cast<Array<double>>(each.attr("numbers")));
      const auto& inputs = inputs_.back();
      const auto& numbers = numbers_.back();
      view_.steps.push_back({static_cast<onetree::proof::Step::Kind>(nb::cast<int>(each.attr("kind"))),
                             {inputs.data(), inputs.size()},
                             nb::cast<int>(each.attr("n_results")),
                             {numbers.data(), numbers.size()},
                             nb::cast<double>(each.attr("slack"))});
      n_registers += static_cast<std::size_t>(view_.steps.back().n_results);
    }
    if (divisor_.size() != static_cast<std::size_t>(n_outputs) || float32_.size() != divisor_.size() || n_numbers < 1 ||
        n_numbers > n_registers || (view_.steps.empty() && n_numbers != n_registers))
      throw std::invalid_argument("the response does not fit the ensemble and the numbers of the tree");
    view_.divisor = divisor_;
    view_.float32 = float32_;
    view_.n_numbers = static_cast<int>(n_numbers);
  }
  const onetree::proof::Response& operator*() const { return view_; }

 private:
  std::vector<double> divisor_;
  std::vector<std::uint8_t> float32_;
  std::vector<Array<std::int32_t>> inputs_;
  std::vector<Array<double>> numbers_;
  onetree::proof::Response view_;
};

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

auto certify_ranges(nb::handle ensemble, nb::handle response, const Array<std::int32_t>& feature,
                    const Array<double>& threshold, const Array<std::int32_t>& left, const Array<std::int32_t>& right,
                    const Matrix<double>& number, bool relative, double known, double allowed,
                    const nb::object& evaluate, double time_limit, const nb::object& progress) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  const BorrowedResponse numbers(response, (*borrowed).n_outputs, number.shape(1));
  connect(control, progress, time_limit, 0, 1);
  const std::size_t n_nodes = feature.size();
  if (n_nodes == 0 || threshold.size() != n_nodes || left.size() != n_nodes || right.size() != n_nodes ||
      number.shape(0) != n_nodes)
    throw std::invalid_argument("the arrays of a tree must be of the same size");
  const onetree::proof::Tree tree{
      {feature.data(), n_nodes}, {threshold.data(), n_nodes}, {left.data(), n_nodes}, {right.data(), n_nodes}, {}};
  const onetree::proof::Promise promise{{number.data(), number.size()}, relative, known, allowed};
  const auto n_outputs = static_cast<std::size_t>((*borrowed).n_outputs);
  auto ask = [&](std::span<const std::int32_t> leaves, std::span<const double> sums) {
    const nb::gil_scoped_acquire gil;
    try {
      const nb::object given =
          evaluate(to_numpy(std::vector<std::int32_t>(leaves.begin(), leaves.end())),
                   to_numpy(std::vector<double>(sums.begin(), sums.end()), {leaves.size(), n_outputs}));
      const auto found = nb::cast<Array<double>>(given);
      if (found.size() != leaves.size()) throw std::invalid_argument("one deviation is needed for each evaluation");
      return std::vector<double>(found.data(), found.data() + found.size());
    } catch (nb::python_error& error) {
      error.restore();
      throw onetree::Interrupted();
    }
  };
  onetree::proof::RangeVerdict verdict = run_released(
      [&] { return onetree::proof::prove_ranges(as_model(*borrowed), *numbers, tree, promise, ask, control); });
  return std::tuple(verdict.worst, to_numpy(std::move(verdict.point)), verdict.leaf, verdict.counts);
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
  module.def("certify_ranges", &certify_ranges, "ensemble"_a, "response"_a, "feature"_a, "threshold"_a, "left"_a,
             "right"_a, "number"_a, "relative"_a, "known"_a, "allowed"_a, "evaluate"_a, "time_limit"_a,
             "progress"_a.none(),
             nb::sig("def certify_ranges(" ENSEMBLE ", response: onetree.model.arrays.SumsLike, "
                     "feature: numpy.typing.NDArray[numpy.int32], threshold: numpy.typing.NDArray[numpy.float64], "
                     "left: numpy.typing.NDArray[numpy.int32], right: numpy.typing.NDArray[numpy.int32], "
                     "number: numpy.typing.NDArray[numpy.float64], relative: bool, known: float, allowed: float, "
                     "evaluate: onetree.model.arrays.Evaluate, time_limit: float, " PROGRESS
                     ") -> tuple[float, numpy.typing.NDArray[numpy.float64], int, Counts]"));
}
