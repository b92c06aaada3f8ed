// Trees restricted to boxes, each held once: where a grid is too large to enumerate, these stand for its cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ensemble.hpp"
#include "grid.hpp"
#include "interner.hpp"

namespace onetree {

// One side of a hyperplane. Slabs are those of levels_of(ensemble); NaN, where it is an input, is the last.
struct HalfSpace {
  int feature;
  int level;
  bool below;  // slab <= level; otherwise slab > level
};

// Equal trees have equal numbers; children have smaller numbers than their parents; a split both of whose sides are
// equal does not exist. Inside the box that a tree was restricted to, both sides of each of its splits can be reached.
class TreeStore {
 public:
  using Id = std::int32_t;

  struct Node {
    std::int32_t feature;    // -1 at a leaf
    std::int32_t level;      // a number goes left iff slab <= level
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

  // The tree on one side of a hyperplane; that side must not be empty in the tree's box.
  Id restricted(Id tree, const HalfSpace& half);

  // The most by which a leaf of the tree favours each class (n_classes entries) over `candidate`: differences of leaf
  // values or, for a single score, the score with the sign that favours the rival. Valid until the next call.
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

  Id import_tree(std::int32_t root);
  Id make_leaf(std::int32_t ensemble_node);
  Id make(std::int32_t feature, std::int32_t level, bool missing_left, Id left, Id right);
  Id restrict_uncached(Id tree, const HalfSpace& half);
  const double* compute_gains(int candidate, Id tree);
  const double* row(const Gains& gains, Id tree) const {
    return gains.data.data() + static_cast<std::size_t>(gains.row[tree]) * ensemble_.n_classes;
  }
  // Whether the tree may have a split on the feature.
  bool may_split(Id tree, int feature) const { return nodes_[tree].features >> (feature & 63) & 1; }

  const Ensemble& ensemble_;
  const Levels& levels_;
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
