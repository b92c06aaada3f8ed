#include "support/row_split.hpp"

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

// Sums over rows, one per place. Several in turn for each: where places are few, rows that follow each other meet, and
// an addition would wait for the one before it.
template <typename Number>
class Sums {
 public:
  void reset(std::size_t size) {
    size_ = size;
    at_.assign(size * (size <= kFew ? kTurns : 1), 0);
  }

  template <typename Place, typename Amount>
  void add(std::size_t begin, std::size_t end, Place place, Amount amount) {
    const std::size_t step = at_.size() == size_ ? 0 : size_;
    std::size_t i = begin;
    for (; i + kTurns <= end; i += kTurns)
      for (std::size_t turn = 0; turn < kTurns; ++turn) at_[turn * step + place(i + turn)] += amount(i + turn);
    for (; i < end; ++i) at_[place(i)] += amount(i);
  }

  Number operator[](std::size_t place) const {
    Number sum = 0;
    for (std::size_t i = place; i < at_.size(); i += size_) sum += at_[i];
    return sum;
  }

 private:
  static constexpr std::size_t kTurns = 4, kFew = 256;
  std::size_t size_ = 0;
  std::vector<Number> at_;
};

}  // namespace

RowSplit least_impurity(const RowTable& table, const RowsOfNode& rows, const std::int32_t* classes, int n_classes,
                        bool faithful) {
  const std::size_t n_reference = rows.reference.size();
  std::vector<std::int32_t> all(rows.reference.begin(), rows.reference.end());
  all.insert(all.end(), rows.synthetic.begin(), rows.synthetic.end());
  std::vector<std::int32_t> class_of(all.size());
  std::vector<double> total(n_classes), left(n_classes), right(n_classes), counts(n_classes);
  Sums<std::int32_t> n_reference_at, n_synthetic_at;
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
    const std::vector<std::int32_t>& place = places.of_rows();
    const auto place_and_class = [&](std::size_t i) {
      return static_cast<std::size_t>(place[i]) * n_classes + class_of[i];
    };
    const auto one = [](std::size_t) { return 1; };
    n_reference_at.reset(places.size() * n_classes);
    n_synthetic_at.reset(places.size() * n_classes);
    n_reference_at.add(0, n_reference, place_and_class, one);
    n_synthetic_at.add(n_reference, all.size(), place_and_class, one);
    std::fill(left.begin(), left.end(), 0.0);
    double left_weight = 0;
    std::size_t last = places.size();  // the last place with rows; none so far
    for (std::size_t here = 0; here < places.size(); ++here) {
      double weight_here = 0;
      for (int k = 0; k < n_classes; ++k) {
        const std::size_t at = here * n_classes + k;
        counts[k] = n_reference_at[at] + n_synthetic_at[at] * rows.synthetic_weight;
        weight_here += counts[k];
      }
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
  Sums<double> at;
  std::vector<std::uint8_t> has_rows;
  for (std::size_t feature = 0; feature < table.n_features; ++feature) {
    Range range;
    range.include(table.column(feature), rows);
    if (range.low >= range.high) continue;
    places.read(table.column(feature), rows, range.low, range.high);
    at.reset(places.size());
    has_rows.assign(places.size(), 0);
    const std::vector<std::int32_t>& place = places.of_rows();
    at.add(0, rows.size(), [&](std::size_t i) { return place[i]; }, [&](std::size_t i) { return gain[i]; });
    for (const std::int32_t each : place) has_rows[each] = 1;
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
