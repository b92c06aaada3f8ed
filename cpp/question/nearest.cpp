#include "question/nearest.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace onetree::question {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int kMostPasses = 3;  // over all options of a point, to make it cheaper
constexpr int kPlungeEvery = 64, kDiveFirst = 64, kDiveEvery = 16;
constexpr int kMostSweeps = 4;     // over all axes of a point, to let its leaves gain more
constexpr double kHopeful = 1.25;  // a point that is dearer than the best one by this will hardly become cheaper
constexpr double kFloor = 0.1;     // of what a test takes on one side: the other side still counts

bool is_charged(double cost) {
  return cost > 0 && cost < kInfinite;
}

struct Candidate {  // a box that may hold something cheaper
  double bound;     // nothing in it costs less
  double lead;      // how far its leaves get beyond what is needed: among equal bounds the largest comes first
  std::int64_t number;
  Test test;  // to split it by
  Box box;

  bool operator<(const Candidate& other) const {  // the top of a heap is the largest
    return std::tuple(-bound, lead, number) < std::tuple(-other.bound, other.lead, other.number);
  }
};

class Search {
 public:
  Search(Judge& judge, const Space& space, const Forest& forest, const Query& query, Control& control)
      : judge_(judge),
        space_(space),
        forest_(forest),
        query_(query),
        control_(control),
        costs_(space, query.costs),
        walk_(forest, costs_, query.largest),
        bounds_(forest, space.n_axes(),
                !query.largest && std::any_of(query.costs.begin(), query.costs.end(), is_charged)),
        limit_(std::nextafter(query.at_most, kInfinite)) {}

  Answer run();

 private:
  // What is to be done with a box: nothing if it cannot hold anything cheaper.
  std::optional<Candidate> look_at(Box&& box, double known);
  void push(Candidate&& candidate);
  void split(Candidate candidate, bool plunge);
  bool is_in_order(std::span<const std::int32_t> point) const {
    return query_.below < 0 || point[query_.below] <= point[query_.above];
  }
  bool put_in_order(const Box& box);
  bool is_wanted(std::span<const std::int32_t> point);  // puts its leaves into `tried_` if it is in order
  double cost_of(std::span<const std::int32_t> point) const;
  // Takes a point of a wanted class, made cheaper, if it is the cheapest so far.
  void take(std::vector<std::int32_t> point);
  void lower_all(std::vector<std::int32_t>& point);
  void lower_largest(std::vector<std::int32_t>& point);
  void make_cheaper(std::vector<std::int32_t>& point, int axis, std::int32_t option);
  Bound bound();
  void guide(Demand& demand, double cost);
  void find_best(const Demand& demand, double cost);
  Test choose(const Bound& bound, double cost);
  void note_settled(const Demand& demand);
  bool settle(Box& box, bool& is_empty);
  void dive(const Demand& demand, const Box& box, bool paid);
  void climb(const Demand& demand, const Box& box, std::vector<std::int32_t> point);
  bool is_done() const { return query_.any && !answer_.point.empty(); }

  Judge& judge_;
  const Space& space_;
  const Forest& forest_;
  const Query& query_;
  Control& control_;
  const Costs costs_;
  Walk walk_;
  Bounds bounds_;
  double limit_;  // what costs as much or more is of no interest
  Answer answer_;
  std::vector<Candidate> heap_;
  std::vector<std::int32_t> point_, leaves_, tried_;
  Reach reach_;
  struct Open {  // the first test of a tree that a box leaves open
    Test test;
    double loss_left, loss_right;  // what is lost if only this side is left
  };
  std::vector<Open> open_;
  std::vector<std::pair<Test, bool>> settled_;  // tests on one side of which nothing is left, and whether on the right
  std::int64_t next_dive_ = 0;
  Box narrowed_, scratch_;
  std::vector<double> sums_;                 // per option of an axis
  std::vector<double> best_, left_, right_;  // per tree: the largest gain, and on either side of its open test
  std::vector<std::int32_t> best_leaf_;
};

