#include "question/bound.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace onetree::question {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kSlack = 0x1p-36;              // of sums that are rounded in any order, relatively; generous
constexpr double kSmallestScale = 1e-9;         // below it, shares are written anew
constexpr std::size_t kMostPayments = 16;       // demands with payments of their own
constexpr int kFirstRounds = 40, kRounds = 10;  // of sharing, at most
constexpr int kFirstTries = 6, kTries = 2;      // of another worth, in each

}  // namespace

Bounds::Bounds(const Forest& forest, int n_axes, bool adds_up)
    : forest_(forest),
      n_axes_(static_cast<std::size_t>(n_axes)),
      adds_up_(adds_up),
      free_(forest.n_trees()),
      best_(forest.n_trees()) {
  if (adds_up) wanted_.resize(n_axes_);
}

void Bounds::set(const Reach& reach, double base, double known, double limit) {
  reach_ = &reach;
  base_ = base;
  known_ = std::max(known, base);
  limit_ = limit;
}

Bound Bounds::of(Demand& demand) {
  return demand.combined == nullptr ? of_sums(demand) : of_combination(demand);
}

// Lists the steps of every tree; false if not even the best leaves are enough.
bool Bounds::list_steps(const Demand& demand, Bound& found) {
  double most = 0;
  steps_.clear();
  for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) {
    double free = -kInfinite, best = -kInfinite;
    for (const Reached& each : reach_->of_tree(tree)) {
      const double gain = demand.gain[each.leaf];
      best = std::max(best, gain);
      if (each.cost <= base_) free = std::max(free, gain);
    }
    free_[tree] = free;
    most += best;
    if (!(best > free)) continue;
    for (std::uint32_t leaf = reach_->first[tree]; leaf < reach_->first[tree + 1]; ++leaf) {
      const Reached& each = reach_->leaves[leaf];
      if (demand.gain[each.leaf] > free)
        steps_.push_back({each.cost, demand.gain[each.leaf], 0, leaf, static_cast<std::uint32_t>(tree)});
    }
  }
  found.lead = most - demand.needed;
  most_ = most;
  return most >= demand.needed;
}

Bound Bounds::of_sums(Demand& demand) {
  Bound found{kInfinite, -kInfinite, &demand};
  is_paid_ = false;
  if (!list_steps(demand, found)) return found;
  found.cost = least_cost(demand.needed, 0);
  if (!adds_up_ || steps_.empty() || !(found.cost < limit_) || !std::isfinite(demand.needed)) return found;
  paid_ = &payments_[payments_.size() < kMostPayments || payments_.contains(&demand) ? &demand : nullptr];
  if (paid_->is_new) {
    paid_->shares.assign(forest_.n_trees() * n_axes_, 1 / static_cast<double>(forest_.n_trees()));
    paid_->scale.assign(n_axes_, 1);
  }
  if (is_refuted_by_sharing(demand.needed, paid_->is_new ? kFirstRounds : kRounds))
    found.cost = kInfinite;
  else if (paid_->worth > 0)
    found.cost = std::max(found.cost, least_cost(demand.needed, paid_->worth));
  paid_->is_new = false;
  return found;
}

// The least cost that is not refuted, with payments of some worth. Without any, steps alone decide.
double Bounds::least_cost(double needed, double worth) {
  double sum = 0, size = worth * known_;
  best_ = free_;
  events_.clear();
  for (const Step& step : steps_) {
    const double left = step.gain - worth * step.price;
    if (left > best_[step.tree] && step.cost <= known_) best_[step.tree] = left;
  }
  for (std::uint32_t number = 0; number < steps_.size(); ++number) {
    const Step& step = steps_[number];
    if (step.cost > known_ && step.gain - worth * step.price > best_[step.tree])
      events_.emplace_back(step.cost, number);
  }
  for (const double each : best_) {
    sum += each;
    size += std::abs(each);
  }
  if (worth > 0) needed -= kSlack * (size + std::abs(needed));
  std::make_heap(events_.begin(), events_.end(), std::greater<>());
  for (double cost = known_;;) {
    if (sum + worth * (cost - base_) >= needed) return cost;
    // Up to the next step, only what is paid grows.
    const double next = events_.empty() ? limit_ : events_.front().first;
    if (worth > 0) {
      const double enough = base_ + (needed - sum) / worth * (1 - kSlack);
      if (enough < next) return std::max(cost, enough);
    }
    if (events_.empty()) return kInfinite;
    cost = next;
    while (!events_.empty() && events_.front().first == cost) {
      const Step& step = steps_[events_.front().second];
      const double left = step.gain - worth * step.price;
      if (left > best_[step.tree]) {
        sum += left - best_[step.tree];
        best_[step.tree] = left;
      }
      std::pop_heap(events_.begin(), events_.end(), std::greater<>());
      events_.pop_back();
    }
  }
}

double Bounds::price_of(const Step& step) const {
  double price = 0;
  const double* own = paid_->shares.data() + step.tree * n_axes_;
  for (const Extra& extra : reach_->extras_of(step.leaf))
    price += own[extra.axis] * paid_->scale[extra.axis] * extra.cost;
  return price;
}

// What the best leaves within a cost gain beyond what they pay, and what they pay.
Bounds::Total Bounds::best(double cost, double worth) {
  Total total{0, 0};
  chosen_.clear();
  std::size_t at = 0;
  for (std::uint32_t tree = 0; tree < forest_.n_trees(); ++tree) {
    double most = free_[tree];
    std::size_t chosen = steps_.size();
    for (; at < steps_.size() && steps_[at].tree == tree; ++at) {
      const double left = steps_[at].gain - worth * steps_[at].price;
      if (left > most && steps_[at].cost <= cost) {
        most = left;
        chosen = at;
      }
    }
    total.gain += most;
    if (chosen == steps_.size()) continue;
    total.price += steps_[chosen].price;
    chosen_.push_back(static_cast<std::uint32_t>(chosen));
  }
  return total;
}

