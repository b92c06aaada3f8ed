#include "proof/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "proof/box.hpp"
#include "proof/choice.hpp"
#include "proof/deviation.hpp"
#include "proof/forest.hpp"
#include "proof/steps.hpp"

namespace onetree::proof {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostPending = 4096;

class RangeProver {
 public:
  RangeProver(const Model& model, const Response& response, const Axes& axes, const Tree& tree, const Promise& promise,
              const Evaluate& evaluate, Control& control)
      : model_(model),
        response_(response),
        axes_(axes),
        tree_(tree),
        promise_(promise),
        evaluate_(evaluate),
        control_(control),
        forest_(model, axes, Forest::kNoCandidate),
        met_(promise.known) {}

  RangeVerdict prove();

 private:
  struct Branch {  // a part of a box that is still to be looked at
    Forest::Mark mark;
    int axis;
    Range range;
    std::int32_t node;  // of the tree that is walked down
  };
  struct Pending {  // a whole evaluation that is to be made
    std::int32_t leaf;
    double most;  // its deviation is at most this
  };

  bool is_over() const { return verdict_.worst > promise_.allowed; }
  double number(std::int32_t leaf, std::size_t column) const {
    return promise_.number[static_cast<std::size_t>(leaf) * response_.n_numbers + column];
  }
  // Bounds of the divided sums as the library computes them.
  void sums();
  void run();
  double low_of(std::size_t column) const { return registers_.low(registers_.size() - response_.n_numbers + column); }
  double high_of(std::size_t column) const { return registers_.high(registers_.size() - response_.n_numbers + column); }
  bool is_settled() const;
  // The largest deviation that bounds leave open, and in which column and at which end.
  double open_deviation(std::int32_t leaf);
  double at_least(std::int32_t leaf) const;
  void weigh();
  void split(std::int32_t leaf, double most);
  void enter(const Branch& branch);
  void prove_leaf(std::int32_t leaf);
  void meet(std::int32_t leaf, double most);
  void flush();
  void append_point(std::vector<double>& point) const;
  void append_sums(std::span<const double> point, std::vector<double>& sums) const;

  const Model& model_;
  const Response& response_;
  const Axes& axes_;
  const Tree& tree_;
  const Promise& promise_;
  const Evaluate& evaluate_;
  Control& control_;
  Forest forest_;
  Registers registers_{true};
  RangeVerdict verdict_;
  // Some input has at least this deviation, or it is no matter: boxes with no more need not be looked at.
  double met_;
  std::size_t column_ = 0;  // of the largest deviation,
  bool is_high_ = false;    // ... where the library's number is above that of the leaf
  std::vector<double> least_, most_, weights_;
  std::vector<Forest::Split> splits_;
  std::vector<Branch> branches_, sides_;
  std::vector<Pending> pending_;
  std::vector<double> points_, sums_;  // of what is pending
  std::size_t n_at_once_ = 1;
};

// Rounded addition and division are monotone, so the library's own way of adding, run on the extreme leaf of every
// tree, bounds what it computes for any leaves.
void RangeProver::sums() {
  const std::size_t n_trees = model_.roots.size(), n_outputs = static_cast<std::size_t>(model_.n_outputs);
  least_.resize(n_outputs);
  most_.resize(n_outputs);
  auto total = [&]<typename Real>(Real least, std::size_t k) {
    Real most = least;
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
      const std::span<const double> ends = forest_.ends(tree);
      most += static_cast<Real>(ends[2 * k]);
      least -= static_cast<Real>(ends[2 * k + 1]);
    }
    const bool divides = response_.divisor[k] != 1;
    const Real divisor = static_cast<Real>(response_.divisor[k]);
    least_[k] = divides ? least / divisor : least;
    most_[k] = divides ? most / divisor : most;
  };
  for (std::size_t k = 0; k < n_outputs; ++k) {
    if (response_.float32[k] != 0)
      total(static_cast<float>(model_.base[k]), k);
    else
      total(model_.base[k], k);
  }
}

void RangeProver::run() {
  registers_.clear();
  for (std::size_t k = 0; k < least_.size(); ++k) registers_.put(least_[k], most_[k]);
  for (const Step& step : response_.steps) registers_.take(step);
}

