// The language boundary: arrays in, arrays out, the interpreter released. Nothing here knows an algorithm.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bindings/borrowed.hpp"
#include "bound/tree_bounds.hpp"
#include "grid/grid.hpp"
#include "region/estimate.hpp"
#include "solve/solve.hpp"
#include "tree/shared_tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace onetree::python;

void bind_kernels(nb::module_& module);
void bind_proof(nb::module_& module);
void bind_question(nb::module_& module);
void bind_results(nb::module_& module);
void bind_score_regions(nb::module_& module);
void bind_scores(nb::module_& module);
void bind_support(nb::module_& module);
void bind_walk(nb::module_& module);

namespace {

onetree::Outcome solve(nb::handle ensemble, onetree::Objective objective, onetree::Engine engine, double time_limit,
                       std::int64_t work_limit, double memory_limit, int n_threads, const nb::object& progress) {
  onetree::Control control;
  control.work_limit = work_limit;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, memory_limit, n_threads);
  return run_released([&] { return onetree::solve(*borrowed, objective, engine, control); });
}

onetree::Outcome pareto_front(nb::handle ensemble, double time_limit, double memory_limit, int n_threads,
                              const nb::object& progress) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, memory_limit, n_threads);
  return run_released([&] { return onetree::pareto_front(*borrowed, control); });
}

onetree::Outcome heuristic(nb::handle ensemble, onetree::Objective objective, double max_boxes, std::uint64_t seed,
                           double time_limit, std::int64_t work_limit, double memory_limit, int n_threads,
                           const nb::object& progress) {
  onetree::Control control;
  control.work_limit = work_limit;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, memory_limit, n_threads);
  return run_released([&] { return onetree::heuristic(*borrowed, objective, max_boxes, seed, control); });
}

onetree::TreeBounds tree_bounds(nb::handle ensemble, const onetree::FlatTree& tree, double time_limit,
                                std::int64_t work_limit, double memory_limit, int n_threads,
                                const nb::object& progress) {
  onetree::Control control;
  control.work_limit = work_limit;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, memory_limit, n_threads);
  return run_released([&] { return onetree::bounds_from_tree(tree, (*borrowed).sets, control); });
}

onetree::Estimate estimate(nb::handle ensemble, onetree::Objective objective, double max_boxes, double seconds,
                           std::uint64_t seed, const nb::object& progress) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, 0, 0, 1);
  return run_released([&] { return onetree::estimate(*borrowed, objective, max_boxes, seconds, seed, control); });
}

std::vector<nb::ndarray<nb::numpy, double>> to_arrays(onetree::Levels&& levels) {
  std::vector<nb::ndarray<nb::numpy, double>> arrays;
  for (std::vector<double>& thresholds : levels) arrays.emplace_back(to_numpy(std::move(thresholds)));
  return arrays;
}

std::vector<nb::ndarray<nb::numpy, double>> levels(nb::handle ensemble) {
  return to_arrays(onetree::levels_of(*BorrowedEnsemble(ensemble)));
}

std::vector<nb::ndarray<nb::numpy, double>> essential_levels(nb::handle ensemble, double time_limit) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  const nb::object none = nb::none();
  connect(control, none, time_limit, 0, 1);
  return to_arrays(run_released([&] { return onetree::essential_levels(*borrowed, control); }));
}

template <typename Value>
std::vector<Value> to_vector(const Array<Value>& array) {
  return {array.data(), array.data() + array.size()};
}

// The same tree with equal subtrees held once; parents come before their children in both.
onetree::FlatTree share_nodes(const Array<std::int32_t>& feature, const Array<double>& threshold,
                              const Array<std::int32_t>& left, const Array<std::int32_t>& right,
                              const Array<std::int32_t>& leaf_class) {
  const onetree::FlatTree tree{to_vector(feature), to_vector(threshold), to_vector(left), to_vector(right),
                               to_vector(leaf_class)};
  nb::gil_scoped_release release;
  onetree::SharedTree shared;
  return shared.flatten(shared.import(tree));
}

// The C library's exponential, which XGBoost and LightGBM call; numpy has one of its own.
template <typename Real>
nb::ndarray<nb::numpy, Real> exponentials(const Array<Real>& numbers) {
  std::vector<Real> results(numbers.size());
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = std::exp(numbers.data()[i]);
  return to_numpy(std::move(results));
}

}  // namespace

NB_MODULE(_core, module) {
  nb::exception<onetree::LimitReached>(module, "LimitReached");
  nb::exception<onetree::GridTooLarge>(module, "GridTooLarge");
  bind_results(module);
  module.def("solve", &solve, "ensemble"_a, "objective"_a, "engine"_a, "time_limit"_a, "work_limit"_a, "memory_limit"_a,
             "n_threads"_a, "progress"_a.none(),
             nb::sig("def solve(" ENSEMBLE ", objective: Objective, engine: Engine, time_limit: float, "
                     "work_limit: int, memory_limit: float, n_threads: int, " PROGRESS ") -> Outcome"));
  module.def("pareto_front", &pareto_front, "ensemble"_a, "time_limit"_a, "memory_limit"_a, "n_threads"_a,
             "progress"_a.none(),
             nb::sig("def pareto_front(" ENSEMBLE ", time_limit: float, memory_limit: float, n_threads: int, " PROGRESS
                     ") -> Outcome"));
  module.def(
      "heuristic", &heuristic, "ensemble"_a, "objective"_a, "max_boxes"_a, "seed"_a, "time_limit"_a, "work_limit"_a,
      "memory_limit"_a, "n_threads"_a, "progress"_a.none(),
      nb::sig("def heuristic(" ENSEMBLE ", objective: Objective, max_boxes: float, seed: int, "
              "time_limit: float, work_limit: int, memory_limit: float, n_threads: int, " PROGRESS ") -> Outcome"));
  module.def("tree_bounds", &tree_bounds, "ensemble"_a, "tree"_a, "time_limit"_a, "work_limit"_a, "memory_limit"_a,
             "n_threads"_a, "progress"_a.none(),
             nb::sig("def tree_bounds(" ENSEMBLE ", tree: FlatTree, time_limit: float, work_limit: int, "
                     "memory_limit: float, n_threads: int, " PROGRESS ") -> TreeBounds"));
  module.def("estimate", &estimate, "ensemble"_a, "objective"_a, "max_boxes"_a, "seconds"_a, "seed"_a,
             "progress"_a.none(),
             nb::sig("def estimate(" ENSEMBLE
                     ", objective: Objective, max_boxes: float, seconds: float, seed: int, " PROGRESS ") -> Estimate"));
  module.def("levels", &levels, "ensemble"_a,
             nb::sig("def levels(" ENSEMBLE ") -> list[numpy.typing.NDArray[numpy.float64]]"));
  module.def("essential_levels", &essential_levels, "ensemble"_a, "time_limit"_a,
             nb::sig("def essential_levels(" ENSEMBLE ", time_limit: float) -> "
                     "list[numpy.typing.NDArray[numpy.float64]]"));
  module.def("share_nodes", &share_nodes, "feature"_a, "threshold"_a, "left"_a, "right"_a, "leaf_class"_a);
  module.def("exp32", &exponentials<float>, "numbers"_a);
  module.def("exp64", &exponentials<double>, "numbers"_a);
  bind_kernels(module);
  bind_proof(module);
  bind_question(module);
  bind_score_regions(module);
  bind_scores(module);
  bind_support(module);
  bind_walk(module);
}
