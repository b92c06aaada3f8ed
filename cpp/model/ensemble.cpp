#include "model/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace onetree {

namespace {

template <typename Real>
void accumulate(const Ensemble& ensemble, std::span<const std::int32_t> leaves, std::vector<double>& scores) {
  const int n = ensemble.n_outputs;
  std::vector<Real> sum(n);
  for (int k = 0; k < n; ++k) sum[k] = static_cast<Real>(ensemble.base[k]);
  for (const std::int32_t leaf : leaves)
    for (int k = 0; k < n; ++k) sum[k] += static_cast<Real>(ensemble.leaf_value(leaf)[k]);
  for (int k = 0; k < n; ++k)
    scores[k] =
        ensemble.rule.divisor == 1.0 ? sum[k] : static_cast<Real>(sum[k] / static_cast<Real>(ensemble.rule.divisor));
}

// As above, where each output has a precision and a divisor of its own. Of one sum only the leaves of its member are
// not zero.
void accumulate_each(const Ensemble& ensemble, std::span<const std::int32_t> leaves, std::vector<double>& scores) {
  const Combination& combination = *ensemble.combination;
  auto sum = [&]<typename Real>(int k, Real total) {
    for (const std::int32_t leaf : leaves) total += static_cast<Real>(ensemble.leaf_value(leaf)[k]);
    const Real divisor = static_cast<Real>(combination.divisor[k]);
    return static_cast<double>(combination.divisor[k] == 1.0 ? total : static_cast<Real>(total / divisor));
  };
  for (int k = 0; k < ensemble.n_outputs; ++k)
    scores[k] = combination.float32[k] ? sum(k, static_cast<float>(ensemble.base[k])) : sum(k, ensemble.base[k]);
}

// The first of the largest probabilities, each computed as XGBoost and LightGBM do.
template <typename Real>
Class likeliest(std::span<const double> scores) {
  const Real largest = static_cast<Real>(*std::max_element(scores.begin(), scores.end()));
  std::vector<Real> share(scores.size());
  double total = 0;
  for (std::size_t k = 0; k < scores.size(); ++k) {
    share[k] = std::exp(static_cast<Real>(scores[k]) - largest);
    total += share[k];
  }
  for (Real& each : share) each /= static_cast<Real>(total);
  return static_cast<Class>(std::max_element(share.begin(), share.end()) - share.begin());
}

}  // namespace