bool Search::is_wanted(std::span<const std::int32_t> point) {
  if (!is_in_order(point)) return false;
  forest_.leaves_at(point, tried_);
  return judge_.is_wanted(tried_);
}

// All allowed options cost the same here: the lowest of the one axis and the highest of the other are in order if any
// two are.
bool Search::put_in_order(const Box& box) {
  if (query_.below < 0) return true;
  std::int32_t low = box.parts[query_.below].first, high = box.parts[query_.above].last;
  while (low <= box.parts[query_.below].last && costs_(query_.below, low) == kInfinite) ++low;
  while (high >= box.parts[query_.above].first && costs_(query_.above, high) == kInfinite) --high;
  point_[query_.below] = low;
  point_[query_.above] = high;
  return low <= box.parts[query_.below].last && high >= box.parts[query_.above].first && low <= high;
}

double Search::cost_of(std::span<const std::int32_t> point) const {
  double total = 0;
  for (int axis = 0; axis < space_.n_axes(); ++axis) {
    const double own = costs_(axis, point[axis]);
    total = query_.largest ? std::max(total, own) : total + own;
  }
  return total;
}

void Search::take(std::vector<std::int32_t> point) {
  if (!query_.any && query_.largest) lower_largest(point);
  if (!query_.any && !query_.largest) lower_all(point);
  const double cost = cost_of(point);
  if (!(cost < limit_)) return;
  limit_ = answer_.cost = cost;
  answer_.point = std::move(point);
}

// One axis after the other, the dearest first.
void Search::lower_all(std::vector<std::int32_t>& point) {
  const Box whole = space_.whole();
  std::vector<int> order(space_.n_axes());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return costs_(a, point[a]) > costs_(b, point[b]); });
  bool is_cheaper = true;
  for (int pass = 0; pass < kMostPasses && is_cheaper; ++pass) {
    const std::vector<std::int32_t> before = point;
    for (const int axis : order) make_cheaper(point, axis, costs_.cheapest(whole, axis));
    is_cheaper = point != before && cost_of(point) < kHopeful * limit_;
  }
}

// Only the dearest axis counts, as long as it becomes cheaper.
void Search::lower_largest(std::vector<std::int32_t>& point) {
  const Box whole = space_.whole();
  for (int step = 0; step < kMostPasses * space_.n_axes(); ++step) {
    int dearest = 0;
    for (int axis = 1; axis < space_.n_axes(); ++axis)
      if (costs_(axis, point[axis]) > costs_(dearest, point[dearest])) dearest = axis;
    const std::int32_t before = point[dearest];
    make_cheaper(point, dearest, costs_.cheapest(whole, dearest));
    if (point[dearest] == before) return;
  }
}

// The cheapest option, or on an axis with an order one between that and the point's, by bisection.
void Search::make_cheaper(std::vector<std::int32_t>& point, int axis, std::int32_t option) {
  const std::int32_t own = point[axis], gap = space_.has_missing(axis) ? space_.n_ordered(axis) : -1;
  auto is_better = [&](std::int32_t tried) {
    point[axis] = tried;
    return costs_(axis, tried) < costs_(axis, own) && is_wanted(point);
  };
  if (option == own || is_better(option)) return;
  std::int32_t good = own;
  if (!space_.is_set(axis) && own != gap && option != gap)
    while (std::abs(good - option) > 1) {
      const std::int32_t tried = option + (good - option) / 2;
      (is_better(tried) ? good : option) = tried;
    }
  point[axis] = good;
}