// One vector of numbers all over the box.
bool RangeProver::is_settled() const {
  for (std::size_t i = registers_.size() - response_.n_numbers; i < registers_.size(); ++i)
    if (!registers_.is_same(i)) return false;
  return true;
}

double RangeProver::open_deviation(std::int32_t leaf) {
  double largest = -1;
  for (std::size_t column = 0; column < static_cast<std::size_t>(response_.n_numbers); ++column) {
    const double own = number(leaf, column), low = low_of(column), high = high_of(column);
    const double open = largest_deviation(own, low, high, promise_.relative);
    if (!(open > largest)) continue;
    largest = open;
    column_ = column;
    is_high_ = !(deviation(own, low, promise_.relative) >= deviation(own, high, promise_.relative));
  }
  return largest;
}

double RangeProver::at_least(std::int32_t leaf) const {
  double largest = 0;
  for (std::size_t column = 0; column < static_cast<std::size_t>(response_.n_numbers); ++column)
    largest =
        std::max(largest, least_deviation(number(leaf, column), low_of(column), high_of(column), promise_.relative));
  return largest;
}

// What it is worth to lower each end of a sum, per unit: the largest one, then the least one negated, of every output.
void RangeProver::weigh() {
  const std::size_t n_outputs = least_.size(), column = column_;
  const bool is_high = is_high_;
  weights_.assign(2 * n_outputs, 0.0);
  if (response_.steps.empty()) {
    weights_[2 * column + (is_high ? 0 : 1)] = 1;
    return;
  }
  auto end_now = [&] { return is_high ? high_of(column) : -low_of(column); };
  const double before = end_now();
  bool any = false;
  for (std::size_t k = 0; std::isfinite(before) && k < n_outputs; ++k) {
    const double low = least_[k], high = most_[k], middle = low + (high - low) / 2;
    if (!(low < high)) continue;
    for (const std::size_t end : {0, 1}) {
      (end == 0 ? most_ : least_)[k] = middle;
      run();
      const double gone = before - end_now();
      if (gone > 0) {
        weights_[2 * k + end] = gone / (high - middle > 0 ? high - middle : high - low);
        any = true;
      }
      least_[k] = low;
      most_[k] = high;
    }
  }
  if (!any) weights_.assign(2 * n_outputs, 1.0);
}

void RangeProver::split(std::int32_t leaf, double most) {
  weigh();
  forest_.splits(weights_, splits_);
  const double own = std::abs(number(leaf, column_));
  double needed = most - std::max(met_, 0.0);
  if (promise_.relative) needed *= own;
  if (!(needed < kInfinity)) needed = std::numeric_limits<double>::max();
  const Choice best = best_split(splits_, axes_, needed);
  // The side that is further off is looked at first: the more it is off, the more can be passed over.
  auto [below, above] = axes_.parts(forest_.ranges()[best.test.axis], best.test);
  const Forest::Mark mark = forest_.mark();
  Branch first{mark, best.test.axis, std::move(below), -1}, second{mark, best.test.axis, std::move(above), -1};
  if (best.left > best.right) std::swap(first, second);
  branches_.push_back(std::move(second));
  enter(first);
}

void RangeProver::enter(const Branch& branch) {
  forest_.undo(branch.mark);
  forest_.narrow(branch.axis, branch.range);
}

void RangeProver::prove_leaf(std::int32_t leaf) {
  ++verdict_.counts.boxes;
  branches_.clear();
  for (;;) {
    control_.check("proof", -1, -1, verdict_.counts.boxes - 1);
    ++verdict_.counts.nodes;
    sums();
    run();
    const double most = open_deviation(leaf);
    if (!(most <= met_)) {
      if (!is_settled()) {
        split(leaf, most);
        continue;
      }
      meet(leaf, most);
      if (is_over()) return;
    }
    if (branches_.empty()) return;
    enter(branches_.back());
    branches_.pop_back();
  }
}

// The box has one vector of numbers. Without steps it is known; otherwise the library's functions have to tell.
void RangeProver::meet(std::int32_t leaf, double most) {
  ++verdict_.counts.fragile;
  if (response_.steps.empty()) {
    met_ = verdict_.worst = most;
    verdict_.leaf = leaf;
    verdict_.point.clear();
    append_point(verdict_.point);
    return;
  }
  const double certain = at_least(leaf);
  met_ = std::max(met_, certain);
  const std::size_t begin = points_.size();
  append_point(points_);
  append_sums({points_.data() + begin, points_.size() - begin}, sums_);
  pending_.push_back({leaf, most});
  if (pending_.size() >= n_at_once_ || certain > promise_.allowed) flush();
}

