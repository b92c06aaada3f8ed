#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "check.hpp"
#include "search/fooling.hpp"
#include "search/state_search.hpp"

using namespace onetree;

namespace {

Axis ordered_axis(int feature, int n_slabs) {
  Axis axis{feature, {}, {}};
  for (int slab = 0; slab + 1 < n_slabs; ++slab) axis.thresholds.push_back(slab);
  return axis;
}

Axis set_axis(check::Random& random, int feature, int n_values) {
  Axis axis{feature, {}, {}};
  axis.set.n_values = n_values;
  // Each value alone but the last, which only these tell from the others; and two of them.
  for (int test = 0; test < n_values; ++test) {
    const int one = test + 1 < n_values ? test : random.below(n_values);
    const int other = test + 1 < n_values ? test : random.below(n_values);
    axis.thresholds.push_back(test);
    for (int value = 0; value < n_values; ++value) axis.set.member.push_back(value == one || value == other);
  }
  return axis;
}

// Whether neighbouring slabs differ on every axis.
bool is_reduced(const Grid& grid) {
  const std::vector<std::size_t> stride = cell_strides(grid);
  for (int axis = 0; axis < grid.n_axes(); ++axis)
    for (int slab = 1; slab < grid.axes[axis].n_slabs(); ++slab) {
      bool differs = false;
      for (std::size_t cell = 0; cell < grid.n_cells(); ++cell)
        if (static_cast<int>(cell / stride[axis]) % grid.axes[axis].n_slabs() == slab)
          differs = differs || grid.classes[cell] != grid.classes[cell - stride[axis]];
      if (!differs) return false;
    }
  return true;
}

// Of axes of both kinds.
Grid random_grid(check::Random& random, int n_axes, int most_slabs) {
  Grid grid;
  std::size_t n_cells = 1;
  for (int axis = 0; axis < n_axes; ++axis) {
    const int size = 2 + random.below(most_slabs - 1);
    grid.axes.push_back(random.below(2) == 0 ? set_axis(random, axis, size) : ordered_axis(axis, size));
    n_cells *= static_cast<std::size_t>(size);
  }
  do {
    grid.classes.clear();
    for (std::size_t cell = 0; cell < n_cells; ++cell) grid.classes.push_back(static_cast<CellClass>(random.below(2)));
  } while (!is_reduced(grid));
  return grid;
}

// Fewest splits and least depth, by trying every tree.
struct Best {
  int splits, depth;
};

using Known = std::map<std::tuple<std::vector<int>, std::vector<int>, std::vector<CellClass>>, Best>;

Best best_tree(const Function& function, Shapes& shapes, Known& known) {
  if (function.is_constant()) return {0, 0};
  const auto [entry, is_new] = known.try_emplace({function.size, function.shape, function.classes}, Best{});
  if (!is_new) return entry->second;
  Best best{kNoTree, kNoTree};
  const Profile profile(function, shapes);
  for (int number = 0; number < n_cuts(function, shapes); ++number) {
    const Cut cut = cut_at(function, shapes, number);
    const Best left = best_tree(side_of(function, profile, cut, true), shapes, known);
    const Best right = best_tree(side_of(function, profile, cut, false), shapes, known);
    best.splits = std::min(best.splits, left.splits + right.splits + 1);
    best.depth = std::min(best.depth, std::max(left.depth, right.depth) + 1);
  }
  return entry->second = best;
}

// Small functions, and some of more than a word of cells.
template <typename Visit>
void for_random_functions(std::uint64_t seed, const Visit& visit) {
  check::Random random(seed);
  for (int round = 0; round < 200; ++round) {
    Shapes shapes;
    Known known;
    const Function function = function_of(random_grid(random, 2 + round % 2, round % 40 == 1 ? 6 : 4), shapes);
    visit(function, shapes, best_tree(function, shapes, known));
  }
}

}  // namespace

TEST(no_tree_is_smaller_than_its_bounds_whatever_the_axes) {
  for_random_functions(8, [](Function function, Shapes& shapes, const Best& best) {
    rename_classes(function.classes);
    Fooling fooling(shapes, std::size_t{1} << 30, 1 << 20, [] {});
    const CellBounds bounds = fooling.bounds(function);
    CHECK(bounds.leaves <= best.splits + 1);
    CHECK(bounds.depth <= best.depth);
    CHECK_EQUAL(fooling.left_of_cuts(function).back(), bounds.leaves);
  });
}

TEST(the_search_finds_the_best_of_all_trees_whatever_the_axes) {
  for_random_functions(9, [](Function function, Shapes& shapes, const Best& best) {
    StateSearch<ClassCells> search(shapes, std::size_t{1} << 30, [] {});
    const StateId root = search.add(function);
    search.search(root, kAnyDepth, kNoTree - 1);
    CHECK_EQUAL(search.bound(root, kAnyDepth).lower, best.splits);
    CHECK(search.fits(root, best.depth));
    CHECK(!search.fits(root, best.depth - 1));
  });
}
