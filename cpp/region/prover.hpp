// "Is this region of one class?", asked by the heuristic, which makes leaves of the answer: branch and bound on
// restricted trees. Finished trees are proven by code of their own, in proof/.
#pragma once

#include <cstdint>
#include <vector>

#include "base/control.hpp"
#include "region/region.hpp"

namespace onetree {

class Prover {
 public:
  explicit Prover(Regions& regions) : regions_(regions) {}

  // The class of every input of the region; -1 if there are two, or if the budget of branch-and-bound nodes is spent.
  // Throws what `control` throws. Regions that exist stay valid.
  int class_of(const Region& region, std::int64_t max_nodes, Control& control);

 private:
  struct Frame {
    Region region;
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
  std::vector<double> lead_;
  struct Reduction {
    int feature, level;
    double below, above;
  };
  std::vector<Reduction> reductions_;
};

}  // namespace onetree
