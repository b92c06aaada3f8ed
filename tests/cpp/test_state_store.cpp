#include <map>
#include <tuple>

#include "base/control.hpp"
#include "check.hpp"
#include "search/state_store.hpp"

using namespace onetree;

namespace {

SetAxis singles(int n_values) {  // a test for each value
  SetAxis axis;
  axis.n_values = n_values;
  for (int test = 0; test < n_values; ++test)
    for (int value = 0; value < n_values; ++value) axis.member.push_back(test == value);
  return axis;
}

// Of one to three axes, some without an order.
Function random_function(check::Random& random, Shapes& shapes, int n_classes) {
  Function function;
  std::size_t n_cells = 1;
  const int n_axes = 1 + random.below(3);
  const bool has_sets = random.below(2) == 1;
  for (int axis = 0; axis < n_axes; ++axis) {
    function.size.push_back(3 + random.below(2));
    n_cells *= static_cast<std::size_t>(function.size.back());
    if (has_sets)
      function.shape.push_back(axis == 0 || random.below(2) == 1 ? shapes.add(singles(function.size.back()))
                                                                 : kOrdered);
  }
  for (std::size_t cell = 0; cell < n_cells; ++cell)
    function.classes.push_back(static_cast<CellClass>(random.below(n_classes)));
  return function;
}

}  // namespace

TEST(a_state_gives_back_the_function_that_it_was_made_of) {
  check::Random random(5);
  Shapes shapes;
  StateStore<Function> store(shapes, std::size_t{1} << 30);
  for (const int n_classes : {1, 2, 3, 5, 17, 256})
    for (int i = 0; i < 300; ++i) {
      Function function = random_function(random, shapes, n_classes);
      const auto [id, is_new] = store.intern(function);  // renames the classes
      const Function found = store.function(id);
      CHECK((found.size == function.size));
      CHECK((found.shape == function.shape));
      CHECK((found.classes == function.classes));
      CHECK_EQUAL(store[id].n_cuts, n_cuts(function, shapes));
      CHECK_EQUAL(store.find(function), id);
    }
}

TEST(states_are_one_if_and_only_if_their_functions_are) {
  check::Random random(6);
  Shapes shapes;
  StateStore<Function> store(shapes, std::size_t{1} << 30);
  std::map<std::tuple<std::vector<int>, std::vector<int>, std::vector<CellClass>>, StateId> known;
  for (int i = 0; i < 5'000; ++i) {
    Function function = random_function(random, shapes, 2);
    function.classes.resize(function.classes.size());
    const auto [id, is_new] = store.intern(function);
    const auto [entry, is_unknown] = known.try_emplace({function.size, function.shape, function.classes}, id);
    CHECK_EQUAL(is_new, is_unknown);
    CHECK_EQUAL(entry->second, id);
  }
  CHECK_EQUAL(store.size(), known.size());
}

TEST(names_of_classes_do_not_matter) {
  Shapes shapes;
  StateStore<Function> store(shapes, std::size_t{1} << 30);
  Function function{{{2, 2}}, {7, 3, 3, 9}}, renamed{{{2, 2}}, {0, 1, 1, 2}}, other{{{2, 2}}, {0, 1, 0, 2}};
  const StateId id = store.intern(function).id;
  CHECK_EQUAL(store.intern(renamed).id, id);
  CHECK(store.intern(other).id != id);
}

TEST(an_axis_with_an_order_is_not_one_without) {
  Shapes shapes;
  StateStore<Function> store(shapes, std::size_t{1} << 30);
  Function ordered{{{3}}, {0, 1, 2}}, unordered{{{3}, {shapes.add(singles(3))}}, {0, 1, 2}};
  CHECK(store.intern(ordered).id != store.intern(unordered).id);
}

TEST(the_store_stops_at_its_memory_limit) {
  check::Random random(7);
  Shapes shapes;
  StateStore<Function> store(shapes, 100'000);
  bool has_stopped = false;
  try {
    for (int i = 0; i < 100'000; ++i) {
      Function function = random_function(random, shapes, 200);
      store.intern(function);
    }
  } catch (const LimitReached&) {
    has_stopped = true;
  }
  CHECK(has_stopped);
  CHECK(store.size() > 0);
}
