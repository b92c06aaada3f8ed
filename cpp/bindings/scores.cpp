// Trees whose leaves carry numbers. What cells admit, Python says: it has the library's functions.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <string>
#include <vector>

#include "bindings/borrowed.hpp"
#include "bindings/borrowed_admit.hpp"
#include "solve/solve.hpp"
#include "table/interval_table.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace onetree::python;

namespace {

onetree::Outcome solve_scores(nb::handle ensemble, int n_columns, const nb::object& admit, onetree::Objective objective,
                              onetree::Engine engine, double time_limit, std::int64_t work_limit, double memory_limit,
                              int n_threads, const nb::object& progress) {
  onetree::Control control;
  control.work_limit = work_limit;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, memory_limit, n_threads);
  return run_released([&] {
    return onetree::solve_scores(*borrowed, n_columns, borrowed_admit(admit, (*borrowed).n_outputs), objective, engine,
                                 control);
  });
}

onetree::Outcome score_front(nb::handle ensemble, int n_columns, const nb::object& admit, double time_limit,
                             double memory_limit, int n_threads, const nb::object& progress) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, memory_limit, n_threads);
  return run_released([&] {
    return onetree::score_front(*borrowed, n_columns, borrowed_admit(admit, (*borrowed).n_outputs), control);
  });
}

nb::ndarray<nb::numpy, double> distinct_sums(nb::handle ensemble, double time_limit, double memory_limit,
                                             const nb::object& progress) {
  onetree::Control control;
  const BorrowedEnsemble borrowed(ensemble);
  connect(control, progress, time_limit, memory_limit, 1);
  std::vector<double> sums = run_released([&] { return onetree::distinct_sums(*borrowed, control); });
  const std::size_t n_outputs = static_cast<std::size_t>((*borrowed).n_outputs), n_rows = sums.size() / n_outputs;
  return to_numpy(std::move(sums), {n_rows, n_outputs});
}

// As `box_values` in kernels.cpp. `cells`: numbers of admissions; `least` and `most`: admissions x columns.
nb::ndarray<nb::numpy, std::uint32_t> score_box_values(const std::vector<int>& slabs, const Array<std::uint32_t>& cells,
                                                       const Matrix<double>& least, const Matrix<double>& most,
                                                       onetree::Measure measure, std::size_t element_bytes,
                                                       const std::string& simd, int n_threads) {
  onetree::ScoreGrid grid;
  std::size_t n_cells = 1;
  for (const int n : slabs) {
    if (n < 1) throw nb::value_error("an axis has at least one slab");
    grid.axes.push_back({static_cast<int>(grid.axes.size()), std::vector<double>(n - 1)});
    n_cells *= static_cast<std::size_t>(n);
  }
  if (cells.size() != n_cells) throw nb::value_error("each cell has an admission");
  if (least.shape(0) != most.shape(0) || least.shape(1) != most.shape(1))
    throw nb::value_error("an admission has two ends in each column");
  for (std::size_t cell = 0; cell < n_cells; ++cell)
    if (cells.data()[cell] >= least.shape(0)) throw nb::value_error("there is no such admission");
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
    throw nb::value_error("a value has 1, 2 or 4 bytes");
  grid.cells.assign(cells.data(), cells.data() + cells.size());
  grid.n_columns = static_cast<int>(least.shape(1));
  grid.least.assign(least.data(), least.data() + least.size());
  grid.most.assign(most.data(), most.data() + most.size());
  onetree::Control control;
  control.n_threads = n_threads;
  return to_numpy(run_released([&] {
    const onetree::GridParts parts(grid, control);
    const onetree::ScoreRanks ranks(grid);
    const onetree::IntervalTable table(grid, ranks, parts, measure, element_bytes, control, onetree::simd_called(simd));
    return table.all_values(grid);
  }));
}

}  // namespace

#define ADMIT "admit: onetree.model.arrays.Admit"

void bind_scores(nb::module_& module) {
  module.def("solve_scores", &solve_scores, "ensemble"_a, "n_columns"_a, "admit"_a, "objective"_a, "engine"_a,
             "time_limit"_a, "work_limit"_a, "memory_limit"_a, "n_threads"_a, "progress"_a.none(),
             nb::sig("def solve_scores(" ENSEMBLE ", n_columns: int, " ADMIT
                     ", objective: Objective, engine: Engine, time_limit: float, work_limit: int, "
                     "memory_limit: float, n_threads: int, " PROGRESS ") -> Outcome"));
  module.def("score_front", &score_front, "ensemble"_a, "n_columns"_a, "admit"_a, "time_limit"_a, "memory_limit"_a,
             "n_threads"_a, "progress"_a.none(),
             nb::sig("def score_front(" ENSEMBLE ", n_columns: int, " ADMIT
                     ", time_limit: float, memory_limit: float, n_threads: int, " PROGRESS ") -> Outcome"));
  module.def("distinct_sums", &distinct_sums, "ensemble"_a, "time_limit"_a, "memory_limit"_a, "progress"_a.none(),
             nb::sig("def distinct_sums(" ENSEMBLE ", time_limit: float, memory_limit: float, " PROGRESS
                     ") -> numpy.typing.NDArray[numpy.float64]"));
  module.def("score_box_values", &score_box_values, "slabs"_a, "cells"_a, "least"_a, "most"_a, "measure"_a,
             "element_bytes"_a, "simd"_a, "n_threads"_a = 1);
}
