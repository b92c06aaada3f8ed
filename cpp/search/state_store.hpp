// The states of the branch and bound: every reduced function met so far, once.
//
// A function is kept as a canonical key (classes renamed in the order of their appearance, cells packed into bits; or
// the ranks of what cells admit, and cells packed likewise); keys are compared whole, so a hash collision costs time,
// never correctness.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "grid/function.hpp"
#include "grid/score_function.hpp"

namespace onetree {

using StateId = std::uint32_t;
inline constexpr StateId kNoState = ~StateId{0};

// Blocks that never move, given out from the front.
template <typename T>
class Arena {
 public:
  T* take(std::size_t n) {
    if (left_ < n) {
      const std::size_t size = n > kBlock ? n : kBlock;
      blocks_.push_back(std::make_unique_for_overwrite<T[]>(size));
      bytes_ += size * sizeof(T);
      next_ = blocks_.back().get();
      left_ = size;
    }
    T* const taken = next_;
    next_ += n;
    left_ -= n;
    return taken;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 14;
  std::vector<std::unique_ptr<T[]>> blocks_;
  T* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

struct State {
  const std::uint64_t* key = nullptr;
  StateId* children = nullptr;  // left and right state of every cut, axis by axis; kNoState where not yet met
  int n_cuts = 0;
  int longest_path = 0;  // no tree without idle cuts is deeper
  // Fewest splits of any tree.
  int splits_lower = 0;
  int splits_cut = -1;   // number of the cut that a tree of `splits_lower` splits begins with; -1: not found yet
  int splits_depth = 0;  // depth of that tree
  // Least depth of any tree.
  int depth_lower = 0;
  int depth_upper = 0;
  int depth_cut = -1;  // a tree of depth `depth_upper` begins with this cut; -1: with any

  bool splits_known() const { return splits_cut >= 0; }
};

// `F`: Function or ScoreFunction.
template <typename F>
class StateStore {
 public:
  // Throws LimitReached rather than grow past this many bytes.
  StateStore(const Shapes& shapes, std::size_t memory_limit)
      : shapes_(shapes), memory_limit_(memory_limit), slots_(1024, kFree) {}

  struct Result {
    StateId id;
    bool is_new;
  };
  // Renames the classes of a function. A new state has no bounds yet.
  Result intern(F& function);
  StateId find(F& function);  // kNoState where it was never met; renames the classes as well
  F function(StateId id) const;
  struct AxisCuts {
    int n_cuts;
    int shape;
  };
  std::vector<AxisCuts> axes(StateId id) const;
  StateId* new_children(StateId id);  // two per cut, all kNoState

  State& operator[](StateId id) { return states_[id]; }
  const State& operator[](StateId id) const { return states_[id]; }
  std::size_t size() const { return states_.size(); }
  std::size_t bytes() const {
    return keys_.bytes() + children_.bytes() + states_.capacity() * sizeof(State) +
           slots_.capacity() * sizeof(std::uint64_t);
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  struct Place {
    std::size_t slot;
    std::uint64_t tag;  // half of the hash
    StateId id;
  };
  Place look_up(F& function);
  void make_room();
  void grow_slots();

  const Shapes& shapes_;
  std::size_t memory_limit_;
  std::vector<std::uint64_t> slots_;  // upper half of the hash, then the state
  std::vector<State> states_;
  Arena<std::uint64_t> keys_;
  Arena<StateId> children_;
  std::vector<std::uint64_t> scratch_;
};

extern template class StateStore<Function>;
extern template class StateStore<ScoreFunction>;

}  // namespace onetree