// Few at first, so that what is met lets other boxes be passed over; then more, as each call has its price.
void RangeProver::flush() {
  if (pending_.empty()) return;
  std::vector<std::int32_t> leaves;
  for (const Pending& each : pending_) leaves.push_back(each.leaf);
  const std::vector<double> found = evaluate_(leaves, sums_);
  const std::size_t n_features = points_.size() / pending_.size();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double each = std::isnan(found[i]) ? kInfinity : found[i];
    if (each <= std::max(verdict_.worst, promise_.known)) continue;
    verdict_.worst = each;
    verdict_.leaf = leaves[i];
    verdict_.point.assign(points_.begin() + i * n_features, points_.begin() + (i + 1) * n_features);
  }
  met_ = std::max(met_, verdict_.worst);
  pending_.clear();
  points_.clear();
  sums_.clear();
  n_at_once_ = std::min(2 * n_at_once_, kMostPending);
}

void RangeProver::append_point(std::vector<double>& point) const {
  for (int axis = 0; axis < axes_.size(); ++axis) point.push_back(axes_.input(axis, forest_.ranges()[axis]));
}

// Walks the plain arrays.
void RangeProver::append_sums(std::span<const double> point, std::vector<double>& sums) const {
  std::vector<std::int32_t> leaves;
  for (std::int32_t node : model_.roots) {
    while (model_.feature[node] >= 0) {
      const int j = model_.feature[node];
      const double x = point[j], threshold = model_.threshold[node];
      bool left = std::isnan(x) ? model_.missing_left[node] != 0 : x <= threshold;
      if (model_.is_set(j)) {
        const SetAxis& axis = model_.sets[j];
        left = axis.member[static_cast<std::size_t>(threshold) * axis.n_values + static_cast<std::size_t>(x)] != 0;
      }
      node = left ? model_.left[node] : model_.right[node];
    }
    leaves.push_back(node);
  }
  auto total = [&]<typename Real>(Real sum, int k) {
    for (const std::int32_t leaf : leaves) sum += static_cast<Real>(model_.leaf_value(leaf)[k]);
    if (response_.divisor[k] != 1) sum /= static_cast<Real>(response_.divisor[k]);
    return static_cast<double>(sum);
  };
  for (int k = 0; k < model_.n_outputs; ++k)
    sums.push_back(response_.float32[k] != 0 ? total(static_cast<float>(model_.base[k]), k) : total(model_.base[k], k));
}

RangeVerdict RangeProver::prove() {
  for (std::int32_t node = 0;;) {
    while (node >= 0 && tree_.feature[node] >= 0) {
      const int axis = tree_.feature[node];
      auto [below, above] = axes_.parts(forest_.ranges()[axis], axes_.test(axis, tree_.threshold[node], false));
      const bool to_left = !axes_.is_empty(axis, below), to_right = !axes_.is_empty(axis, above);
      if (to_left && to_right) sides_.push_back({forest_.mark(), axis, std::move(above), tree_.right[node]});
      if (to_left)
        forest_.narrow(axis, below);
      else if (to_right)
        forest_.narrow(axis, above);
      node = to_left ? tree_.left[node] : to_right ? tree_.right[node] : -1;
    }
    if (node >= 0) prove_leaf(node);
    if (is_over()) break;
    if (sides_.empty()) {
      flush();
      break;
    }
    enter(sides_.back());
    node = sides_.back().node;
    sides_.pop_back();
  }
  return std::move(verdict_);
}

}  // namespace

RangeVerdict prove_ranges(const Model& model, const Response& response, const Tree& tree, const Promise& promise,
                          const Evaluate& evaluate, Control& control) {
  std::vector<std::vector<double>> cuts(model.n_features());
  for (std::size_t node = 0; node < tree.feature.size(); ++node)
    if (const int j = tree.feature[node]; j >= 0 && !model.is_set(j)) cuts[j].push_back(tree.threshold[node]);
  const Axes axes(model, cuts);
  return RangeProver(model, response, axes, tree, promise, evaluate, control).prove();
}

}  // namespace onetree::proof
