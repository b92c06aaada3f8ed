// The language boundary of trees that follow the data. Nothing here knows an algorithm.
#include <stdexcept>

#include "bindings/borrowed.hpp"
#include "support/mix.hpp"
#include "support/nearest.hpp"
#include "support/row_split.hpp"
#include "support/slab_trees.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace onetree::python;

namespace {

// One line per feature, each without gaps.
using Slabs = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::device::cpu>;
using Numbers = Array<std::int32_t>;

onetree::RowTable table_of(const Slabs& slabs) {
  if (slabs.shape(1) > 1 && slabs.stride(1) != 1)
    throw std::invalid_argument("the slabs of a feature must be adjacent");
  return {slabs.shape(0), slabs.stride(0), slabs.data()};
}

onetree::RowNumbers rows_of(onetree::RowNumbers rows, std::size_t n_rows) {
  for (const std::int32_t row : rows)
    if (row < 0 || static_cast<std::size_t>(row) >= n_rows) throw std::invalid_argument("there is no such row");
  return rows;
}

onetree::RowNumbers rows_of(const Numbers& rows, const Slabs& slabs) {
  return rows_of({rows.data(), rows.size()}, slabs.shape(1));
}

onetree::RowSplit least_impurity(const Slabs& slabs, const Numbers& classes, int n_classes, const Numbers& reference,
                                 const Numbers& synthetic, double synthetic_weight, bool faithful) {
  const onetree::RowTable table = table_of(slabs);
  const onetree::RowsOfNode rows{rows_of(reference, slabs), rows_of(synthetic, slabs), synthetic_weight};
  if (classes.size() < slabs.shape(1)) throw std::invalid_argument("every row needs a class");
  return run_released([&] { return onetree::least_impurity(table, rows, classes.data(), n_classes, faithful); });
}

onetree::RowSplit largest_gain(const Slabs& slabs, const Numbers& rows, const Array<double>& gain, double least) {
  const onetree::RowTable table = table_of(slabs);
  const onetree::RowNumbers numbers = rows_of(rows, slabs);
  if (gain.size() != numbers.size()) throw std::invalid_argument("every row needs a gain");
  return run_released([&] { return onetree::largest_gain(table, numbers, gain.data(), least); });
}

// The walk follows these numbers, so they are looked at before.
const onetree::SlabNode* nodes_of(const Matrix<std::int32_t>& nodes, std::span<const std::int32_t> roots,
                                  std::size_t n_features) {
  static_assert(sizeof(onetree::SlabNode) == 5 * sizeof(std::int32_t));
  if (nodes.shape(1) != 5) throw std::invalid_argument("a node on slabs is five numbers");
  const auto* first = reinterpret_cast<const onetree::SlabNode*>(nodes.data());
  const auto below = [](std::int32_t number, std::size_t end) {
    return number >= 0 && static_cast<std::size_t>(number) < end;
  };
  for (std::size_t i = 0; i < nodes.shape(0); ++i)
    if (!below(first[i].feature, n_features) || !below(first[i].child[0], nodes.shape(0)) ||
        !below(first[i].child[1], nodes.shape(0)))
      throw std::invalid_argument("a node has a feature or child that there is not");
  for (const std::int32_t root : roots)
    if (!below(root, nodes.shape(0))) throw std::invalid_argument("a root is not among the nodes");
  return first;
}

// The trees of an ensemble on slabs, looked at once, for many rows in several calls.
template <typename Real>
class SlabScores {
 public:
  SlabScores(const Numbers& roots, const Numbers& output, Matrix<std::int32_t> nodes, Matrix<Real> value,
             const Array<Real>& base, std::size_t n_features, std::int32_t n_slabs, const Array<double>& open,
             double cut)
      : nodes_(std::move(nodes)),
        value_(std::move(value)),
        n_features_(n_features),
        roots_(roots.data(), roots.data() + roots.size()),
        output_(output.data(), output.data() + output.size()),
        base_(base.data(), base.data() + base.size()),
        open_(open.data(), open.data() + open.size()),
        trees_{roots_, output_, nodes_of(nodes_, roots_, n_features), base_.size(), n_slabs, open_, cut} {
    if (output_.size() != roots_.size() || open_.size() != roots_.size() || value_.shape(0) != nodes_.shape(0) ||
        value_.shape(1) != base_.size())
      throw std::invalid_argument("the shapes of roots, output, nodes, value, base and open do not fit");
    for (const std::int32_t each : output_)
      if (each >= static_cast<std::int32_t>(base_.size())) throw std::invalid_argument("there is no such output");
  }
  SlabScores(const SlabScores&) = delete;
  SlabScores& operator=(const SlabScores&) = delete;

