// Which vector path is used, and tables made by each of them, to be compared.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings/borrowed.hpp"
#include "table/interval_table.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace onetree::python;

namespace {

std::vector<std::string> available() {
  std::vector<std::string> names;
  for (const onetree::Simd simd : onetree::available_simd()) names.emplace_back(onetree::name_of(simd));
  return names;
}

// `classes`: of the cells of a grid with these numbers of slabs, last axis fastest. Neighbouring slabs need not differ.
nb::ndarray<nb::numpy, std::uint32_t> box_values(const std::vector<int>& slabs, const Array<std::uint8_t>& classes,
                                                 onetree::Measure measure, std::size_t element_bytes,
                                                 const std::string& simd, int n_threads) {
  onetree::Grid grid;
  std::size_t n_cells = 1;
  for (const int n : slabs) {
    if (n < 1) throw nb::value_error("an axis has at least one slab");
    grid.axes.push_back({static_cast<int>(grid.axes.size()), std::vector<double>(n - 1)});
    n_cells *= static_cast<std::size_t>(n);
  }
  if (classes.size() != n_cells) throw nb::value_error("each cell has a class");
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
    throw nb::value_error("a value has 1, 2 or 4 bytes");
  grid.classes.assign(classes.data(), classes.data() + classes.size());
  onetree::Control control;
  control.n_threads = n_threads;
  return to_numpy(run_released([&] {
    const onetree::GridParts parts(grid, control);
    const onetree::IntervalTable table(grid, parts, measure, element_bytes, control, onetree::simd_called(simd));
    return table.all_values(grid);
  }));
}

}  // namespace

void bind_kernels(nb::module_& module) {
  module.def("simd", [] { return std::string(onetree::name_of(onetree::chosen_simd())); });
  module.def("available_simd", &available);
  module.def("box_values", &box_values, "slabs"_a, "classes"_a, "measure"_a, "element_bytes"_a, "simd"_a,
             "n_threads"_a = 1);
}
