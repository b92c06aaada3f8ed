// A box of inputs as the tuple of trees restricted to it, and what bounds on their leaves say about its class.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grid/grid.hpp"
#include "model/ensemble.hpp"
#include "region/tree_store.hpp"

namespace onetree {

struct Region {
  std::vector<TreeStore::Id> trees;  // sums are exact: those not constant, in any order; otherwise all, in tree order
  std::vector<double> base;          // per output: the ensemble's base, plus the constant trees if sums are exact
  std::vector<ValueSets::Id> values = {};  // per feature: what is left of a set axis; empty if there is none
};

struct Hyperplane {
  int feature;
  int level;      // on a set axis, the number of the test
  double weight;  // sum over the trees of the share of inputs that meet it there, if each split halved them
};

// Makes regions and answers questions about them. Not for two threads at once.
class Regions {
 public:
  // Restricted trees may take about this many bytes before those that nobody needs should be forgotten.
  static constexpr std::size_t kStoreBytes = std::size_t{1} << 28;

  explicit Regions(const Ensemble& ensemble, std::size_t store_bytes = kStoreBytes);
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  const Ensemble& ensemble() const { return ensemble_; }
  const Levels& levels() const { return levels_; }
  int n_slabs(int feature) const { return n_slabs_of(ensemble_, levels_, feature); }
  // As the ensemble writes it: the number of the test on a set axis.
  double threshold(int feature, int level) const { return ensemble_.is_set(feature) ? level : levels_[feature][level]; }
  TreeStore& store() { return store_; }

  Region whole();
  // Whether the region's first cell lies on this side of a hyperplane that cuts it.
  bool holds_corner(const Region& region, const HalfSpace& half) const;
  // The part of a region on one side of a hyperplane, which must not be empty. `part` may be `region` itself; what it
  // held before is lost, its memory is used again.
  void restrict(const Region& region, const HalfSpace& half, Region& part);
  // Leaves the region only some of the values that it has of a set axis.
  void restrict_to(Region& region, int feature, ValueSets::Id values);

  // Every tree is down to one leaf.
  bool is_constant(const Region& region) const;
  // The class of the region's first cell, the one with the least slab of every feature.
  Class corner_class(const Region& region);
  // The class of the whole region where bounds alone tell it, otherwise -1.
  int classify(const Region& region);

  // Per class, the most by which its score can lead over that of `candidate` in the region, before division, up to
  // rounding; for a single score, over the cut. Of a combination, what decides, rounding included. `candidate` itself
  // has -inf.
  void leads(const Region& region, Class candidate, std::vector<double>& lead);
  // Of a combination: bounds of the undivided sums, up to rounding.
  void bound_sums(const Region& region, std::vector<double>& low, std::vector<double>& high);
  // Whether such a lead excludes for certain that the rival wins anywhere in the region.
  bool is_beaten(const Region& region, Class candidate, int rival, double lead) const;
  // What one tree contributes to the lead of a rival that the last call of `leads` found, at most; of a combination,
  // what decides is taken as linear.
  double gain(Class candidate, int rival, TreeStore::Id tree) {
    return ensemble_.combination == nullptr ? store_.gains(candidate, tree)[rival] : combined_gain(tree);
  }
  // Of a combination: makes `gain` speak of this rival.
  void weigh(Class candidate, int rival);
  // By how much a lead must fall until the rival is beaten.
  double excess(double lead) const { return lead + (exact_ ? 1 : margin_); }

  // The hyperplanes that still cut the region, by feature and level.
  std::vector<Hyperplane> hyperplanes(const Region& region);
  // Regions with equal keys are the same function of the inputs inside their boxes.
  void key_of(const Region& region, std::vector<std::int32_t>& key) const;

  // Trees that the store should hold at most: whoever makes them sees to it, by collecting.
  TreeStore::Id capacity() const { return capacity_; }
  // Forgets restricted trees numbered `mark` and above that no live region needs. Regions made before the store had
  // `mark` trees stay valid; newer ones must be listed.
  void collect(TreeStore::Id mark, std::span<Region* const> live);

 private:
  void fold_constants(Region& region);
  bool score_is_beaten(const Region& region, Class candidate) const;
  double combined_gain(TreeStore::Id tree);
  void combined_leads(const Region& region, Class candidate, std::vector<double>& lead);

  const Ensemble& ensemble_;
  const Levels levels_;
  TreeStore store_;
  const bool exact_;  // sums are exact: no margin, any order
  const double margin_;
  TreeStore::Id capacity_;
  std::vector<double> scores_, lead_;
  std::vector<std::int32_t> leaves_;
  const CombinedBounds combined_;
  std::vector<double> low_, high_,
      weight_;  // of a combination, per output: bounds, and how much a change of it matters
  std::vector<Between> decisive_;
};

}  // namespace onetree
