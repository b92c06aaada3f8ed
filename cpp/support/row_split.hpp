// The best split of weighted rows: by impurity while a tree grows, by what the branches below say once it has grown.
#pragma once

#include "support/row_table.hpp"

namespace onetree {

struct RowSplit {
  int feature = -1;                   // -1: there is none
  std::int32_t below = 0, above = 0;  // last slab of the left side, first slab of the right side
  double gain = 0;
};

struct RowsOfNode {
  RowNumbers reference;  // weigh 1 each
  RowNumbers synthetic;
  double synthetic_weight;
};

// The split with the largest decrease of the Gini impurity, per unit of weight. `faithful`: with reference rows on both
// sides; a synthetic row beyond all of them counts as at the end. `classes` are those of all rows of the table.
RowSplit least_impurity(const RowTable& table, const RowsOfNode& rows, const std::int32_t* classes, int n_classes,
                        bool faithful);

// The split that gains most when each row adds `gain` if it goes left, and more than `least`.
RowSplit largest_gain(const RowTable& table, RowNumbers rows, const double* gain, double least);

}  // namespace onetree
