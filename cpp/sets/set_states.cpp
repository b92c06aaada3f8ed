#include "sets/set_states.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/control.hpp"

namespace onetree {

namespace {

constexpr double kWorkOfBounds = 2e5;  // per state
constexpr int kKeyHead = 2;            // number of axes, bits per class; shapes and classes follow

int rename(std::vector<Class>& classes) {
  std::array<int, kMaxClasses> name;
  name.fill(-1);
  int n_classes = 0;
  for (Class& each : classes) {
    if (name[each] < 0) name[each] = n_classes++;
    each = static_cast<Class>(name[each]);
  }
  return n_classes;
}

int log2_up(std::int64_t n) {
  return std::bit_width(static_cast<std::uint64_t>(n - 1));
}

}  // namespace

SetStates::SetStates(std::size_t memory_limit, std::function<void()> tick)
    : memory_limit_(memory_limit), tick_(std::move(tick)), fooling_(shapes_, kWorkOfBounds, tick_) {}

SetStateId SetStates::add(SetFunction& function) {
  const int n_classes = rename(function.classes);
  const int bits = n_classes <= 2 ? 1 : n_classes <= 4 ? 2 : n_classes <= 16 ? 4 : 8;
  scratch_.assign({function.n_axes(), bits});
  scratch_.insert(scratch_.end(), function.shape.begin(), function.shape.end());
  const std::size_t per_word = static_cast<std::size_t>(32 / bits);
  for (std::size_t first = 0; first < function.n_cells(); first += per_word) {
    std::uint32_t word = 0;
    for (std::size_t cell = first; cell < std::min(first + per_word, function.n_cells()); ++cell)
      word |= std::uint32_t{function.classes[cell]} << ((cell - first) * bits);
    scratch_.push_back(static_cast<std::int32_t>(word));
  }
  // Vectors double: twice what stands may be needed for a moment.
  if (2 * (bytes() + scratch_.size() * sizeof(std::int32_t)) > memory_limit_) throw LimitReached("memory");
  const auto [id, is_new] = keys_.intern(scratch_);
  if (!is_new) return id;
  SetState state;
  state.n_tests = count_tests(function, shapes_);
  for (const int shape : function.shape) state.longest_path += shapes_.longest_path(shape);
  state.depth_upper = state.longest_path;
  if (function.is_constant()) state.splits_depth = 0;
  states_.push_back(state);  // with bounds that hold, should the next line throw
  const SetBounds bounds = fooling_.bounds(function);
  states_[id].splits_lower = static_cast<int>(bounds.leaves) - 1;
  states_[id].depth_lower = static_cast<int>(bounds.depth);
  return id;
}

SetFunction SetStates::function(SetStateId id) const {
  const std::span<const std::int32_t> key = keys_.key(id);
  SetFunction function;
  std::size_t n_cells = 1;
  for (int axis = 0; axis < key[0]; ++axis) {
    function.shape.push_back(key[kKeyHead + axis]);
    function.size.push_back(shapes_[function.shape.back()].n_values);
    n_cells *= static_cast<std::size_t>(function.size.back());
  }
  const std::size_t bits = static_cast<std::size_t>(key[1]), per_word = 32 / bits;
  const std::span<const std::int32_t> words = key.subspan(kKeyHead + key[0]);
  function.classes.resize(n_cells);
  for (std::size_t cell = 0; cell < n_cells; ++cell)
    function.classes[cell] = static_cast<Class>(
        static_cast<std::uint32_t>(words[cell / per_word]) >> (cell % per_word * bits) & ((1U << bits) - 1));
  return function;
}

void SetStates::raise(SetStateId id, std::int64_t leaves) {
  SetState& state = states_[id];
  if (state.splits_known()) return;
  state.splits_lower = std::max(state.splits_lower, static_cast<int>(leaves) - 1);
  state.depth_lower = std::max(state.depth_lower, log2_up(std::int64_t{state.splits_lower} + 1));
}

void SetStates::open(SetStateId id) {
  if (states_[id].sides >= 0) return;
  const SetFunction whole = function(id);
  fooling_.bounds(whole);
  const std::vector<std::size_t> chosen = fooling_.chosen();
  std::vector<SetStateId> sides;
  std::size_t stride = whole.n_cells();
  for (int axis = 0; axis < whole.n_axes(); ++axis) {
    stride /= static_cast<std::size_t>(whole.size[axis]);
    for (int test = 0; test < shapes_[whole.shape[axis]].n_tests(); ++test)
      for (const bool inside : {true, false}) {
        tick_();
        SetFunction side = side_of(whole, shapes_, {axis, test}, inside);
        sides.push_back(add(side));
        // The cells of the set that lie on one side fool that side too.
        const SetAxis& shape = shapes_[whole.shape[axis]];
        raise(sides.back(), std::count_if(chosen.begin(), chosen.end(), [&](std::size_t cell) {
                return shape.contains(test, static_cast<int>(cell / stride % whole.size[axis])) == inside;
              }));
      }
  }
  states_[id].sides = static_cast<std::int64_t>(sides_.size());
  sides_.insert(sides_.end(), sides.begin(), sides.end());
}

}  // namespace onetree
