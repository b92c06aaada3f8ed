// A Python function that says which numbers leaves may carry, as the core calls it.
#pragma once

#include <nanobind/stl/pair.h>

#include <span>
#include <utility>
#include <vector>

#include "bindings/borrowed.hpp"
#include "grid/score_grid.hpp"

namespace onetree::python {

// The callable gets the sums, an array (rows, outputs), and returns two arrays (rows, columns). It must outlive what is
// returned, and be called from the thread that waits: what it raises is raised there.
inline Admit borrowed_admit(const nb::object& admit, int n_outputs) {
  return [&admit, n_outputs](std::span<const double> sums, std::size_t n_rows, std::vector<double>& least,
                             std::vector<double>& most) {
    const nb::gil_scoped_acquire gil;
    try {
      const nb::object given =
          admit(to_numpy(std::vector<double>(sums.begin(), sums.end()), {n_rows, static_cast<std::size_t>(n_outputs)}));
      const auto [low, high] = nb::cast<std::pair<nb::object, nb::object>>(given);
      const auto lower = nb::cast<Matrix<double>>(low), upper = nb::cast<Matrix<double>>(high);
      least.assign(lower.data(), lower.data() + lower.size());
      most.assign(upper.data(), upper.data() + upper.size());
    } catch (nb::python_error& error) {
      error.restore();
      throw Interrupted();
    }
  };
}

}  // namespace onetree::python
