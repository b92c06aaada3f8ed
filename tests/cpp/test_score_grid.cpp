#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "grid/score_grid.hpp"

using namespace onetree;

namespace {

// A few trees on features whose thresholds are small integers.
struct Forest {
  int n_features = 3, n_outputs = 1;
  std::vector<std::int32_t> roots, feature, left, right;
  std::vector<double> threshold, value, base;
  std::vector<std::uint8_t> missing_left, nan_features;

  int add(check::Random& random, int depth) {
    const int node = static_cast<int>(feature.size());
    const bool is_leaf = depth == 0 || random.below(4) == 0;
    feature.push_back(is_leaf ? -1 : random.below(n_features));
    threshold.push_back(is_leaf ? 0 : random.below(3));
    missing_left.push_back(0);
    left.push_back(-1);
    right.push_back(-1);
    for (int k = 0; k < n_outputs; ++k) value.push_back(is_leaf ? random.below(5) * 0.1 : 0);
    if (is_leaf) return node;
    const int inside = add(random, depth - 1), outside = add(random, depth - 1);
    left[node] = inside;
    right[node] = outside;
    return node;
  }

  Ensemble ensemble() const {
    return {n_features, n_outputs,    2,     roots, feature,      left, right,
            threshold,  missing_left, value, base,  nan_features, {}};
  }
};

Forest random_forest(check::Random& random) {
  Forest forest;
  forest.n_outputs = 1 + random.below(2);
  forest.base.assign(forest.n_outputs, 0.25);
  forest.nan_features.assign(forest.n_features, 0);
  for (int tree = 0; tree < 3; ++tree) forest.roots.push_back(forest.add(random, 3));
  return forest;
}

std::vector<double> sums_at(const Forest& forest, const std::vector<double>& x) {
  std::vector<std::int32_t> leaves;
  for (std::int32_t node : forest.roots) {
    while (forest.feature[node] >= 0)
      node = x[forest.feature[node]] <= forest.threshold[node] ? forest.left[node] : forest.right[node];
    leaves.push_back(node);
  }
  std::vector<double> sums;
  forest.ensemble().sums(leaves, sums);
  return sums;
}

constexpr double kTolerance = 0.125;

void admit(std::span<const double> sums, std::size_t, std::vector<double>& least, std::vector<double>& most) {
  for (const double sum : sums) {
    least.push_back(std::floor(4 * sum) / 4 - kTolerance);
    most.push_back(std::floor(4 * sum) / 4 + kTolerance);
  }
}

}  // namespace

TEST(every_cell_admits_what_its_sums_admit) {
  check::Random random(1);
  for (int round = 0; round < 300; ++round) {
    const Forest forest = random_forest(random);
    Control control;
    int n_calls = 0;
    const auto counted = [&](std::span<const double> sums, std::size_t n_rows, std::vector<double>& least,
                             std::vector<double>& most) {
      ++n_calls;
      admit(sums, n_rows, least, most);
    };
    const ScoreGrid grid = build_score_grid(forest.ensemble(), forest.n_outputs, counted, control);
    CHECK_EQUAL(n_calls, 1);
    const std::vector<std::size_t> stride = cell_strides(grid);
    for (int at = 0; at < 64; ++at) {
      const std::vector<double> x{static_cast<double>(at & 3), static_cast<double>(at >> 2 & 3),
                                  static_cast<double>(at >> 4)};
      std::size_t cell = 0;
      for (int axis = 0; axis < grid.n_axes(); ++axis) {
        const std::vector<double>& t = grid.axes[axis].thresholds;
        cell += stride[axis] * (std::lower_bound(t.begin(), t.end(), x[grid.axes[axis].feature]) - t.begin());
      }
      std::vector<double> least, most;
      admit(sums_at(forest, x), 1, least, most);
      for (int k = 0; k < grid.n_columns; ++k) {
        CHECK_EQUAL(grid.least[grid.cells[cell] * grid.n_columns + k], least[k]);
        CHECK_EQUAL(grid.most[grid.cells[cell] * grid.n_columns + k], most[k]);
      }
    }
  }
}

TEST(across_every_hyperplane_that_is_left_some_admission_changes) {
  check::Random random(2);
  for (int round = 0; round < 300; ++round) {
    const Forest forest = random_forest(random);
    Control control;
    const ScoreGrid grid = build_score_grid(forest.ensemble(), forest.n_outputs, admit, control);
    const std::vector<std::size_t> stride = cell_strides(grid);
    for (int axis = 0; axis < grid.n_axes(); ++axis)
      for (int h = 0; h + 1 < grid.axes[axis].n_slabs(); ++h) {
        bool changes = false;
        for (std::size_t cell = 0; cell < grid.n_cells(); ++cell)
          if (static_cast<int>(cell / stride[axis] % grid.axes[axis].n_slabs()) == h)
            changes |= grid.cells[cell] != grid.cells[cell + stride[axis]];
        CHECK(changes);
      }
  }
}

TEST(an_admission_of_nothing_is_refused) {
  check::Random random(3);
  const Forest forest = random_forest(random);
  Control control;
  const auto nothing = [](std::span<const double> sums, std::size_t, std::vector<double>& least,
                          std::vector<double>& most) {
    least.assign(sums.size(), 1);
    most.assign(sums.size(), std::nan(""));
  };
  bool refused = false;
  try {
    build_score_grid(forest.ensemble(), forest.n_outputs, nothing, control);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
}
