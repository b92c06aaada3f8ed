#include "region/score_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace onetree {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// To the next number of the leaves' type, so that what a leaf may carry does not get wider.
double rounded_up(double number, bool float32) {
  if (!float32) return number;
  const auto near = static_cast<float>(number);
  return near >= number ? near : std::nextafter(near, std::numeric_limits<float>::infinity());
}

// The least that a leaf may carry whose numbers go up to this one; the difference is rounded away from the number.
double least_of(double largest, const Scoring& scoring) {
  if (scoring.tolerance == 0) return largest;
  const double off = scoring.is_relative ? scoring.tolerance * std::abs(largest) : scoring.tolerance;
  const double slack = 4 * std::numeric_limits<double>::epsilon() * (std::abs(largest) + off);
  return rounded_up(largest - off + slack, scoring.float32);
}

double most_of(double smallest, const Scoring& scoring) {
  return -least_of(-smallest, scoring);
}

void add_bits(double number, std::vector<std::int32_t>& key) {
  std::int32_t words[2];
  std::memcpy(words, &number, sizeof number);
  key.insert(key.end(), words, words + 2);
}

}  // namespace

Ensemble scored(const Ensemble& ensemble, const Scoring& scoring) {
  Ensemble view = ensemble;
  view.combination = &scoring.response;
  view.n_classes = std::max(1, ensemble.n_classes);
  return view;
}

int ScoreLeaves::add(const std::vector<double>& least, const std::vector<double>& most) {
  key_.clear();
  for (int c = 0; c < n_columns_; ++c) {
    add_bits(least[c], key_);
    add_bits(most[c], key_);
  }
  const auto [number, is_new] = keys_.intern(key_);
  if (is_new) {
    least_.insert(least_.end(), least.begin(), least.end());
    most_.insert(most_.end(), most.begin(), most.end());
  }
  return number;
}

int ScoreLeaves::number(const std::vector<double>& least, const std::vector<double>& most) {
  const std::lock_guard lock(mutex_);
  return add(least, most);
}

SharedTree::Id ScoreLeaves::join(SharedTree& shared, int feature, double threshold, SharedTree::Id below,
                                 SharedTree::Id above) {
  const int a = shared.leaf_class(below), b = shared.leaf_class(above);
  if (a < 0 || b < 0) return shared.split(feature, threshold, below, above);
  const std::lock_guard lock(mutex_);
  std::vector<double> least(n_columns_), most(n_columns_);
  for (int c = 0; c < n_columns_; ++c) {
    const std::size_t i = static_cast<std::size_t>(a) * n_columns_ + c,
                      j = static_cast<std::size_t>(b) * n_columns_ + c;
    least[c] = std::max(least_[i], least_[j]);
    most[c] = std::min(most_[i], most_[j]);
    if (least[c] > most[c]) return shared.split(feature, threshold, below, above);
  }
  return shared.leaf(add(least, most));
}

ScoreLeaves::Rows ScoreLeaves::rows_of(FlatTree& tree) const {
  Rows rows;
  std::vector<std::int32_t> number(static_cast<std::size_t>(keys_.size()), -1);
  std::int32_t n = 0;
  for (std::int32_t& leaf : tree.leaf_class) {
    if (leaf < 0) continue;
    if (number[leaf] < 0) {
      number[leaf] = n++;
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(leaf) * n_columns_;
      rows.least.insert(rows.least.end(), least_.begin() + first, least_.begin() + first + n_columns_);
      rows.most.insert(rows.most.end(), most_.begin() + first, most_.begin() + first + n_columns_);
    }
    leaf = number[leaf];
  }
  return rows;
}

ScoreBounds::ScoreBounds(const Ensemble& original, const Scoring& scoring, Regions& regions)
    : original_(original),
      scoring_(scoring),
      regions_(regions),
      bounds_(regions.ensemble()),
      decider_(original),
      sums_(original.n_outputs) {}

bool ScoreBounds::is_leaf(const Region& region, std::vector<double>& least, std::vector<double>& most) {
  if (regions_.is_constant(region)) {
    leaves_.clear();
    for (const TreeStore::Id id : region.trees) leaves_.push_back(regions_.store()[id].corner);
    regions_.ensemble().sums(leaves_, sums_);
    scoring_.admit(sums_, 1, least, most);
    return true;
  }
  if (!scoring_.is_bounded || scoring_.tolerance == 0) return false;
  regions_.bound_sums(region, low_, high_);
  const int n = scoring_.n_numbers();
  least.resize(scoring_.n_columns);
  most.resize(scoring_.n_columns);
  if (scoring_.keeps_class) {
    const int one_class = decider_.decide(low_.data(), high_.data());
    if (one_class < 0) return false;
    least[n] = most[n] = one_class;
  }
  bounds_.decisive(low_.data(), high_.data(), numbers_);
  for (int k = 0; k < n; ++k) {
    const Between& number = numbers_[numbers_.size() - n + k];
    // Of probabilities, what rounding made larger than one may be given as one.
    const double smallest = n > 1 ? std::min(number.low, 1.0) : number.low;
    if (!(number.high < kInfinity && smallest > -kInfinity)) return false;
    least[k] = least_of(number.high, scoring_);
    most[k] = most_of(smallest, scoring_);
    if (!(least[k] <= most[k])) return false;
  }
  return true;
}

void ScoreBounds::numbers_at(const double* sums, std::vector<Between>& numbers) {
  divided_.clear();
  for (int k = 0; k < original_.n_outputs; ++k) {
    const double sum = sums[k] / scoring_.response.divisor[k];
    divided_.push_back({sum, sum});
  }
  if (scoring_.is_bounded)
    scoring_.response.bounds(divided_, numbers);
  else
    numbers = divided_;
}

double ScoreBounds::room(double number) const {
  return 2 * (scoring_.is_relative ? scoring_.tolerance * std::abs(number) : scoring_.tolerance);
}

// As `decide`, of sums as they are.
int ScoreBounds::likely_class(const double* sums) const {
  if (original_.n_outputs > 1 && original_.combination == nullptr)
    return static_cast<int>(std::max_element(sums, sums + original_.n_outputs) - sums);
  std::vector<double> divided(sums, sums + original_.n_outputs);
  for (int k = 0; k < original_.n_outputs; ++k) divided[k] /= scoring_.response.divisor[k];
  if (original_.combination != nullptr) return original_.combination->guess(divided);
  return original_.rule.cut_inclusive ? divided[0] >= original_.rule.cut : divided[0] > original_.rule.cut;
}

double ScoreBounds::change(const double* sums, const double* other) {
  if (std::equal(sums, sums + original_.n_outputs, other)) return 0;
  if (scoring_.keeps_class && likely_class(sums) != likely_class(other)) return 1;
  numbers_at(sums, numbers_);
  numbers_at(other, others_);
  double most = 0;
  for (std::size_t k = 0; k < numbers_.size(); ++k) {
    const double a = (numbers_[k].low + numbers_[k].high) / 2, b = (others_[k].low + others_[k].high) / 2;
    if (a == b) continue;
    const double both = room(a) / 2 + room(b) / 2;
    most = std::max(most, both > 0 ? std::abs(a - b) / both : 1.0);
  }
  return std::min(most, 1.0);
}

}  // namespace onetree
