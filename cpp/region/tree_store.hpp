// Trees restricted to boxes, each held once: where a grid is too large to enumerate, these stand for its cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hpp"
#include "grid/grid.hpp"
#include "model/ensemble.hpp"
#include "region/value_sets.hpp"

namespace onetree {

// One side of a hyperplane. Slabs are those of levels_of(ensemble); NaN, where it is an input, is the last.
struct HalfSpace {
  int feature;
  int level;   // on a set axis, the number of the test
  bool below;  // slab <= level, or the values that pass the test; otherwise the others
};

// Equal trees have equal numbers; children have smaller numbers than their parents; a split both of whose sides are
// equal does not exist. Inside the box that a tree was restricted to, both sides of each of its splits can be reached.
class TreeStore {
 public:
  using Id = std::int32_t;

  struct Node {
    std::int32_t feature;    // -1 at a leaf
    std::int32_t level;      // a number goes left iff slab <= level; on a set axis, the pair of values and test
    bool missing_left;       // false where NaN is not in the box any more
    Id left, right;          // -1 at a leaf
    std::int32_t corner;     // node of the ensemble: the leaf that the box's first cell (least slab everywhere) reaches
    std::uint64_t features;  // bit (feature % 64) of every split in the tree
  };

  TreeStore(const Ensemble& ensemble, const Levels& levels);

  const Node& operator[](Id id) const { return nodes_[id]; }
  bool is_leaf(Id id) const { return nodes_[id].feature < 0; }
  const std::vector<Id>& roots() const { return roots_; }
  Id size() const { return static_cast<Id>(nodes_.size()); }

  // The tree on one side of a hyperplane, which is not one of a set axis; that side must not be empty in the tree's
  // box.
  Id restricted(Id tree, const HalfSpace& half);
  // The tree on some of the values of a set axis, which the tree's box must have.
  Id restricted_to(Id tree, int feature, ValueSets::Id values);

  ValueSets& sets(int feature) { return sets_[feature]; }
  const ValueSets& sets(int feature) const { return sets_[feature]; }
  // The level of a split as the ensemble's thresholds number it: that of its test, on a set axis.
  int level_of(const Node& node) const {
    return ensemble_.is_set(node.feature) ? sets_[node.feature].test_of_pair(node.level) : node.level;
  }
  // Whether the first of the values that a split on a set axis is met with passes its test.
  bool first_passes(const Node& node) const {
    const ValueSets& sets = sets_[node.feature];
    return sets.axis().contains(sets.test_of_pair(node.level), sets.least(sets.set_of_pair(node.level)));
  }

  // The most by which a leaf of the tree favours each class (n_classes entries) over `candidate`: differences of leaf
  // values or, for a single score, the score with the sign that favours the rival. Of a combination, whatever the
  // candidate, for each output the largest value and then the largest negated one. Valid until the next call.
  const double* gains(int candidate, Id tree) {
    const Gains& known = gains_[candidate];
    if (static_cast<std::size_t>(tree) < known.row.size() && known.row[tree] >= 0) return row(known, tree);
    return compute_gains(candidate, tree);
  }
  // The same for a tree whose gains were asked for before.
  const double* known_gains(int candidate, Id tree) const { return row(gains_[candidate], tree); }

  // Forgets trees numbered `mark` and above that `live` does not lead to, and renumbers the rest of them in place.
  void collect(Id mark, std::span<std::vector<Id>* const> live);
  Id n_imported() const { return n_imported_; }  // the least sensible mark

 private:
  struct Gains {
    std::vector<std::int32_t> row;  // per tree; -1: not yet computed
    std::vector<double> data;
  };
  struct Remembered {
    Id tree = -1;
    std::int32_t feature = 0, side = 0;
    Id result = 0;
  };

  struct Range {           // of a feature, on the way down an imported tree
    int low, high;         // slabs of numbers, inclusive; none if low > high
    bool missing;          // NaN can get here
    ValueSets::Id values;  // of a set axis
  };
  struct Sides {
    bool left, right;  // can be reached
    Range left_range, right_range;
  };
  Sides sides_of(std::int32_t node, const Range& range);

  Id import_tree(std::int32_t root);
  Id make_leaf(std::int32_t ensemble_node);
  Id make(std::int32_t feature, std::int32_t level, bool missing_left, Id left, Id right);
  Id restrict_uncached(Id tree, const HalfSpace& half);
  Id restrict_to_uncached(Id tree, int feature, ValueSets::Id values);
  // The restriction of a tree that was met in the past, or the place for it.
  Remembered& remembered(Id tree, int feature, std::int32_t side);
  void begin_restriction();
  const double* compute_gains(int candidate, Id tree);
  const double* row(const Gains& gains, Id tree) const {
    return gains.data.data() + static_cast<std::size_t>(gains.row[tree]) * n_gains_;
  }
  // Whether the tree may have a split on the feature.
  bool may_split(Id tree, int feature) const { return nodes_[tree].features >> (feature & 63) & 1; }

  const Ensemble& ensemble_;
  const Levels& levels_;
  const int n_gains_;            // entries of one row
  std::vector<ValueSets> sets_;  // per feature; empty if there is no set axis
  std::vector<Node> nodes_;
  Interner interner_;
  std::vector<Id> roots_;
  Id n_imported_ = 0;
  std::vector<Gains> gains_;  // per candidate class
  std::vector<std::int32_t> key_;
  // Results of the restriction in hand, per 2 * tree + (1: to NaN alone); those of another restriction have an older
  // stamp.
  std::vector<std::uint32_t> stamp_of_;
  std::vector<Id> result_of_;
  std::uint32_t stamp_ = 0;
  std::vector<std::int32_t> stack_;
  std::vector<Remembered> remembered_;  // restrictions of the recent past, whole keys; a newer one takes the place
};

}  // namespace onetree
