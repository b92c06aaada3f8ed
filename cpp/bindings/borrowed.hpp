// What every part of the language boundary needs: arrays, the ensemble as borrowed arrays, limits and interrupts.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "model/ensemble.hpp"

// Parameters whose types only Python has, for signatures.
#define ENSEMBLE "ensemble: onetree.model.arrays.EnsembleArrays"
#define PROGRESS "progress: onetree.model.arrays.Callback | None"

namespace onetree::python {

namespace nb = nanobind;

template <typename T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::vector<std::size_t> shape = {}) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owned->data();
  if (shape.empty()) shape.push_back(owned->size());
  nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner);
}

// Precision, divisors and operations of sums, as a rule of two levels or a response has them.
inline void read_response(nb::handle given, Combination& response) {
  for (const nb::handle divisor : given.attr("divisors")()) response.divisor.push_back(nb::cast<double>(divisor));
  for (const nb::handle dtype : given.attr("dtypes")())
    response.float32.push_back(nb::cast<int>(dtype.attr("itemsize")) == 4);
  for (const nb::handle each : given.attr("operations")()) {
    const auto inputs = nb::cast<Array<std::int32_t>>(each.attr("inputs"));
    const auto numbers = nb::cast<Array<double>>(each.attr("numbers"));
    response.operations.push_back({.kind = static_cast<Operation::Kind>(nb::cast<int>(each.attr("kind"))),
                                   .inputs = {inputs.data(), inputs.data() + inputs.size()},
                                   .n_results = nb::cast<int>(each.attr("n_results")),
                                   .numbers = {numbers.data(), numbers.data() + numbers.size()},
                                   .slack = nb::cast<double>(each.attr("slack"))});
  }
}

// Borrows the arrays of a Python Ensemble for as long as this object lives.
class BorrowedEnsemble {
 public:
  explicit BorrowedEnsemble(nb::handle source)
      : roots_(nb::cast<Array<std::int32_t>>(source.attr("roots"))),
        feature_(nb::cast<Array<std::int32_t>>(source.attr("feature"))),
        left_(nb::cast<Array<std::int32_t>>(source.attr("children_left"))),
        right_(nb::cast<Array<std::int32_t>>(source.attr("children_right"))),
        threshold_(nb::cast<Array<double>>(source.attr("threshold"))),
        missing_left_(nb::cast<Array<bool>>(source.attr("missing_left"))),
        value_(nb::cast<Matrix<double>>(source.attr("value"))),
        base_(nb::cast<Array<double>>(source.attr("base"))),
        nan_features_(nb::cast<Array<bool>>(source.attr("nan_features"))) {
    read_sets(nb::getattr(source, "sets", nb::none()));
    nb::object rule = source.attr("rule");
    read_combination(nb::getattr(rule, "combination", nb::none()));
    view_ = Ensemble{
        .n_features = static_cast<int>(nan_features_.size()),
        .n_outputs = static_cast<int>(value_.shape(1)),
        .n_classes = nb::cast<int>(source.attr("n_classes")),
        .roots = span(roots_),
        .feature = span(feature_),
        .left = span(left_),
        .right = span(right_),
        .threshold = span(threshold_),
        .missing_left = flags(missing_left_),
        .value = {value_.data(), value_.size()},
        .base = span(base_),
        .nan_features = flags(nan_features_),
        .rule = {.float32 = nb::cast<std::string>(rule.attr("dtype")) == "float32",
                 .divisor = nb::cast<double>(rule.attr("divisor")),
                 .cut = nb::cast<double>(rule.attr("cut")),
                 .cut_inclusive = nb::cast<bool>(rule.attr("cut_inclusive")),
                 .softmax = nb::cast<bool>(rule.attr("softmax"))},
        .sets = sets_,
        .combination = combination_.get(),
    };
  }
  const Ensemble& operator*() const { return view_; }

 private:
  template <typename T>
  static std::span<const T> span(const Array<T>& array) {
    return {array.data(), array.size()};
  }
  static std::span<const std::uint8_t> flags(const Array<bool>& array) {
    return {reinterpret_cast<const std::uint8_t*>(array.data()), array.size()};
  }

  // One entry per feature: None, or a matrix of tests and values.
  void read_sets(const nb::object& given) {
    if (given.is_none()) return;
    for (const nb::handle entry : given) {
      SetAxis& axis = sets_.emplace_back();
      if (entry.is_none()) continue;
      const auto member = nb::cast<Matrix<std::uint8_t>>(entry);
      axis.n_values = static_cast<int>(member.shape(1));
      axis.member.assign(member.data(), member.data() + member.size());
    }
  }

  void read_combination(const nb::object& given) {
    if (given.is_none()) return;
    combination_ = std::make_unique<Combination>();
    read_response(given, *combination_);
    combination_->n_decisive = nb::cast<int>(given.attr("n_decisive"));
    const nb::object cut = given.attr("cut");
    combination_->cut = cut.is_none() ? 0.0 : nb::cast<double>(cut);
    ask_ = given.attr("decide_one");
    combination_->ask = [this](std::span<const double> sums) {
      const nb::gil_scoped_acquire gil;
      try {
        return nb::cast<int>(ask_(to_numpy(std::vector<double>(sums.begin(), sums.end()))));
      } catch (nb::python_error&) {  // of the thread that asks, which need not be the one that waits
        throw Interrupted();
      }
    };
  }

  Array<std::int32_t> roots_, feature_, left_, right_;
  Array<double> threshold_;
  Array<bool> missing_left_;
  Matrix<double> value_;
  Array<double> base_;
  Array<bool> nan_features_;
  std::vector<SetAxis> sets_;
  nb::object ask_;
  std::unique_ptr<Combination> combination_;  // stays where it is when this object moves
  Ensemble view_{};
};

// The callback gets (phase, elapsed, lower, upper, states, fraction) and returns True to end the work with what there
// is. Signals are looked at every time, callback or not.
inline void connect(Control& control, const nb::object& progress, double time_limit, double memory_limit,
                    int n_threads) {
  control.time_limit = time_limit;
  if (memory_limit > 0) control.memory_limit = static_cast<std::size_t>(memory_limit);
  control.n_threads = n_threads;
  if (nb::hasattr(progress, "interval")) control.report_interval = nb::cast<double>(progress.attr("interval"));
  control.report = [&progress, &control](const ProgressReport& report) {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return true;
    if (progress.is_none()) return false;
    PyObject* answer = PyObject_CallFunction(
        progress.ptr(), "sdLLLd", report.phase, report.elapsed, static_cast<long long>(report.lower_bound),
        static_cast<long long>(report.upper_bound), static_cast<long long>(report.states), report.fraction);
    if (answer == Py_True) control.request_stop();
    Py_XDECREF(answer);
    return answer == nullptr;
  };
}

// Runs a job with the interpreter released; what stopped it becomes a Python exception.
template <typename Job>
auto run_released(Job&& job) {
  try {
    nb::gil_scoped_release release;
    return job();
  } catch (const Interrupted&) {
    if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
}

}  // namespace onetree::python