// All demands of one alternative must be met: the cheapest alternative, by the dearest of its demands.
Bound Search::bound() {
  Bound cheapest;
  settled_.clear();
  for (std::vector<Demand>& alternative : judge_.alternatives()) {
    Bound dearest{-1, kInfinite, nullptr};
    for (Demand& demand : alternative) {
      const Bound found = bounds_.of(demand);
      if (judge_.alternatives().size() == 1 && demand.combined == nullptr && found.cost < kInfinite)
        note_settled(demand);
      if (found.cost > dearest.cost) dearest.cost = found.cost;
      if (found.lead < dearest.lead) {
        dearest.lead = found.lead;
        dearest.demand = found.demand;
      }
      if (dearest.cost == kInfinite) break;
    }
    if (std::tuple(-dearest.cost, dearest.lead) > std::tuple(-cheapest.cost, cheapest.lead)) cheapest = dearest;
  }
  return cheapest;
}

// Makes gains of what is near to the bound of a demand that has none of its own.
void Search::guide(Demand& demand, double cost) {
  demand.combined->lead(reach_, cost, demand.winner, demand.rival);
  demand.combined->weigh(reach_, leaves_, demand.winner, demand.rival, demand.gain);
  find_best(demand, cost);
  demand.needed = std::accumulate(best_.begin(), best_.end(), 0.0);
}

// The largest gain of each tree within a cost, its leaf, and the largest on either side of the open test.
void Search::find_best(const Demand& demand, double cost) {
  for (std::vector<double>* each : {&best_, &left_, &right_}) each->assign(forest_.n_trees(), -kInfinite);
  best_leaf_.assign(forest_.n_trees(), -1);
  for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree)
    for (const Reached& each : reach_.of_tree(tree)) {
      if (each.cost > cost) continue;
      const double gain = demand.gain[each.leaf];
      double& side = each.right ? right_[tree] : left_[tree];
      side = std::max(side, gain);
      if (gain > best_[tree]) {
        best_[tree] = gain;
        best_leaf_[tree] = each.leaf;
      }
    }
}

// Among the first open tests of the trees, the one that takes most on both sides: gains, as a share of what is still
// missing at the cheapest point, and cost, as a share of what the bound is above that point. On an axis with an order,
// a test also settles those of other trees: left of it those above, right of it those below.
Test Search::choose(const Bound& bound, double cost) {
  open_.clear();
  double missing = bound.demand->needed;
  for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) {
    missing -= bound.demand->gain[leaves_[tree]];
    const std::int32_t node = reach_.open[tree];
    if (node < 0) continue;
    // A side without a leaf that is cheap enough loses what the tree gains over the cheapest point, and a little more.
    const double best = best_[tree], all = best - std::min(bound.demand->gain[leaves_[tree]], best);
    auto loss = [&](double side) { return side == -kInfinite ? all + 0.1 * std::abs(best) : best - side; };
    open_.push_back({forest_.test(node), loss(left_[tree]), loss(right_[tree])});
  }
  missing = std::max(missing, 1e-9);
  const double above = std::max(bound.cost - cost, 1e-9 * std::max(bound.cost, 1e-9));
  std::sort(open_.begin(), open_.end(), [](const Open& a, const Open& b) {
    return std::tie(a.test.axis, a.test.place) < std::tie(b.test.axis, b.test.place);
  });
  Test best = open_.front().test;
  double best_score = -1;
  for (std::size_t begin = 0, end; begin < open_.size(); begin = end) {
    const Test& first = open_[begin].test;
    const bool one_place = space_.is_set(first.axis);
    double left = 0, right = 0;
    for (end = begin; end < open_.size() && open_[end].test.axis == first.axis &&
                      (!one_place || open_[end].test.place == first.place);
         ++end)
      left += open_[end].loss_left;
    for (std::size_t i = begin; i < end;) {
      const Test& test = open_[i].test;
      double passed = 0;
      for (; i < end && open_[i].test.place == test.place; ++i) {
        right += open_[i].loss_right;
        passed += open_[i].loss_left;
      }
      const double dearer_left = (std::min(walk_.cost_of_side(test, true), limit_) - cost) / above;
      const double dearer_right = (std::min(walk_.cost_of_side(test, false), limit_) - cost) / above;
      const double score = (kFloor + left / missing + std::min(dearer_left, 1e3)) *
                           (kFloor + right / missing + std::min(dearer_right, 1e3));
      if (score > best_score) {
        best_score = score;
        best = test;
      }
      left -= passed;
    }
  }
  return best;
}

