#include "proof/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onetree::proof {

namespace {

// The largest sum of absolute values that any output can meet: its base, and the largest leaf of every tree.
double magnitude(const Model& model) {
  std::vector<double> total(model.n_outputs), most(model.n_outputs);
  for (int k = 0; k < model.n_outputs; ++k) total[k] = std::abs(model.base[k]);
  std::vector<std::int32_t> todo;
  for (const std::int32_t root : model.roots) {
    std::fill(most.begin(), most.end(), 0.0);
    todo.assign(1, root);
    while (!todo.empty()) {
      const std::int32_t node = todo.back();
      todo.pop_back();
      if (model.feature[node] >= 0) {
        todo.insert(todo.end(), {model.left[node], model.right[node]});
        continue;
      }
      for (int k = 0; k < model.n_outputs; ++k) most[k] = std::max(most[k], std::abs(model.leaf_value(node)[k]));
    }
    for (int k = 0; k < model.n_outputs; ++k) total[k] += most[k];
  }
  const double rounded = *std::max_element(total.begin(), total.end());
  return rounded * (1 + 0x1p-20);
}

bool all_integers(const Model& model) {
  auto integral = [](double v) { return v == std::nearbyint(v); };
  return std::all_of(model.base.begin(), model.base.end(), integral) &&
         std::all_of(model.value.begin(), model.value.end(), integral);
}

// The bound on the error of n roundings, each by at most one unit.
double gamma(double n, double unit) {
  return n * unit / (1 - n * unit);
}

// Let S be the real sums and A the magnitude. The library computes each sum with an error of at most gamma(T + 1) A: T
// additions, and a leaf may be rounded to its precision first. Dividing two computed sums keeps their order, and keeps
// them apart if they differ by more than 4 units of A, or of the smallest numbers there are. The lead we compare with
// is a float64 sum of T + 1 differences, each of at most 2 A: it is off by at most 2 gamma(T + 3) A. A softmax keeps
// scores apart that differ by 16 units: exp is right to a few units in the last place, and exp(-d) <= 1 - d / 2.
double safe_margin(const Model& model, double most) {
  if (!(most < (model.rule.float32 ? 0x1p126 : 0x1p1020))) return std::numeric_limits<double>::infinity();
  const double unit = model.rule.float32 ? 0x1p-24 : 0x1p-53;
  const double smallest = model.rule.float32 ? 0x1p-149 : 0x1p-1074;
  const double n_trees = static_cast<double>(model.roots.size());
  if (n_trees * unit > 0.01) return std::numeric_limits<double>::infinity();
  double margin = 2 * gamma(n_trees + 1, unit) * most;
  margin += 4 * unit * most + 4 * (n_trees + model.rule.divisor + 1) * smallest;
  margin += 2 * gamma(n_trees + 3, 0x1p-53) * most;
  if (model.rule.softmax) margin += 32 * unit * model.rule.divisor;
  return 2 * margin;  // twice what the derivation asks for
}

// Probabilities as the library computes them: the largest score is taken off first.
template <typename Real>
void to_probabilities(std::vector<double>& scores) {
  const Real largest = static_cast<Real>(*std::max_element(scores.begin(), scores.end()));
  double total = 0;
  for (double& score : scores) {
    score = std::exp(static_cast<Real>(static_cast<Real>(score) - largest));
    total += score;
  }
  for (double& score : scores) score = static_cast<Real>(score) / static_cast<Real>(total);
}

}  // namespace

Scores::Scores(const Model& model) : model_(model), exact_(false), margin_(0), scores_(model.n_outputs) {
  if (model.is_combined()) return;
  const double most = magnitude(model);
  // Quotients of different integers below 2^22 (or 2^50) are different numbers in either precision.
  exact_ = !model.rule.softmax && all_integers(model) && most < (model.rule.float32 ? 0x1p22 : 0x1p50);
  margin_ = exact_ ? 0 : safe_margin(model, most);
}

template <typename Real>
void Scores::add(std::span<const std::int32_t> leaves) {
  const Real divisor = static_cast<Real>(model_.rule.divisor);
  for (int k = 0; k < model_.n_outputs; ++k) {
    Real sum = static_cast<Real>(model_.base[k]);
    for (const std::int32_t leaf : leaves) sum += static_cast<Real>(model_.leaf_value(leaf)[k]);
    scores_[k] = model_.rule.divisor == 1 ? sum : static_cast<Real>(sum / divisor);
  }
}

int Scores::first_of_the_best() const {
  if (model_.n_classes == 1) return 0;
  if (model_.n_outputs > 1) return static_cast<int>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
  return model_.rule.cut_inclusive ? scores_[0] >= model_.rule.cut : scores_[0] > model_.rule.cut;
}

int Scores::decide(std::span<const std::int32_t> leaves) {
  if (model_.rule.float32) {
    add<float>(leaves);
    if (model_.rule.softmax) to_probabilities<float>(scores_);
  } else {
    add<double>(leaves);
    if (model_.rule.softmax) to_probabilities<double>(scores_);
  }
  return first_of_the_best();
}

bool Scores::decides(std::span<const double> extremes, int candidate) {
  if (std::isinf(margin_)) return false;
  auto sum = [&]<typename Real>(Real base) {
    for (const double extreme : extremes) base += static_cast<Real>(extreme);
    return model_.rule.divisor == 1 ? base : static_cast<Real>(base / static_cast<Real>(model_.rule.divisor));
  };
  scores_[0] = model_.rule.float32 ? sum(static_cast<float>(model_.base[0])) : sum(model_.base[0]);
  return first_of_the_best() == candidate;
}

bool Scores::is_beaten(double lead, int rival, int candidate) const {
  if (exact_) return rival > candidate ? lead <= 0 : lead < 0;  // a draw goes to the first
  return lead < -margin_;
}

}  // namespace onetree::proof
