// How much each hyperplane matters inside a region that is too large to enumerate, by looking at some of its cells.
#pragma once

#include <cstdint>
#include <vector>

#include "region/region.hpp"
#include "region/score_bounds.hpp"

namespace onetree {

struct Influence {
  int feature;
  int level;       // on a set axis, the number of the test
  double changes;  // sampled cells whose class changes across the hyperplane, up to rounding; parts of them for scores
  bool is_witnessed;  // the class does change across it: in one of them, by the library's own sums
};

class InfluenceSampler {
 public:
  // `scores` not null: what changes is what a leaf may carry. Then nothing is witnessed.
  InfluenceSampler(Regions& regions, std::uint64_t seed, ScoreBounds* scores = nullptr)
      : regions_(regions), scores_(scores), exact_(regions.ensemble().sums_are_exact()), state_(seed * 2 + 1) {}

  // The heaviest of the region's hyperplanes, those with most changes first. The order of two that tie is that of
  // `hyperplanes`.
  std::vector<Influence> sample(const Region& region, const std::vector<Hyperplane>& hyperplanes);

 private:
  std::uint32_t random(std::uint32_t below);
  std::int32_t leaf_of(TreeStore::Id tree, const int* slabs) const;
  int class_of(const double* scores) const;
  bool class_changes(const Region& region, int* slabs, const Hyperplane& hyperplane);
  // A slab on either side of a hyperplane; on a set axis, the one that is given and one from the other side.
  void slabs_beside(const Region& region, const Hyperplane& hyperplane, int own, int (&beside)[2]);

  Regions& regions_;
  ScoreBounds* const scores_;
  const bool exact_;  // sums are exact: the guesses are the truth
  std::uint64_t state_;
  std::vector<std::int32_t> leaves_;
};

}  // namespace onetree
