#include "search/state_store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/compiler.hpp"  // little-endian: cells are packed eight bytes at a time
#include "base/control.hpp"
#include "base/interner.hpp"

namespace onetree {

namespace {

// A key: its length, number of axes and bits per cell; what each axis is, two to a word; of scores, how many admissions
// there are and in how many columns, and their ranks, least and most in one word; cells, lowest bits first.
struct Layout {
  int n_axes;
  int bits;  // per cell: 1, 2, 4, 8 or, of scores, 16 or 32
  std::size_t header_words() const { return 1 + (static_cast<std::size_t>(n_axes) + 1) / 2; }
  std::size_t cell_words(std::size_t n_cells) const { return (n_cells * bits + 63) / 64; }
};

Layout layout_of(const std::uint64_t* key) {
  return {static_cast<int>(key[0] >> 8 & 0xFFFFFF), static_cast<int>(key[0] & 0xFF)};
}

// An axis is its number of slabs, or of its shape with this bit.
constexpr std::uint32_t kSet = std::uint32_t{1} << 31;

std::uint32_t word_of(const Extent& function, int axis) {
  return function.is_set(axis) ? kSet | static_cast<std::uint32_t>(function.shape[axis])
                               : static_cast<std::uint32_t>(function.size[axis]);
}

std::uint32_t axis_word(const std::uint64_t* key, int axis) {
  return static_cast<std::uint32_t>(key[1 + axis / 2] >> (axis % 2 * 32));
}

// Eight cells of one byte each, in a word, to 8 * bits adjacent bits.
std::uint64_t squeeze(std::uint64_t cells, int bits) {
  switch (bits) {
    case 1:
      return (cells * 0x0102040810204080ULL) >> 56;
    case 2:
      cells = (cells | cells >> 6) & 0x000F000F000F000FULL;
      cells = (cells | cells >> 12) & 0x000000FF000000FFULL;
      return (cells | cells >> 24) & 0xFFFF;
    case 4:
      cells = (cells | cells >> 4) & 0x00FF00FF00FF00FFULL;
      cells = (cells | cells >> 8) & 0x0000FFFF0000FFFFULL;
      return (cells | cells >> 16) & 0xFFFFFFFF;
    default:
      return cells;
  }
}

// The reverse; bits above the eight cells are ignored.
std::uint64_t spread(std::uint64_t packed, int bits) {
  switch (bits) {
    case 1:
      packed = (packed & 0xFF) * 0x0101010101010101ULL & 0x8040201008040201ULL;
      return (packed + 0x7F7F7F7F7F7F7F7FULL) >> 7 & 0x0101010101010101ULL;
    case 2:
      packed &= 0xFFFF;
      packed = (packed | packed << 24) & 0x000000FF000000FFULL;
      packed = (packed | packed << 12) & 0x000F000F000F000FULL;
      return (packed | packed << 6) & 0x0303030303030303ULL;
    case 4:
      packed &= 0xFFFFFFFF;
      packed = (packed | packed << 16) & 0x0000FFFF0000FFFFULL;
      packed = (packed | packed << 8) & 0x00FF00FF00FF00FFULL;
      return (packed | packed << 4) & 0x0F0F0F0F0F0F0F0FULL;
    default:
      return packed;
  }
}

using Key = std::vector<std::uint64_t>;

// Leaves room for `extra` words after the header, then for the cells.
void begin_key(const Extent& function, const Layout& layout, std::size_t n_cells, std::size_t extra, Key& key) {
  key.assign(layout.header_words() + extra + layout.cell_words(n_cells), 0);
  key[0] = static_cast<std::uint64_t>(key.size()) << 32 | static_cast<std::uint64_t>(layout.n_axes) << 8 |
           static_cast<std::uint64_t>(layout.bits);
  for (int axis = 0; axis < layout.n_axes; ++axis)
    key[1 + axis / 2] |= std::uint64_t{word_of(function, axis)} << (axis % 2 * 32);
}

void write_key(Function& function, Key& key) {
  const int n_classes = rename_classes(function.classes);
  const Layout layout{function.n_axes(), n_classes <= 2 ? 1 : n_classes <= 4 ? 2 : n_classes <= 16 ? 4 : 8};
  const std::size_t n_cells = function.n_cells(), header = layout.header_words();
  begin_key(function, layout, n_cells, 0, key);
  const std::size_t step = 8 * static_cast<std::size_t>(layout.bits);
  for (std::size_t cell = 0, bit = 0; cell < n_cells; cell += 8, bit += step) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, function.classes.data() + cell, std::min<std::size_t>(8, n_cells - cell));
    key[header + bit / 64] |= squeeze(eight, layout.bits) << (bit % 64);
  }
}

