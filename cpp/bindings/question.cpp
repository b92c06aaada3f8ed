// The language boundary of questions. Nothing here knows an algorithm.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/borrowed.hpp"
#include "question/demand.hpp"
#include "question/nearest.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace onetree::python;
using onetree::question::Outcome;

namespace {

// An ensemble on options, ready for many questions. It borrows the arrays for as long as it lives.
class Questions {
 public:
  Questions(nb::handle ensemble, const Array<std::int32_t>& n_options)
      : borrowed_(ensemble),
        space_(checked(*borrowed_, n_options), {n_options.data(), n_options.size()}),
        forest_(*borrowed_, space_) {
    for (int axis = 0; axis < space_.n_axes(); ++axis) n_costs_ += static_cast<std::size_t>(space_.n_options(axis));
  }

  // `wanted`: per class.
  auto nearest(const Array<double>& costs, const Array<bool>& wanted, bool largest, double at_most, bool any,
               double time_limit, std::int64_t work_limit, double memory_limit, const nb::object& progress) const {
    if (wanted.size() != static_cast<std::size_t>((*borrowed_).n_classes))
      throw std::invalid_argument("every class must be wanted or not");
    onetree::question::Judge judge(*borrowed_, as_vector(wanted));
    const onetree::question::Query query{.costs = checked(costs), .largest = largest, .at_most = at_most, .any = any};
    return answer(judge, query, time_limit, work_limit, memory_limit, progress);
  }

  // `wanted`: per pair of classes, one of each ensemble. Both have the nodes of this one, and some of its roots.
  auto differing(nb::handle first, nb::handle second, const Array<double>& costs, const Array<bool>& wanted, int below,
                 int above, double time_limit, std::int64_t work_limit, double memory_limit,
                 const nb::object& progress) const {
    const BorrowedEnsemble a(first), b(second);
    for (const BorrowedEnsemble* each : {&a, &b})
      if ((**each).feature.size() != (*borrowed_).feature.size() || !has_roots(**each))
        throw std::invalid_argument("both ensembles must have the nodes of the forest, and some of its roots");
    if (wanted.size() != static_cast<std::size_t>((*a).n_classes) * static_cast<std::size_t>((*b).n_classes))
      throw std::invalid_argument("every pair of classes must be wanted or not");
    const int n_axes = space_.n_axes();
    if ((below >= 0) != (above >= 0) || below >= n_axes || above >= n_axes ||
        (below >= 0 && (space_.is_set(below) || space_.is_set(above))))
      throw std::invalid_argument("two axes with an order are needed to compare them");
    onetree::question::Judge judge(*borrowed_, *a, *b, as_vector(wanted));
    const onetree::question::Query query{.costs = checked(costs), .any = true, .below = below, .above = above};
    return answer(judge, query, time_limit, work_limit, memory_limit, progress);
  }

 private:
  static std::vector<bool> as_vector(const Array<bool>& flags) {
    return std::vector<bool>(flags.data(), flags.data() + flags.size());  // braces would make a list of two pointers
  }

  bool has_roots(const onetree::Ensemble& ensemble) const {
    const auto& known = (*borrowed_).roots;
    return std::all_of(ensemble.roots.begin(), ensemble.roots.end(),
                       [&](std::int32_t root) { return std::find(known.begin(), known.end(), root) != known.end(); });
  }

  std::span<const double> checked(const Array<double>& costs) const {
    if (costs.size() != n_costs_) throw std::invalid_argument("there must be one cost for every option");
    return {costs.data(), costs.size()};
  }

  std::tuple<Outcome, nb::ndarray<nb::numpy, std::int32_t>, double, double, std::int64_t> answer(
      onetree::question::Judge& judge, const onetree::question::Query& query, double time_limit,
      std::int64_t work_limit, double memory_limit, const nb::object& progress) const {
    onetree::Control control;
    control.work_limit = work_limit;
    connect(control, progress, time_limit, memory_limit, 1);
    onetree::question::Answer found =
        run_released([&] { return onetree::question::nearest(judge, space_, forest_, query, control); });
    return {found.outcome, to_numpy(std::move(found.point)), found.cost, found.lower_bound, found.n_boxes};
  }

  static const onetree::Ensemble& checked(const onetree::Ensemble& ensemble, const Array<std::int32_t>& n_options) {
    if (n_options.size() != static_cast<std::size_t>(ensemble.n_features))
      throw std::invalid_argument("every axis must have a number of options");
    for (int axis = 0; axis < ensemble.n_features; ++axis) {
      const int n = n_options.data()[axis];
      if (ensemble.is_set(axis) ? n != ensemble.sets[axis].n_values : n < 1 + (ensemble.nan_features[axis] != 0))
        throw std::invalid_argument("the number of options does not fit its axis");
    }
    return ensemble;
  }

  BorrowedEnsemble borrowed_;
  onetree::question::Space space_;
  onetree::question::Forest forest_;
  std::size_t n_costs_ = 0;
};

}  // namespace

void bind_question(nb::module_& module) {
  nb::enum_<Outcome>(module, "NearestOutcome")
      .value("OPTIMAL", Outcome::optimal)
      .value("NONE", Outcome::none)
      .value("LIMIT", Outcome::limit);
  nb::class_<Questions>(module, "Questions")
      .def(nb::init<nb::handle, const Array<std::int32_t>&>(), "ensemble"_a, "n_options"_a, nb::keep_alive<1, 2>(),
           nb::sig("def __init__(self, " ENSEMBLE ", n_options: numpy.typing.NDArray[numpy.int32]) -> None"))
      .def("nearest", &Questions::nearest, "costs"_a, "wanted"_a, "largest"_a, "at_most"_a, "any"_a, "time_limit"_a,
           "work_limit"_a, "memory_limit"_a, "progress"_a.none(),
           nb::sig("def nearest(self, costs: numpy.typing.NDArray[numpy.float64], "
                   "wanted: numpy.typing.NDArray[numpy.bool_], largest: bool, at_most: float, any: bool, "
                   "time_limit: float, work_limit: int, memory_limit: float, " PROGRESS ") -> "
                   "tuple[NearestOutcome, numpy.typing.NDArray[numpy.int32], float, float, int]"))
      .def("differing", &Questions::differing, "first"_a, "second"_a, "costs"_a, "wanted"_a, "below"_a, "above"_a,
           "time_limit"_a, "work_limit"_a, "memory_limit"_a, "progress"_a.none(),
           nb::sig("def differing(self, first: onetree.model.arrays.EnsembleArrays, "
                   "second: onetree.model.arrays.EnsembleArrays, costs: numpy.typing.NDArray[numpy.float64], "
                   "wanted: numpy.typing.NDArray[numpy.bool_], below: int, above: int, "
                   "time_limit: float, work_limit: int, memory_limit: float, " PROGRESS ") -> "
                   "tuple[NearestOutcome, numpy.typing.NDArray[numpy.int32], float, float, int]"));
}
