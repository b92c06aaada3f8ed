// The language boundary: arrays in, arrays out, the interpreter released. Nothing here knows an algorithm.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bindings/borrowed.hpp"
#include "grid/grid.hpp"
#include "region/estimate.hpp"
#include "solve/solve.hpp"
#include "tree/predict.hpp"
#include "tree/shared_tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace onetree::python;

void bind_kernels(nb::module_& module);
void bind_proof(nb::module_& module);
void bind_support(nb::module_& module);

namespace {

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
  stats["work"] = statistics.work;
  stats["peak_bytes"] = statistics.peak_bytes;
  stats["engine"] = statistics.engine;
  stats["complete"] = outcome.is_complete;
  nb::dict result;
  result["solutions"] = solutions;
  result["stats"] = stats;
  return result;
}

template <typename Job>
nb::dict run(Job&& job) {
  return to_dict(run_released(job));
}

nb::dict solve(nb::handle ensemble, int objective, int engine, double time_limit, std::int64_t work_limit,
               double memory_limit, int n_threads, const nb::object& progress) {
  onetree::Control control;
  control.work_limit = work_limit;
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

nb::dict heuristic(nb::handle ensemble, int objective, double max_boxes, std::uint64_t seed, double time_limit,
                   std::int64_t work_limit, double memory_limit, const nb::object& progress) {
  onetree::Control control;
  control.work_limit = work_limit;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, memory_limit, 1);
  return run([&] {
    return onetree::heuristic(*borrowed, static_cast<onetree::Objective>(objective), max_boxes, seed, control);
  });
}

nb::tuple to_tuple(const onetree::Quantity& quantity) {
  return nb::make_tuple(quantity.mean, quantity.low, quantity.high);
}

nb::dict estimate(nb::handle ensemble, int objective, double max_boxes, double seconds, std::uint64_t seed,
                  const nb::object& progress) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, 0, 0, 1);
  const onetree::Estimate found = run_released([&] {
    return onetree::estimate(*borrowed, static_cast<onetree::Objective>(objective), max_boxes, seconds, seed, control);
  });
  nb::dict result;
  result["leaves"] = to_tuple(found.leaves);
  result["seconds"] = to_tuple(found.seconds);
  result["bytes"] = to_tuple(found.bytes);
  result["is_exact"] = found.is_exact;
  result["is_beyond"] = found.is_beyond;
  result["boxes"] = found.boxes;
  result["n_probes"] = found.n_probes;
  return result;
}

nb::list essential_levels(nb::handle ensemble, double time_limit) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  const nb::object none = nb::none();
  connect(control, none, time_limit, 0, 1);
  onetree::Levels levels = run_released([&] { return onetree::essential_levels(*borrowed, control); });
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

template <typename Value>
std::vector<Value> to_vector(const Array<Value>& array) {
  return {array.data(), array.data() + array.size()};
}

// The same tree with equal subtrees held once; parents come before their children in both.
nb::tuple share_nodes(const Array<std::int32_t>& feature, const Array<double>& threshold,
                      const Array<std::int32_t>& left, const Array<std::int32_t>& right,
                      const Array<std::int32_t>& leaf_class) {
  onetree::FlatTree tree{to_vector(feature), to_vector(threshold), to_vector(left), to_vector(right),
                         to_vector(leaf_class)};
  {
    nb::gil_scoped_release release;
    onetree::SharedTree shared;
    tree = shared.flatten(shared.import(tree));
  }
  return nb::make_tuple(to_numpy(std::move(tree.feature)), to_numpy(std::move(tree.threshold)),
                        to_numpy(std::move(tree.left)), to_numpy(std::move(tree.right)),
                        to_numpy(std::move(tree.leaf_class)));
}

}  // namespace

NB_MODULE(_core, module) {
  nb::exception<onetree::LimitReached>(module, "LimitReached");
  nb::exception<onetree::GridTooLarge>(module, "GridTooLarge");
  module.def("solve", &solve, "ensemble"_a, "objective"_a, "engine"_a, "time_limit"_a, "work_limit"_a, "memory_limit"_a,
             "n_threads"_a, "progress"_a.none());
  module.def("pareto_front", &pareto_front, "ensemble"_a, "time_limit"_a, "memory_limit"_a, "n_threads"_a,
             "progress"_a.none());
  module.def("heuristic", &heuristic, "ensemble"_a, "objective"_a, "max_boxes"_a, "seed"_a, "time_limit"_a,
             "work_limit"_a, "memory_limit"_a, "progress"_a.none());
  module.def("estimate", &estimate, "ensemble"_a, "objective"_a, "max_boxes"_a, "seconds"_a, "seed"_a,
             "progress"_a.none());
  module.def("essential_levels", &essential_levels, "ensemble"_a, "time_limit"_a);
  module.def("predict_tree", &predict_tree<float>, "feature"_a, "threshold"_a, "left"_a, "right"_a, "rows"_a);
  module.def("predict_tree", &predict_tree<double>, "feature"_a, "threshold"_a, "left"_a, "right"_a, "rows"_a);
  module.def("share_nodes", &share_nodes, "feature"_a, "threshold"_a, "left"_a, "right"_a, "leaf_class"_a);
  bind_kernels(module);
  bind_proof(module);
  bind_support(module);
}