// Notes on which side of the first open test of each tree a demand is not met, with the best leaves of all other trees.
void Search::note_settled(const Demand& demand) {
  bounds_.room(demand, left_, right_);
  for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree)
    if (reach_.open[tree] >= 0 && (left_[tree] < 0) != (right_[tree] < 0))
      settled_.emplace_back(forest_.test(reach_.open[tree]), right_[tree] < 0);
}

// Leaves the box the other sides only, all at once, in place of one box for each: whether that is less than before.
bool Search::settle(Box& box, bool& is_empty) {
  bool is_narrowed = false, left = false, right = false;
  for (const auto& [test, to_left] : settled_) {
    space_.sides(box, test, left, right);
    is_empty = is_empty || !(to_left ? left : right);
    if (is_empty || !(to_left ? right : left)) continue;
    space_.narrow(box, test, to_left);
    is_narrowed = true;
  }
  return is_narrowed;
}

// Looks for a point in as many of the best leaves as possible, those first that gain most.
void Search::dive(const Demand& demand, const Box& box, bool paid) {
  std::vector<std::pair<double, std::int32_t>> order;
  for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree)
    if (!paid && best_leaf_[tree] >= 0) order.emplace_back(demand.gain[leaves_[tree]] - best_[tree], best_leaf_[tree]);
  if (paid) bounds_.chosen(order);
  std::sort(order.begin(), order.end());
  narrowed_ = box;
  for (const auto& [loss, leaf] : order) forest_.narrow_to(narrowed_, leaf, scratch_);
  std::vector<std::int32_t> point;
  for (int axis = 0; axis < space_.n_axes(); ++axis) point.push_back(costs_.cheapest(narrowed_, axis));
  if (!(cost_of(point) < kInfinite)) return;
  if (is_wanted(point)) return take(std::move(point));
  if (query_.any) climb(demand, box, std::move(point));
}

// Moves a point along one axis after the other to where all leaves gain most together.
void Search::climb(const Demand& demand, const Box& box, std::vector<std::int32_t> point) {
  double most = -kInfinite;
  int unmoved = 0;  // axes in a row
  for (int step = 0; unmoved < space_.n_axes() && step < kMostSweeps * space_.n_axes(); ++step) {
    const int axis = step % space_.n_axes();
    ++unmoved;
    if (!space_.is_set(axis) && box.parts[axis].first == box.parts[axis].last && !box.parts[axis].missing) continue;
    forest_.gains_along(point, axis, demand.gain, sums_);
    std::int32_t best = point[axis];
    for (std::int32_t option = 0; option < space_.n_options(axis); ++option)
      if (sums_[option] > sums_[best] && space_.contains(box, axis, option) && costs_(axis, option) < kInfinite)
        best = option;
    if (best == point[axis] || !(sums_[best] > most)) continue;
    point[axis] = best;
    most = sums_[best];
    unmoved = 0;
    if (most >= demand.needed && is_wanted(point)) return take(std::move(point));
  }
}