void Bounds::room(const Demand& demand, std::vector<double>& left, std::vector<double>& right) const {
  for (std::vector<double>* each : {&left, &right}) each->assign(forest_.n_trees(), -kInfinite);
  const double lead = is_paid_ ? paid_lead_ : most_ - demand.needed, worth = is_paid_ ? paid_->worth : 0;
  auto step = steps_.begin();
  for (std::uint32_t tree = 0; tree < forest_.n_trees(); ++tree) {
    for (std::uint32_t leaf = reach_->first[tree]; leaf < reach_->first[tree + 1]; ++leaf) {
      double gain = demand.gain[reach_->leaves[leaf].leaf];
      if (step != steps_.end() && step->leaf == leaf) gain -= worth * (step++)->price;
      double& side = (reach_->leaves[leaf].right ? right : left)[tree];
      side = std::max(side, gain);
    }
    const double best = std::max(left[tree], right[tree]);
    left[tree] = lead - (best - left[tree]);
    right[tree] = lead - (best - right[tree]);
  }
}

void Bounds::chosen(std::vector<std::pair<double, std::int32_t>>& order) const {
  if (paid_ == nullptr) return;
  for (const std::uint32_t number : chosen_) {
    if (number >= steps_.size()) continue;
    const Step& step = steps_[number];
    order.emplace_back(free_[step.tree] - step.gain + paid_->worth * step.price, reach_->leaves[step.leaf].leaf);
  }
}

// Lets the trees that chose an axis share it in proportion to what they want of it.
void Bounds::share(double weight) {
  std::fill(wanted_.begin(), wanted_.end(), 0.0);
  for (const std::uint32_t step : chosen_)
    for (const Extra& extra : reach_->extras_of(steps_[step].leaf)) wanted_[extra.axis] += extra.cost;
  for (std::size_t axis = 0; axis < n_axes_; ++axis) {
    if (!(wanted_[axis] > 0)) continue;
    paid_->scale[axis] *= 1 - weight;
    if (paid_->scale[axis] < kSmallestScale) {
      double sum = 0;
      for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) sum += paid_->shares[tree * n_axes_ + axis];
      for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree)
        paid_->shares[tree * n_axes_ + axis] *= (1 - weight) / sum;
      paid_->scale[axis] = 1;
    }
  }
  for (const std::uint32_t step : chosen_)
    for (const Extra& extra : reach_->extras_of(steps_[step].leaf))
      paid_->shares[steps_[step].tree * n_axes_ + extra.axis] +=
          weight * extra.cost / wanted_[extra.axis] / paid_->scale[extra.axis];
}

// Whether some shares show that nothing below the limit is enough.
bool Bounds::is_refuted_by_sharing(double needed, int n_rounds) {
  const double aim = std::isfinite(limit_) ? limit_ : 2 * std::max(known_, base_), budget = aim - base_;
  double size = std::abs(needed), all_free = 0;
  for (const double each : free_) {
    size += std::abs(each);
    all_free += each;
  }
  double before = kInfinite;
  for (int round = 0;; ++round) {
    for (Step& step : steps_) step.price = price_of(step);
    double& worth = paid_->worth;
    Total total = best(aim, worth);
    double most = total.gain + worth * budget;
    // It is convex in the worth: where the trees want to pay more than there is, it should be higher.
    const bool up = total.price > budget;
    for (int tries = paid_->is_new ? kFirstTries : kTries; tries > 0; --tries) {
      const double first = (most_ - all_free) / std::max(budget, 1e-300) / 4;
      const double other = worth == 0 ? (up ? first : 0) : (up ? worth * 1.4 : worth / 1.4);
      if (other == worth) break;
      std::swap(chosen_, chosen_before_);
      const Total there = best(aim, other);
      if (!(there.gain + other * budget < most)) {
        std::swap(chosen_, chosen_before_);
        break;
      }
      most = there.gain + other * budget;
      worth = other;
    }
    is_paid_ = aim == limit_;
    paid_lead_ = most - (needed - kSlack * (size + worth * aim));
    if (is_paid_ && paid_lead_ < 0) return true;
    // Goes on while it looks as if that could still be.
    const bool is_close = round == 0 || (before - most) * (n_rounds - round) > most - needed;
    if (round == n_rounds || (!paid_->is_new && !is_close)) return false;
    before = most;
    share(1.0 / (2 + (paid_->is_new ? round / 4.0 : 2.0)));
  }
}

// The bounds only widen as leaves become affordable, so the least cost is found by bisection.
Bound Bounds::of_combination(Demand& demand) {
  Bound found{kInfinite, -kInfinite, &demand};
  auto lead = [&](double cost) { return demand.combined->lead(*reach_, cost, demand.winner, demand.rival); };
  found.lead = lead(kInfinite);
  if (found.lead < 0) return found;
  costs_.assign(1, known_);
  for (const Reached& each : reach_->leaves)
    if (each.cost > known_) costs_.push_back(each.cost);
  std::sort(costs_.begin(), costs_.end());
  costs_.erase(std::unique(costs_.begin(), costs_.end()), costs_.end());
  const auto enough = std::partition_point(costs_.begin(), costs_.end(), [&](double cost) { return lead(cost) < 0; });
  found.cost = *enough;  // the last one is enough
  lead(found.cost);      // for the guide
  return found;
}

}  // namespace onetree::question
