#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "bound/tree_bounds.hpp"
#include "check.hpp"

using namespace onetree;

namespace {

// Some features have an order, some do not.
struct Case {
  FlatTree tree;
  std::vector<SetAxis> sets;
};

SetAxis random_set(check::Random& random, int n_values, int n_tests) {
  SetAxis axis{n_values, {}};
  for (int i = 0; i < n_values * n_tests; ++i) axis.member.push_back(static_cast<std::uint8_t>(random.below(2)));
  return axis;
}

// Splits are drawn without a look at those above, so some decide nothing.
Case random_case(check::Random& random, int n_features, int n_splits) {
  Case made;
  for (int feature = 0; feature < n_features; ++feature)
    made.sets.push_back(random.below(2) == 0 ? random_set(random, 2 + random.below(4), 1 + random.below(4))
                                             : SetAxis{});
  FlatTree& tree = made.tree;
  tree.add_leaf(0);
  for (int split = 0; split < n_splits; ++split) {
    int node = 0;
    while (tree.feature[node] >= 0) node = random.below(2) == 0 ? tree.left[node] : tree.right[node];
    const int feature = random.below(n_features);
    tree.feature[node] = feature;
    tree.threshold[node] = random.below(made.sets[feature] ? made.sets[feature].n_tests() : 4);
    tree.leaf_class[node] = -1;
    tree.left[node] = tree.add_leaf(random.below(3));
    tree.right[node] = tree.add_leaf(random.below(3));
  }
  return made;
}

// The thresholds of a tree on a feature, ascending.
std::vector<double> levels(const FlatTree& tree, int feature) {
  std::set<double> found;
  for (std::size_t node = 0; node < tree.feature.size(); ++node)
    if (tree.feature[node] == feature) found.insert(tree.threshold[node]);
  return {found.begin(), found.end()};
}

int class_at(const Case& given, const std::vector<int>& features, const std::vector<int>& cell) {
  const FlatTree& tree = given.tree;
  int node = 0;
  while (tree.feature[node] >= 0) {
    const int feature = tree.feature[node];
    const int slab = cell[std::find(features.begin(), features.end(), feature) - features.begin()];
    bool left;
    if (given.sets[feature]) {
      left = given.sets[feature].contains(static_cast<int>(tree.threshold[node]), slab);
    } else {
      const std::vector<double> at = levels(tree, feature);
      left = slab <= std::find(at.begin(), at.end(), tree.threshold[node]) - at.begin();
    }
    node = left ? tree.left[node] : tree.right[node];
  }
  return tree.leaf_class[node];
}

// What every leaf contains on an axis that contains two of its slabs.
std::vector<int> between(const Case& given, int feature, int a, int b) {
  std::vector<int> slabs;
  const SetAxis& set = given.sets[feature];
  if (!set) {
    for (int slab = std::min(a, b); slab <= std::max(a, b); ++slab) slabs.push_back(slab);
    return slabs;
  }
  for (int value = 0; value < set.n_values; ++value) {
    bool is_parted = false;
    for (int test = 0; test < set.n_tests(); ++test)
      is_parted = is_parted || (set.contains(test, a) == set.contains(test, b) &&
                                set.contains(test, a) != set.contains(test, value));
    if (!is_parted) slabs.push_back(value);
  }
  return slabs;
}

bool fit_in_one_leaf(const Case& given, const std::vector<int>& features, const std::vector<int>& a,
                     const std::vector<int>& b) {
  std::vector<std::vector<int>> cells = {{}};
  for (std::size_t axis = 0; axis < features.size(); ++axis) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& cell : cells)
      for (const int slab : between(given, features[axis], a[axis], b[axis])) {
        longer.push_back(cell);
        longer.back().push_back(slab);
      }
    cells.swap(longer);
  }
  const int class_of_a = class_at(given, features, a);
  return std::all_of(cells.begin(), cells.end(),
                     [&](const std::vector<int>& cell) { return class_at(given, features, cell) == class_of_a; });
}

std::vector<std::vector<int>> cells_of(const TreeBounds& bounds) {
  std::vector<std::vector<int>> cells;
  for (std::size_t at = 0; at < bounds.cells.size(); at += bounds.feature.size())
    cells.emplace_back(bounds.cells.begin() + static_cast<std::ptrdiff_t>(at),
                       bounds.cells.begin() + static_cast<std::ptrdiff_t>(at + bounds.feature.size()));
  return cells;
}

void check_cells(const Case& given, const TreeBounds& bounds) {
  const std::vector<std::vector<int>> cells = cells_of(bounds);
  CHECK_EQUAL(static_cast<std::int64_t>(std::max<std::size_t>(1, cells.size())), bounds.leaves);
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(!fit_in_one_leaf(given, bounds.feature, cells[i], cells[j]));
}

}  // namespace

TEST(no_two_cells_of_a_bound_fit_in_one_leaf) {
  check::Random random(1);
  int n_cells = 0;
  for (int round = 0; round < 300; ++round) {
    const Case given = random_case(random, 1 + random.below(4), random.below(40));
    Control control;
    const TreeBounds bounds = bounds_from_tree(given.tree, given.sets, control);
    check_cells(given, bounds);
    CHECK(bounds.leaves <= given.tree.n_leaves());
    CHECK(bounds.depth <= given.tree.depth());
    n_cells += static_cast<int>(bounds.leaves);
  }
  CHECK(n_cells > 1000);  // the bounds are not trivial
}

TEST(a_part_of_a_tree_bounds_the_whole) {
  check::Random random(2);
  for (int round = 0; round < 100; ++round) {
    const Case given = random_case(random, 3, 60);
    Control control;
    control.memory_limit = 2000;  // too little for all leaves
    const TreeBounds bounds = bounds_from_tree(given.tree, given.sets, control);
    CHECK(bounds.peak_bytes <= control.memory_limit);
    check_cells(given, bounds);
  }
}

TEST(a_limit_in_steps_leaves_a_smaller_bound_that_holds) {
  check::Random random(3);
  for (int round = 0; round < 20; ++round) {
    const Case given = random_case(random, 4, 400);
    for (const int steps : {1, 3, 6}) {
      Control control;
      control.work_limit = steps;
      check_cells(given, bounds_from_tree(given.tree, given.sets, control));
    }
  }
}

TEST(a_checkerboard_is_bounded_by_all_its_cells) {
  FlatTree tree;  // of one feature, eight slabs
  for (int slab = 0; slab < 7; ++slab) {
    const int node = tree.add_split(0, slab);
    tree.left[node] = tree.add_leaf(slab % 2);
    tree.right[node] = slab < 6 ? node + 2 : tree.add_leaf(1);
  }
  Control control;
  const TreeBounds bounds = bounds_from_tree(tree, {}, control);
  CHECK_EQUAL(bounds.leaves, 8);
  CHECK_EQUAL(bounds.depth, 3);
}

TEST(an_axis_of_many_values_leaves_no_bound) {
  Case given;
  given.sets.push_back(SetAxis{65, std::vector<std::uint8_t>(65)});
  given.sets[0].member[3] = 1;
  const int node = given.tree.add_split(0, 0);
  given.tree.left[node] = given.tree.add_leaf(0);
  given.tree.right[node] = given.tree.add_leaf(1);
  Control control;
  CHECK_EQUAL(bounds_from_tree(given.tree, given.sets, control).leaves, 1);
}
