// The language boundary of questions. Nothing here knows an algorithm.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>

#include "bindings/borrowed.hpp"
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

  auto nearest(const Array<double>& costs, const Array<bool>& wanted, bool largest, double at_most, bool any,
               double time_limit, std::int64_t work_limit, double memory_limit, const nb::object& progress) const {
    onetree::Control control;
    control.work_limit = work_limit;
    connect(control, progress, time_limit, memory_limit, 1);
    if (costs.size() != n_costs_) throw std::invalid_argument("there must be one cost for every option");
    if (wanted.size() != static_cast<std::size_t>((*borrowed_).n_classes))
      throw std::invalid_argument("every class must be wanted or not");
    const onetree::question::Query query{.wanted = std::vector<bool>(wanted.data(), wanted.data() + wanted.size()),
                                         .costs = {costs.data(), costs.size()},
                                         .largest = largest,
                                         .at_most = at_most,
                                         .any = any};
    onetree::question::Answer answer =
        run_released([&] { return onetree::question::nearest(*borrowed_, space_, forest_, query, control); });
    return std::tuple(answer.outcome, to_numpy(std::move(answer.point)), answer.cost, answer.lower_bound,
                      answer.n_boxes);
  }

 private:
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
                   "tuple[NearestOutcome, numpy.typing.NDArray[numpy.int32], float, float, int]"));
}
