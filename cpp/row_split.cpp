#include "row_split.hpp"

#include <algorithm>
#include <limits>

namespace onetree {

namespace {

struct Range {
  std::int32_t low = std::numeric_limits<std::int32_t>::max(), high = -1;

  void include(const std::int32_t* column, RowNumbers rows) {
    for (const std::int32_t row : rows) {
      low = std::min(low, column[row]);
      high = std::max(high, column[row]);
    }
  }
};

// Gini: the sum over both sides of (sum of squares / weight) grows by as much as the impurity falls.
double purity(const std::vector<double>& counts, double weight) {
  double squares = 0;
  for (const double each : counts) squares += each * each;
  return squares / std::max(weight, std::numeric_limits<double>::min());
}

}  // namespace

RowSplit least_impurity(const RowTable& table, const RowsOfNode& rows, const std::int32_t* classes, int n_classes,
                        bool faithful) {
  const std::size_t n_reference = rows.reference.size();
  std::vector<std::int32_t> all(rows.reference.begin(), rows.reference.end());
  all.insert(all.end(), rows.synthetic.begin(), rows.synthetic.end());
  std::vector<std::int32_t> class_of(all.size());
  std::vector<double> total(n_classes), left(n_classes), right(n_classes), at;
  for (std::size_t i = 0; i < all.size(); ++i) {
    class_of[i] = classes[all[i]];
    total[class_of[i]] += i < n_reference ? 1.0 : rows.synthetic_weight;
  }
  double weight = 0;
  for (const double each : total) weight += each;
  const double before = purity(total, weight);
  RowSplit best;
  double most = -std::numeric_limits<double>::infinity();
  Places places;
  for (std::size_t feature = 0; feature < table.n_features; ++feature) {
    Range range;
    range.include(table.column(feature), rows.reference);
    if (!faithful) range.include(table.column(feature), rows.synthetic);
    if (range.low >= range.high) continue;
    places.read(table.column(feature), all, range.low, range.high);
    at.assign(places.size() * n_classes, 0.0);
    const std::vector<std::int32_t>& place = places.of_rows();
    for (std::size_t i = 0; i < n_reference; ++i) at[place[i] * n_classes + class_of[i]] += 1.0;
    for (std::size_t i = n_reference; i < all.size(); ++i)
      at[place[i] * n_classes + class_of[i]] += rows.synthetic_weight;
    std::fill(left.begin(), left.end(), 0.0);
    double left_weight = 0;
    std::size_t last = places.size();  // the last place with rows; none so far
    for (std::size_t here = 0; here < places.size(); ++here) {
      const double* counts = &at[here * n_classes];
      double weight_here = 0;
      for (int k = 0; k < n_classes; ++k) weight_here += counts[k];
      if (weight_here == 0) continue;
      if (last != places.size()) {
        for (int k = 0; k < n_classes; ++k) right[k] = total[k] - left[k];
        const double gain = purity(left, left_weight) + purity(right, weight - left_weight);
        if (gain > most) {
          most = gain;
          best = {static_cast<int>(feature), places.slab(last), places.slab(here), (gain - before) / weight};
        }
      }
      for (int k = 0; k < n_classes; ++k) left[k] += counts[k];
      left_weight += weight_here;
      last = here;
    }
  }
  return best;
}

RowSplit largest_gain(const RowTable& table, RowNumbers rows, const double* gain, double least) {
  RowSplit best;
  best.gain = least;
  Places places;
  std::vector<double> at;
  std::vector<std::uint8_t> has_rows;
  for (std::size_t feature = 0; feature < table.n_features; ++feature) {
    Range range;
    range.include(table.column(feature), rows);
    if (range.low >= range.high) continue;
    places.read(table.column(feature), rows, range.low, range.high);
    at.assign(places.size(), 0.0);
    has_rows.assign(places.size(), 0);
    const std::vector<std::int32_t>& place = places.of_rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      at[place[i]] += gain[i];
      has_rows[place[i]] = 1;
    }
    double going_left = 0;
    std::size_t last = places.size();
    for (std::size_t here = 0; here < places.size(); ++here) {
      if (!has_rows[here]) continue;
      if (last != places.size() && going_left > best.gain)
        best = {static_cast<int>(feature), places.slab(last), places.slab(here), going_left};
      going_left += at[here];
      last = here;
    }
  }
  return best;
}

}  // namespace onetree