void write_key(ScoreFunction& function, Key& key) {
  const std::size_t n = function.n_admissions(), n_ranks = function.least.size(), n_cells = function.n_cells();
  int bits = 1;
  while (bits < 32 && n > std::size_t{1} << bits) bits *= 2;
  const Layout layout{function.n_axes(), bits};
  begin_key(function, layout, n_cells, 1 + n_ranks, key);
  std::uint64_t* at = key.data() + layout.header_words();
  *at++ = static_cast<std::uint64_t>(n) << 32 | static_cast<std::uint64_t>(function.n_columns);
  for (std::size_t i = 0; i < n_ranks; ++i)
    *at++ = static_cast<std::uint64_t>(function.least[i]) << 32 | function.most[i];
  for (std::size_t cell = 0, bit = 0; cell < n_cells; ++cell, bit += bits)
    at[bit / 64] |= static_cast<std::uint64_t>(function.cells[cell]) << (bit % 64);
}

// Reads the axes; returns how many cells there are.
std::size_t read_extent(const std::uint64_t* key, const Shapes& shapes, Extent& extent) {
  const Layout layout = layout_of(key);
  std::size_t n_cells = 1;
  for (int axis = 0; axis < layout.n_axes; ++axis) {
    const std::uint32_t word = axis_word(key, axis);
    const bool is_set = (word & kSet) != 0;
    if (is_set) extent.shape.resize(layout.n_axes, kOrdered);
    if (is_set) extent.shape[axis] = static_cast<int>(word & ~kSet);
    extent.size.push_back(is_set ? shapes[extent.shape[axis]].n_values : static_cast<int>(word));
    n_cells *= static_cast<std::size_t>(extent.size.back());
  }
  return n_cells;
}

void read_key(const std::uint64_t* key, const Shapes& shapes, Function& function) {
  const Layout layout = layout_of(key);
  const std::size_t n_cells = read_extent(key, shapes, function);
  const std::uint64_t* packed = key + layout.header_words();
  function.classes.resize(n_cells);
  const std::size_t step = 8 * static_cast<std::size_t>(layout.bits);
  for (std::size_t cell = 0, bit = 0; cell < n_cells; cell += 8, bit += step) {
    const std::uint64_t eight = spread(packed[bit / 64] >> (bit % 64), layout.bits);
    std::memcpy(function.classes.data() + cell, &eight, std::min<std::size_t>(8, n_cells - cell));
  }
}

void read_key(const std::uint64_t* key, const Shapes& shapes, ScoreFunction& function) {
  const Layout layout = layout_of(key);
  function.cells.resize(read_extent(key, shapes, function));
  const std::uint64_t* at = key + layout.header_words();
  function.n_columns = static_cast<int>(*at & 0xFFFFFFFF);
  const std::size_t n_ranks = (*at++ >> 32) * static_cast<std::size_t>(function.n_columns);
  for (std::size_t i = 0; i < n_ranks; ++i, ++at) {
    function.least.push_back(static_cast<ScoreFunction::Rank>(*at >> 32));
    function.most.push_back(static_cast<ScoreFunction::Rank>(*at));
  }
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - layout.bits);
  std::size_t bit = 0;
  for (std::uint32_t& cell : function.cells) {
    cell = static_cast<std::uint32_t>(at[bit / 64] >> (bit % 64) & mask);
    bit += static_cast<std::size_t>(layout.bits);
  }
}

}  // namespace