  auto of_rows(const Slabs& slabs) const {
    const std::size_t n_rows = slabs.shape(1), n_outputs = base_.size();
    if (slabs.shape(0) != n_features_) throw std::invalid_argument("rows need one slab per feature");
    const onetree::RowTable table = table_of(slabs);
    std::vector<Real> scores(n_rows * n_outputs);
    run_released([&] {
      for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = base_[i % n_outputs];
      onetree::add_scores(trees_, value_.data(), table, n_rows, scores.data());
    });
    return to_numpy(std::move(scores), {n_rows, n_outputs});
  }

 private:
  Matrix<std::int32_t> nodes_;
  Matrix<Real> value_;
  std::size_t n_features_;
  std::vector<std::int32_t> roots_, output_;
  std::vector<Real> base_;
  std::vector<double> open_;
  onetree::SlabTrees trees_;
};

template <typename Real>
void bind_slab_scores(nb::module_& module, const char* name) {
  nb::class_<SlabScores<Real>>(module, name)
      .def(nb::init<const Numbers&, const Numbers&, Matrix<std::int32_t>, Matrix<Real>, const Array<Real>&, std::size_t,
                    std::int32_t, const Array<double>&, double>(),
           "roots"_a, "output"_a, "nodes"_a, "value"_a, "base"_a, "n_features"_a, "n_slabs"_a, "open"_a, "cut"_a)
      .def("of_rows", &SlabScores<Real>::of_rows, "slabs"_a);
}

void mix_rows(const nb::ndarray<std::int32_t, nb::ndim<2>, nb::device::cpu>& slabs, const Numbers& origin,
              const Numbers& copied, const Matrix<std::int32_t>& others, std::size_t first, std::size_t n_new,
              std::uint64_t seed) {
  table_of(Slabs(slabs));
  const std::size_t n_rows = slabs.shape(1);
  const onetree::Parents parents{rows_of({copied.data(), copied.size()}, n_rows),
                                 rows_of({others.data(), others.size()}, n_rows), others.shape(1)};
  if (origin.size() != slabs.shape(0) || copied.size() == 0 || others.size() == 0 ||
      (others.shape(0) != 1 && others.shape(0) != copied.size()))
    throw std::invalid_argument("the shapes of slabs, origin, copied and others do not fit");
  if (first > n_rows || n_new > n_rows - first) throw std::invalid_argument("there is no room for so many rows");
  run_released([&] {
    onetree::mix_rows(slabs.data(), slabs.stride(0), {origin.data(), origin.size()}, parents, first, n_new, seed);
  });
}

auto slab_leaves(const Matrix<std::int32_t>& nodes, std::int32_t root, const Slabs& slabs, const Numbers& rows) {
  const onetree::RowTable table = table_of(slabs);
  const onetree::SlabNode* first = nodes_of(nodes, {&root, 1}, slabs.shape(0));
  const onetree::RowNumbers numbers = rows_of(rows, slabs);
  std::vector<std::int32_t> leaf(numbers.size());
  run_released([&] { onetree::find_leaves(first, root, table, numbers, leaf.data()); });
  return to_numpy(std::move(leaf));
}

auto smallest(const Matrix<float>& numbers, int n_smallest) {
  const std::size_t n_lines = numbers.shape(0), length = numbers.shape(1);
  if (n_smallest < 0 || static_cast<std::size_t>(n_smallest) > length)
    throw std::invalid_argument("a line has no more numbers than its length");
  std::vector<std::int32_t> found(n_lines * n_smallest);
  run_released([&] {
    for (std::size_t i = 0; i < n_lines; ++i)
      onetree::smallest({numbers.data() + i * length, length},
                        {found.data() + i * n_smallest, static_cast<std::size_t>(n_smallest)});
  });
  return to_numpy(std::move(found), {n_lines, static_cast<std::size_t>(n_smallest)});
}

}  // namespace

void bind_support(nb::module_& module) {
  module.def("least_impurity", &least_impurity, "slabs"_a, "classes"_a, "n_classes"_a, "reference"_a, "synthetic"_a,
             "synthetic_weight"_a, "faithful"_a);
  module.def("largest_gain", &largest_gain, "slabs"_a, "rows"_a, "gain"_a, "least"_a);
  bind_slab_scores<float>(module, "SlabScores32");
  bind_slab_scores<double>(module, "SlabScores64");
  module.def("mix_rows", &mix_rows, "slabs"_a, "origin"_a, "copied"_a, "others"_a, "first"_a, "n_new"_a, "seed"_a);
  module.def("slab_leaves", &slab_leaves, "nodes"_a, "root"_a, "slabs"_a, "rows"_a);
  module.def("smallest", &smallest, "numbers"_a, "n_smallest"_a);
}
