// The language boundary: arrays in, arrays out, the interpreter released. Nothing here knows an algorithm.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>

#include "grid.hpp"
#include "predict.hpp"
#include "solve.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <typename T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owned->data();
  const std::size_t size = owned->size();
  nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(data, {size}, owner);
}

// Borrows the arrays of a Python Ensemble for as long as this object lives.
class BorrowedEnsemble {
 public:
  explicit BorrowedEnsemble(nb::handle source)
      : roots_(nb::cast<Array<std::int32_t>>(source.attr("roots"))),
        feature_(nb::cast<Array<std::int32_t>>(source.attr("feature"))),
        left_(nb::cast<Array<std::int32_t>>(source.attr("left"))),
        right_(nb::cast<Array<std::int32_t>>(source.attr("right"))),
        threshold_(nb::cast<Array<double>>(source.attr("threshold"))),
        missing_left_(nb::cast<Array<bool>>(source.attr("missing_left"))),
        value_(nb::cast<Matrix<double>>(source.attr("value"))),
        base_(nb::cast<Array<double>>(source.attr("base"))),
        nan_features_(nb::cast<Array<bool>>(source.attr("nan_features"))) {
    nb::object rule = source.attr("rule");
    view_ = onetree::Ensemble{
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
                 .cut_inclusive = nb::cast<bool>(rule.attr("cut_inclusive"))},
    };
  }
  const onetree::Ensemble& operator*() const { return view_; }

 private:
  template <typename T>
  static std::span<const T> span(const Array<T>& array) {
    return {array.data(), array.size()};
  }
  static std::span<const std::uint8_t> flags(const Array<bool>& array) {
    return {reinterpret_cast<const std::uint8_t*>(array.data()), array.size()};
  }

  Array<std::int32_t> roots_, feature_, left_, right_;
  Array<double> threshold_;
  Array<bool> missing_left_;
  Matrix<double> value_;
  Array<double> base_;
  Array<bool> nan_features_;
  onetree::Ensemble view_{};
};

// The callback gets (phase, elapsed, lower, upper, states, fraction). Signals are looked at every time, callback or
// not.
void connect(onetree::Control& control, const nb::object& progress, double time_limit, double memory_limit,
             int n_threads) {
  control.time_limit = time_limit;
  if (memory_limit > 0) control.memory_limit = static_cast<std::size_t>(memory_limit);
  control.n_threads = n_threads;
  control.report = [&progress](const onetree::ProgressReport& report) {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return true;
    if (progress.is_none()) return false;
    PyObject* answer = PyObject_CallFunction(
        progress.ptr(), "sdLLLd", report.phase, report.elapsed, static_cast<long long>(report.lower_bound),
        static_cast<long long>(report.upper_bound), static_cast<long long>(report.states), report.fraction);
    Py_XDECREF(answer);
    return answer == nullptr;
  };
}

nb::dict to_dict(onetree::Outcome&& outcome) {
  nb::list solutions;
  for (onetree::Solution& solution : outcome.solutions) {
    nb::dict entry;
    entry["feature"] = to_numpy(std::move(solution.tree.feature));
    entry["threshold"] = to_numpy(std::move(solution.tree.threshold));
    entry["children_left"] = to_numpy(std::move(solution.tree.left));
    entry["children_right"] = to_numpy(std::move(solution.tree.right));
    entry["leaf_class"] = to_numpy(std::move(solution.tree.leaf_class));
    entry["depth"] = solution.depth;
    entry["leaves"] = solution.leaves;
    entry["depth_bound"] = solution.depth_bound;
    entry["leaves_bound"] = solution.leaves_bound;
    entry["optimal"] = solution.optimal;
    solutions.append(entry);
  }
  const onetree::Statistics& statistics = outcome.statistics;
  nb::dict stats;
  stats["cells"] = nb::int_(statistics.cells);
  stats["boxes"] = nb::int_(statistics.boxes);
  stats["states"] = statistics.states;
  stats["seconds"] = statistics.seconds;
  stats["peak_bytes"] = statistics.peak_bytes;
  stats["engine"] = statistics.engine;
  nb::dict result;
  result["solutions"] = solutions;
  result["stats"] = stats;
  return result;
}

template <typename Job>
nb::dict run(Job&& job) {
  onetree::Outcome outcome;
  try {
    nb::gil_scoped_release release;
    outcome = job();
  } catch (const onetree::Interrupted&) {
    if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
  return to_dict(std::move(outcome));
}

nb::dict solve(nb::handle ensemble, int objective, int engine, double time_limit, double memory_limit, int n_threads,
               const nb::object& progress) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, memory_limit, n_threads);
  return run([&] {
    return onetree::solve(*borrowed, static_cast<onetree::Objective>(objective), static_cast<onetree::Engine>(engine),
                          control);
  });
}

nb::dict pareto_front(nb::handle ensemble, double time_limit, double memory_limit, int n_threads,
                      const nb::object& progress) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, memory_limit, n_threads);
  return run([&] { return onetree::pareto_front(*borrowed, control); });
}

nb::list essential_levels(nb::handle ensemble, double time_limit) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  const nb::object none = nb::none();
  connect(control, none, time_limit, 0, 1);
  onetree::Levels levels;
  try {
    nb::gil_scoped_release release;
    levels = onetree::essential_levels(*borrowed, control);
  } catch (const onetree::Interrupted&) {
    throw nb::python_error();
  }
  nb::list result;
  for (std::vector<double>& thresholds : levels) result.append(to_numpy(std::move(thresholds)));
  return result;
}

template <typename Real>
nb::ndarray<nb::numpy, std::int32_t> predict_tree(const Array<std::int32_t>& feature, const Array<double>& threshold,
                                                  const Array<std::int32_t>& left, const Array<std::int32_t>& right,
                                                  const nb::ndarray<const Real, nb::ndim<2>, nb::device::cpu>& rows) {
  std::vector<std::int32_t> leaf(rows.shape(0));
  {
    nb::gil_scoped_release release;
    onetree::find_leaves({feature.size(), feature.data(), threshold.data(), left.data(), right.data()},
                         {rows.data(), rows.shape(0), rows.stride(0), rows.stride(1)}, leaf.data());
  }
  return to_numpy(std::move(leaf));
}

}  // namespace

NB_MODULE(_core, module) {
  nb::exception<onetree::LimitReached>(module, "LimitReached");
  nb::exception<onetree::GridTooLarge>(module, "GridTooLarge");
  module.def("solve", &solve, "ensemble"_a, "objective"_a, "engine"_a, "time_limit"_a, "memory_limit"_a, "n_threads"_a,
             "progress"_a.none());
  module.def("pareto_front", &pareto_front, "ensemble"_a, "time_limit"_a, "memory_limit"_a, "n_threads"_a,
             "progress"_a.none());
  module.def("essential_levels", &essential_levels, "ensemble"_a, "time_limit"_a);
  module.def("predict_tree", &predict_tree<float>, "feature"_a, "threshold"_a, "left"_a, "right"_a, "rows"_a);
  module.def("predict_tree", &predict_tree<double>, "feature"_a, "threshold"_a, "left"_a, "right"_a, "rows"_a);
}