// Leaves the key in `scratch_`.
template <typename F>
typename StateStore<F>::Place StateStore<F>::look_up(F& function) {
  write_key(function, scratch_);
  std::uint64_t hash = scratch_.size();
  for (const std::uint64_t word : scratch_) hash = mix(hash, word);
  const std::uint64_t tag = (hash ^ hash >> 32) & 0xFFFFFFFF;
  std::size_t slot = tag & (slots_.size() - 1);
  for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot] >> 32 != tag) continue;
    const StateId id = static_cast<StateId>(slots_[slot]);
    const std::uint64_t* other = states_[id].key;  // its first word tells its length
    if (other[0] == scratch_[0] && std::equal(scratch_.begin() + 1, scratch_.end(), other + 1)) return {slot, tag, id};
  }
  return {slot, tag, kNoState};
}

template <typename F>
StateId StateStore<F>::find(F& function) {
  return look_up(function).id;
}

template <typename F>
typename StateStore<F>::Result StateStore<F>::intern(F& function) {
  const Place place = look_up(function);
  if (place.id != kNoState) return {place.id, false};
  make_room();
  std::uint64_t* key = keys_.take(scratch_.size());
  std::copy(scratch_.begin(), scratch_.end(), key);
  const StateId id = static_cast<StateId>(states_.size());
  slots_[place.slot] = place.tag << 32 | id;
  State state;
  state.key = key;
  state.n_cuts = n_cuts(function, shapes_);
  state.longest_path = state.depth_upper = longest_path(function, shapes_);
  states_.push_back(state);
  if (2 * states_.size() > slots_.size()) grow_slots();
  return {id, true};
}

// What the next growth of the vectors and the next blocks may take at worst, while the old vectors still stand.
template <typename F>
void StateStore<F>::make_room() {
  std::size_t extra = scratch_.size() * sizeof(std::uint64_t);
  if (states_.size() == states_.capacity()) extra += 2 * states_.capacity() * sizeof(State);
  if (2 * (states_.size() + 1) > slots_.size()) extra += 2 * slots_.size() * sizeof(std::uint64_t);
  if (states_.size() >= kNoState - 1 || bytes() + extra > memory_limit_) throw LimitReached("memory");
}

template <typename F>
void StateStore<F>::grow_slots() {
  std::vector<std::uint64_t> larger(2 * slots_.size(), kFree);
  for (const std::uint64_t entry : slots_) {
    if (entry == kFree) continue;
    std::size_t slot = (entry >> 32) & (larger.size() - 1);
    while (larger[slot] != kFree) slot = (slot + 1) & (larger.size() - 1);
    larger[slot] = entry;
  }
  slots_.swap(larger);
}

template <typename F>
F StateStore<F>::function(StateId id) const {
  F function;
  read_key(states_[id].key, shapes_, function);
  return function;
}

template <typename F>
std::vector<typename StateStore<F>::AxisCuts> StateStore<F>::axes(StateId id) const {
  const std::uint64_t* key = states_[id].key;
  const int n_axes = layout_of(key).n_axes;
  std::vector<AxisCuts> axes;
  axes.reserve(n_axes);
  for (int axis = 0; axis < n_axes; ++axis) {
    const std::uint32_t word = axis_word(key, axis);
    if ((word & kSet) == 0) {
      axes.push_back({static_cast<int>(word) - 1, kOrdered});
    } else {
      const int shape = static_cast<int>(word & ~kSet);
      axes.push_back({shapes_[shape].n_tests(), shape});
    }
  }
  return axes;
}

template <typename F>
StateId* StateStore<F>::new_children(StateId id) {
  const std::size_t n = 2 * static_cast<std::size_t>(states_[id].n_cuts);
  if (bytes() + n * sizeof(StateId) > memory_limit_) throw LimitReached("memory");
  states_[id].children = children_.take(n);
  std::fill_n(states_[id].children, n, kNoState);
  return states_[id].children;
}

template class StateStore<Function>;
template class StateStore<ScoreFunction>;

}  // namespace onetree