Class Ensemble::decide_scores(std::span<const double> scores) const {
  if (n_classes == 1) return 0;
  if (combination != nullptr) return static_cast<Class>(combination->decide(scores));
  if (n_outputs == 1) return rule.cut_inclusive ? scores[0] >= rule.cut : scores[0] > rule.cut;
  if (rule.softmax) return rule.float32 ? likeliest<float>(scores) : likeliest<double>(scores);
  return static_cast<Class>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

void Ensemble::leaf_key(std::int32_t node, std::vector<std::int32_t>& key) const {
  const double* numbers = leaf_value(node);
  key.assign(1 + 2 * static_cast<std::size_t>(n_outputs), -1);
  for (int k = 0; k < n_outputs; ++k) {
    const double canonical = numbers[k] == 0 ? 0.0 : numbers[k];
    std::memcpy(&key[1 + 2 * k], &canonical, sizeof canonical);
  }
}

void Ensemble::sums(std::span<const std::int32_t> leaves, std::vector<double>& scores) const {
  scores.resize(n_outputs);
  if (combination != nullptr)
    accumulate_each(*this, leaves, scores);
  else if (rule.float32)
    accumulate<float>(*this, leaves, scores);
  else
    accumulate<double>(*this, leaves, scores);
}

Class Ensemble::decide(std::span<const std::int32_t> leaves) const {
  std::vector<double> scores;
  sums(leaves, scores);
  return decide_scores(scores);
}

bool Ensemble::sums_are_exact() const {
  if (rule.softmax || combination != nullptr) return false;
  double largest = 0;
  auto integral = [&](double v) {
    largest = std::max(largest, std::abs(v));
    return v == std::nearbyint(v);
  };
  if (!std::all_of(base.begin(), base.end(), integral) || !std::all_of(value.begin(), value.end(), integral))
    return false;
  if (n_outputs == 1 && !(rule.divisor == 1 && integral(rule.cut))) return false;
  if (rule.divisor != std::nearbyint(rule.divisor) || rule.divisor > (1 << 20)) return false;
  // Below this, quotients of different sums are different numbers too.
  return largest * (n_trees() + 1) < (rule.float32 ? 1 << 10 : 1 << 24);
}

double Ensemble::margin() const {
  if (combination != nullptr || sums_are_exact()) return 0;  // a combination has its own bounds
  double magnitude = std::abs(rule.cut * rule.divisor);
  for (const double b : base) magnitude = std::max(magnitude, std::abs(b));
  double largest = 0;
  for (const double v : value) largest = std::max(largest, std::abs(v));
  magnitude += largest * n_trees();
  if (!(magnitude < (rule.float32 ? 0x1p126 : 0x1p1020))) return HUGE_VAL;
  const double unit = rule.float32 ? 0x1p-24 : 0x1p-53;
  const double n = n_trees() + 4;
  // Classic bound on the error of a floating-point sum, once for each of the two sums compared, doubled for the
  // bounds' own rounding; then what the division may lose below the smallest normal number.
  double margin = 4 * (n * unit / (1 - n * unit)) * magnitude;
  margin += 4 * (n + rule.divisor) * (rule.float32 ? 0x1p-149 : 0x1p-1074);
  // Probabilities of scores further apart than this differ by several units in the last place.
  if (rule.softmax) margin += 16 * unit * rule.divisor;
  return margin;
}

CombinedBounds::CombinedBounds(const Ensemble& ensemble) : combination_(ensemble.combination) {
  if (combination_ == nullptr) return;
  const double n = ensemble.n_trees() + 4;
  for (int k = 0; k < ensemble.n_outputs; ++k) {
    double largest = 0;
    for (std::size_t at = static_cast<std::size_t>(k); at < ensemble.value.size(); at += ensemble.n_outputs)
      largest = std::max(largest, std::abs(ensemble.value[at]));
    const double magnitude = std::abs(ensemble.base[k]) + largest * n;
    const bool float32 = combination_->float32[k] != 0;
    const double unit = float32 ? 0x1p-24 : 0x1p-53;
    error_.push_back(magnitude < (float32 ? 0x1p126 : 0x1p1020)
                         ? 4 * (n * unit / (1 - n * unit)) * magnitude + 4 * n * (float32 ? 0x1p-149 : 0x1p-1074)
                         : HUGE_VAL);
  }
}

void CombinedBounds::divided(const double* low, const double* high, std::vector<Between>& sums) const {
  sums.resize(error_.size());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const double divisor = combination_->divisor[k];
    sums[k] = {(low[k] - error_[k]) / divisor, (high[k] + error_[k]) / divisor};
  }
}

void CombinedBounds::decisive(const double* low, const double* high, std::vector<Between>& found) const {
  std::vector<Between> sums;
  divided(low, high, sums);
  combination_->bounds(sums, found);
}

int CombinedBounds::decide(const double* low, const double* high) const {
  std::vector<Between> found;
  decisive(low, high, found);
  return combination_->clear_winner(found);
}

BoundDecider::BoundDecider(const Ensemble& ensemble)
    : ensemble_(ensemble), combined_(ensemble), exact_(ensemble.sums_are_exact()), margin_(ensemble.margin()) {}

int BoundDecider::decide(const double* low, const double* high) const {
  if (ensemble_.n_classes == 1) return 0;
  if (ensemble_.combination != nullptr) return combined_.decide(low, high);
  if (ensemble_.n_outputs == 1) {
    const Rule& rule = ensemble_.rule;
    const double cut = rule.cut * rule.divisor;  // divisors are positive
    if (exact_) {
      if (rule.cut_inclusive ? low[0] >= cut : low[0] > cut) return 1;
      if (rule.cut_inclusive ? high[0] < cut : high[0] <= cut) return 0;
      return -1;
    }
    const double margin = margin_ + 8 * 0x1p-52 * std::abs(cut);
    if (low[0] - cut > margin) return 1;
    if (cut - high[0] > margin) return 0;
    return -1;
  }
  const int n = ensemble_.n_outputs;
  const int best = static_cast<int>(std::max_element(low, low + n) - low);
  for (int k = 0; k < n; ++k) {
    if (k == best) continue;
    const double lead = low[best] - high[k];
    // Ties go to the smaller class index.
    if (exact_ ? (k < best ? lead <= 0 : lead < 0) : lead <= margin_) return -1;
  }
  return best;
}

}  // namespace onetree
