// "Is this box of one class?": an exact answer with a counterexample, by branch and bound on restricted trees.
//
// Shares no code with the engines that enumerate a grid, so that it can prove their trees.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "control.hpp"
#include "region.hpp"

namespace onetree {

enum class Answer { proven, refuted, unknown };

struct Certificate {
  Answer answer;
  int box_class;    // proven: of the whole box; otherwise the class that was to be proven
  int other_class;  // refuted: of the counterexample
  // Refuted: from the box, the half-spaces to a part whose first cell (the least slab of every feature) has
  // `other_class`. Unless a class was expected, the first cell of the box itself has `box_class`.
  std::vector<HalfSpace> path;

  // The cell of the counterexample, from the box and its first cell: slabs per feature.
  std::vector<int> cell(Regions& regions, const Region& box, std::vector<int> first_cell_of_box) const;
};

class Prover {
 public:
  static constexpr int kAnyClass = -1;
  static constexpr std::int64_t kNoBudget = std::numeric_limits<std::int64_t>::max();

  explicit Prover(Regions& regions) : regions_(regions) {}

  // Whether every input of the region gets the class `expected`, or the same class at all. Unknown only when the
  // budget of branch-and-bound nodes is spent; throws what `control` throws. Regions that exist stay valid.
  Certificate prove(const Region& region, Control& control, int expected = kAnyClass,
                    std::int64_t max_nodes = kNoBudget);

  // What is reported while a proof runs; the time is filled in.
  ProgressReport position{"certificate", 0, -1, -1, 0, -1};

  std::int64_t n_nodes() const { return n_nodes_; }      // of all proofs so far
  std::int64_t n_fragile() const { return n_fragile_; }  // of these, decided only by adding in the library's own order

 private:
  struct Frame {
    Region region;
    HalfSpace half{};         // the last step to it
    std::size_t depth = 0;    // length of the path to it
    bool new_corner = false;  // its first cell is not that of its parent
  };
  struct Branch {
    HalfSpace below;
    double reduction_below, reduction_above;  // of the lead, at least
  };

  Frame& push();
  Branch choose(const Region& region, Class candidate, int rival, double excess);
  void collect(TreeStore::Id mark);

  Regions& regions_;
  std::vector<Frame> frames_;  // a stack of n_frames_; those above keep their memory
  std::size_t n_frames_ = 0;
  Frame current_;
  std::vector<HalfSpace> path_;
  std::vector<double> lead_;
  struct Reduction {
    int feature, level;
    double below, above;
  };
  std::vector<Reduction> reductions_;
  std::int64_t n_nodes_ = 0, n_fragile_ = 0;
};

}  // namespace onetree