std::optional<Candidate> Search::look_at(Box&& box, double known) {
  for (;;) {
    control_.check("question", -1, -1, answer_.n_boxes);
    ++answer_.n_boxes;
    if (query_.below >= 0) {
      Part &below = box.parts[query_.below], &above = box.parts[query_.above];
      below.last = std::min(below.last, above.last);
      above.first = std::max(above.first, below.first);
      below.missing = above.missing = false;
      if (below.is_empty() || above.is_empty()) return std::nullopt;
    }
    const double cost = walk_.enter(box, point_);
    if (!(cost < limit_) || !put_in_order(box)) return std::nullopt;
    if (is_wanted(point_)) {
      take(point_);
      return std::nullopt;
    }
    std::swap(leaves_, tried_);
    walk_.leaves(limit_, reach_);
    // One leaf per tree: all that is cheap enough has the class of the cheapest point.
    if (reach_.leaves.size() == forest_.n_trees()) return std::nullopt;
    bounds_.set(reach_, cost, known, limit_);
    const Bound found = bound();
    if (!(found.cost < limit_)) return std::nullopt;
    const double bound = std::max(cost, found.cost);
    bool is_empty = false;
    known = bound;
    const bool is_narrowed = settle(box, is_empty);
    if (is_empty) return std::nullopt;
    if (is_narrowed) continue;
    if (found.demand->combined != nullptr) guide(*found.demand, found.cost);
    find_best(*found.demand, found.cost);
    const Test test = choose(found, cost);
    if (answer_.n_boxes >= next_dive_) {
      next_dive_ = answer_.n_boxes + (query_.any || answer_.n_boxes >= kDiveFirst ? kDiveEvery : 1);
      dive(*found.demand, box, false);
      if (bounds_.adds_up()) dive(*found.demand, box, true);
    }
    if (!(bound < limit_)) return std::nullopt;
    return Candidate{bound, found.lead, answer_.n_boxes, test, std::move(box)};
  }
}

void Search::push(Candidate&& candidate) {
  heap_.push_back(std::move(candidate));
  std::push_heap(heap_.begin(), heap_.end());
}

// Splits a box, and if it plunges, the more promising of its halves, and so on, until one is closed.
void Search::split(Candidate candidate, bool plunge) {
  for (;;) {
    Box other = candidate.box;
    space_.narrow(candidate.box, candidate.test, true);
    space_.narrow(other, candidate.test, false);
    std::optional<Candidate> left = look_at(std::move(candidate.box), candidate.bound);
    if (is_done()) return;
    std::optional<Candidate> right = look_at(std::move(other), candidate.bound);
    if (is_done()) return;
    if (right && (!left || right->lead > left->lead)) std::swap(left, right);
    if (right) push(*std::move(right));
    if (!left) return;
    if (!plunge) return push(*std::move(left));
    candidate = *std::move(left);
  }
}

Answer Search::run() {
  const std::size_t bytes = space_.bytes_of_box() + sizeof(Candidate);
  try {
    if (!judge_.alternatives().empty())
      if (std::optional<Candidate> whole = look_at(space_.whole(), 0)) push(*std::move(whole));
    for (std::int64_t n_splits = 0; !heap_.empty() && !is_done(); ++n_splits) {
      if (!(heap_.front().bound < limit_)) break;
      answer_.lower_bound = heap_.front().bound;
      if (heap_.size() > control_.memory_limit / bytes) throw LimitReached("memory");
      std::pop_heap(heap_.begin(), heap_.end());
      Candidate candidate = std::move(heap_.back());
      heap_.pop_back();
      // Best first finds the cheapest point last: now and then it looks for some point in depth.
      split(std::move(candidate), answer_.point.empty() || n_splits % kPlungeEvery == 0);
    }
    answer_.outcome = answer_.point.empty() ? Outcome::none : Outcome::optimal;
    if (!is_done()) answer_.lower_bound = answer_.point.empty() ? kInfinite : answer_.cost;
  } catch (const LimitReached&) {
    answer_.outcome = Outcome::limit;
  }
  answer_.lower_bound = std::min(answer_.lower_bound, answer_.cost);
  // What does not count for the largest difference stays as it is in the end, where that is possible.
  if (query_.largest && !query_.any && !answer_.point.empty()) lower_all(answer_.point);
  return std::move(answer_);
}

}  // namespace

Answer nearest(Judge& judge, const Space& space, const Forest& forest, const Query& query, Control& control) {
  return Search(judge, space, forest, query, control).run();
}

}  // namespace onetree::question
