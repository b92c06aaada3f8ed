// Regions of an ensemble whose tree is to give numbers: what a leaf may carry all over one, by bounds that hold.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "base/interner.hpp"
#include "grid/score_grid.hpp"
#include "model/combination.hpp"
#include "model/ensemble.hpp"
#include "region/region.hpp"
#include "tree/shared_tree.hpp"

namespace onetree {

// What is asked of the leaves. A column per number, and one for the class where it is to be kept.
struct Scoring {
  int n_columns = 1;
  Admit admit;             // of sums; may be called from any thread, one at a time
  Combination response;    // from sums to numbers; only its bounds are used
  bool is_bounded = true;  // otherwise nothing is known of the numbers but through `admit`
  double tolerance = 0;
  bool is_relative = false;  // a share of the number
  bool float32 = false;      // leaves carry such numbers
  bool keeps_class = false;  // in the last column

  int n_numbers() const { return n_columns - (keeps_class ? 1 : 0); }
};

// The ensemble as regions have to see it: its sums are those of the response. Borrows both.
Ensemble scored(const Ensemble& ensemble, const Scoring& scoring);

// What leaves may carry, each once: [least, most] per column.
class ScoreLeaves {
 public:
  explicit ScoreLeaves(int n_columns) : n_columns_(n_columns) {}

  // A leaf of this number. For any thread.
  int number(const std::vector<double>& least, const std::vector<double>& most);
  // A split; or one leaf, where both sides are leaves and may carry the same.
  SharedTree::Id join(SharedTree& shared, int feature, double threshold, SharedTree::Id below, SharedTree::Id above);

  struct Rows {
    std::vector<double> least, most;  // n_leaves x n_columns
  };
  // Numbers the leaves of a tree anew, in the order of their appearance, and says what they may carry.
  Rows rows_of(FlatTree& tree) const;

 private:
  int add(const std::vector<double>& least, const std::vector<double>& most);

  const int n_columns_;
  std::mutex mutex_;
  Interner keys_;
  std::vector<double> least_, most_;
  std::vector<std::int32_t> key_;
};

class ScoreBounds {
 public:
  // `regions` are those of the scored ensemble, `original` decides on classes. All must outlive this object.
  ScoreBounds(const Ensemble& original, const Scoring& scoring, Regions& regions);

  // Whether bounds alone tell that the region may be a leaf, and what it may carry then; a region with one leaf of
  // every tree is always one. Never claims too much.
  bool is_leaf(const Region& region, std::vector<double>& least, std::vector<double>& most);

  // How far two undivided sums are apart, as parts of what one leaf has room for; 1 at most. Rounding is left alone.
  double change(const double* sums, const double* other);

 private:
  double room(double number) const;  // that a leaf leaves on both sides together
  void numbers_at(const double* sums, std::vector<Between>& numbers);
  int likely_class(const double* sums) const;

  const Ensemble& original_;
  const Scoring& scoring_;
  Regions& regions_;
  const CombinedBounds bounds_;
  const BoundDecider decider_;
  std::vector<double> low_, high_, sums_;
  std::vector<std::int32_t> leaves_;
  std::vector<Between> numbers_, others_, divided_;
};

}  // namespace onetree
