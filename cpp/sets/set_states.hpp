// The states of the search on grids with set axes: every reduced function met so far, once, with what is known of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/interner.hpp"
#include "sets/set_bounds.hpp"
#include "sets/set_function.hpp"

namespace onetree {

using SetStateId = std::int32_t;

struct SetState {
  std::int32_t n_tests = 0;
  std::int32_t longest_path = 0;  // no tree without idle splits is deeper
  std::int64_t sides = -1;        // where the states of its sides are listed; -1: not opened yet
  // Fewest splits of any tree.
  int splits_lower = 0;
  int splits_test = -1;   // number of the test that a tree of `splits_lower` splits begins with; -1: not found yet
  int splits_depth = -1;  // depth of that tree; -1: not found yet
  // Least depth of any tree.
  int depth_lower = 0;
  int depth_upper = 0;
  int depth_test = -1;  // a tree of depth `depth_upper` begins with this test; -1: not found yet

  bool splits_known() const { return splits_depth >= 0; }
};

class SetStates {
 public:
  // `tick` is called often; it may throw, and nothing is lost.
  SetStates(std::size_t memory_limit, std::function<void()> tick);

  // Renames the classes of the function. Throws LimitReached rather than grow past the memory limit.
  SetStateId add(SetFunction& function);
  SetFunction function(SetStateId id) const;
  // Meets the sides of all tests.
  void open(SetStateId id);
  SetStateId side(SetStateId id, int test, bool inside) const {
    return sides_[static_cast<std::size_t>(states_[id].sides) + 2 * test + (inside ? 0 : 1)];
  }
  // Tests of the state whose inside, or outside, contains that side: what that side needs, they need as well.
  template <typename Visit>
  void for_each_larger_side(SetStateId id, int test, bool inside, const Visit& visit) const;

  SetState& operator[](SetStateId id) { return states_[id]; }
  const SetState& operator[](SetStateId id) const { return states_[id]; }
  std::int64_t size() const { return static_cast<std::int64_t>(states_.size()); }
  SetShapes& shapes() { return shapes_; }
  std::size_t bytes() const {
    return keys_.bytes() + shapes_.bytes() + states_.capacity() * sizeof(SetState) +
           sides_.capacity() * sizeof(SetStateId);
  }

 private:
  void raise(SetStateId id, std::int64_t leaves);

  std::size_t memory_limit_;
  std::function<void()> tick_;
  SetShapes shapes_;
  SetFooling fooling_;
  Interner keys_;
  std::vector<SetState> states_;
  std::vector<SetStateId> sides_;
  std::vector<std::int32_t> scratch_;
};

template <typename Visit>
void SetStates::for_each_larger_side(SetStateId id, int test, bool inside, const Visit& visit) const {
  const std::span<const std::int32_t> key = keys_.key(id);
  int axis = 0, first = 0;  // of the key, whose shapes follow their number and the bits of a class
  while (test - first >= shapes_[key[2 + axis]].n_tests()) first += shapes_[key[2 + axis++]].n_tests();
  const SetAxis& shape = shapes_[key[2 + axis]];
  for (int other = 0; other < shape.n_tests(); ++other)
    for (const bool other_inside : {true, false}) {
      bool is_larger = true;
      for (int value = 0; value < shape.n_values && is_larger; ++value)
        is_larger = shape.contains(test - first, value) != inside || shape.contains(other, value) == other_inside;
      if (is_larger) visit(side(id, first + other, other_inside));
    }
}

}  // namespace onetree
