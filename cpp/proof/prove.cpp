#include "proof/prove.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "proof/box.hpp"
#include "proof/choice.hpp"
#include "proof/combined.hpp"
#include "proof/forest.hpp"
#include "proof/scores.hpp"

namespace onetree::proof {

namespace {

enum class Answer { proven, refuted, unknown };

// Proofs for boxes in which one and the same class, the candidate, is expected.
class ClassProver {
 public:
  ClassProver(const Model& model, const Axes& axes, int candidate, Counts& counts, Control& control)
      : model_(model),
        axes_(axes),
        candidate_(candidate),
        scores_(model),
        combined_(model),
        forest_(model, axes, candidate),
        counts_(counts),
        control_(control) {}

  Forest& forest() { return forest_; }
  // Branch and bound over the forest's box. If it is refuted, the forest's box becomes a part of it where the class is
  // another one everywhere.
  Answer prove(std::int64_t max_nodes);
  // Walks down the whole tree to the leaves of this class; false at a counterexample, which is in the forest's box.
  bool prove(const Tree& tree);
  // An input of the forest's box.
  void append_point(std::vector<double>& point) const;

 private:
  struct Branch {  // a part of the box that is still to be looked at
    Forest::Mark mark;
    int axis;
    Range range;
    std::int32_t node;  // of the tree that is walked down
  };

  int strongest_rival();
  int strongest_combined();
  int class_of_leaves() {
    return model_.is_combined() ? combined_.decide(forest_.leaves()) : scores_.decide(forest_.leaves());
  }
  Branch choose(std::size_t rival);
  void enter(const Branch& branch);
  std::vector<std::uint8_t> leads_to_candidate(const Tree& tree) const;

  const Model& model_;
  const Axes& axes_;
  const int candidate_;
  Scores scores_;
  Combined combined_;
  Forest forest_;
  Counts& counts_;
  Control& control_;
  double lead_ = 0;  // of the strongest rival
  std::vector<double> gains_, least_, most_, leads_, weights_;
  std::vector<Forest::Split> splits_;
  std::vector<Branch> branches_, sides_;
};

// The number of the rival that bounds leave the largest lead, or -1 if they exclude all.
int ClassProver::strongest_rival() {
  if (model_.is_combined()) return strongest_combined();
  int strongest = -1;
  for (std::size_t number = 0; number < forest_.rivals().size(); ++number) {
    forest_.gains(number, gains_);
    const int rival = forest_.rivals()[number];
    double lead = 0;
    for (const double gain : gains_) lead += gain;
    if (model_.n_outputs == 1) {
      const double above = model_.base[0] - model_.rule.cut * model_.rule.divisor;
      lead += candidate_ == 0 ? above : -above;
      if (candidate_ == 1)
        for (double& gain : gains_) gain = -gain;
      if (scores_.decides(gains_, candidate_)) continue;
    } else {
      lead += model_.base[rival] - model_.base[candidate_];
      if (scores_.is_beaten(lead, rival, candidate_)) continue;
    }
    if (strongest < 0 || lead > lead_) {
      strongest = static_cast<int>(number);
      lead_ = lead;
    }
  }
  return strongest;
}

int ClassProver::strongest_combined() {
  forest_.sums(least_, most_);
  combined_.leads(least_, most_, candidate_, leads_);
  int strongest = -1;
  for (std::size_t number = 0; number < forest_.rivals().size(); ++number) {
    const double lead = leads_[forest_.rivals()[number]];
    if (lead < 0 || (strongest >= 0 && lead <= lead_)) continue;
    strongest = static_cast<int>(number);
    lead_ = lead;
  }
  return strongest;
}

ClassProver::Branch ClassProver::choose(std::size_t rival) {
  if (model_.is_combined()) {
    combined_.weigh(least_, most_, candidate_, forest_.rivals()[rival], weights_);
    forest_.splits(weights_, splits_);
  } else {
    forest_.splits(rival, splits_);
  }
  const double needed = model_.is_combined() ? 0 : scores_.needed();
  const Choice best = best_split(splits_, axes_, std::max(lead_ - needed, 0.0));
  // The side where the rival keeps more is looked at first: it may hold a counterexample.
  auto [below, above] = axes_.parts(forest_.ranges()[best.test.axis], best.test);
  const Forest::Mark mark = forest_.mark();
  Branch first{mark, best.test.axis, std::move(below), -1}, second{mark, best.test.axis, std::move(above), -1};
  if (best.left > best.right) std::swap(first, second);
  branches_.push_back(std::move(second));
  return first;
}

void ClassProver::enter(const Branch& branch) {
  forest_.undo(branch.mark);
  forest_.narrow(branch.axis, branch.range);
}

Answer ClassProver::prove(std::int64_t max_nodes) {
  ++counts_.boxes;
  if (candidate_ >= model_.n_classes) return Answer::refuted;
  branches_.clear();
  for (std::int64_t n_nodes = 0;; ++n_nodes) {
    if (n_nodes == max_nodes) return Answer::unknown;
    control_.check("proof", -1, -1, counts_.boxes - 1);
    ++counts_.nodes;
    const int rival = strongest_rival();
    if (rival >= 0 && !forest_.is_constant()) {
      enter(choose(static_cast<std::size_t>(rival)));
      continue;
    }
    if (rival >= 0) {
      if (class_of_leaves() != candidate_) return Answer::refuted;
      ++counts_.fragile;
    }
    if (branches_.empty()) return Answer::proven;
    enter(branches_.back());
    branches_.pop_back();
  }
}

std::vector<std::uint8_t> ClassProver::leads_to_candidate(const Tree& tree) const {
  std::vector<std::uint8_t> leads(tree.feature.size());
  for (std::size_t node = leads.size(); node-- > 0;)
    leads[node] = tree.feature[node] < 0 ? tree.class_index[node] == candidate_
                                         : leads[tree.left[node]] || leads[tree.right[node]];
  return leads;
}

bool ClassProver::prove(const Tree& tree) {
  const std::vector<std::uint8_t> wanted = leads_to_candidate(tree);
  sides_.clear();
  for (std::int32_t node = 0;;) {
    while (node >= 0 && tree.feature[node] >= 0) {
      const int axis = tree.feature[node];
      const std::int32_t left = tree.left[node], right = tree.right[node];
      auto parts = axes_.parts(forest_.ranges()[axis], axes_.test(axis, tree.threshold[node], false));
      const bool to_left = wanted[left] && !axes_.is_empty(axis, parts.first);
      const bool to_right = wanted[right] && !axes_.is_empty(axis, parts.second);
      const Forest::Mark mark = forest_.mark();
      if (to_left && to_right) sides_.push_back({mark, axis, std::move(parts.second), right});
      if (to_left)
        forest_.narrow(axis, parts.first);
      else if (to_right)
        forest_.narrow(axis, parts.second);
      node = to_left ? left : to_right ? right : -1;
    }
    if (node >= 0 && wanted[node] && prove(kNoBudget) != Answer::proven) return false;
    if (sides_.empty()) return true;
    enter(sides_.back());
    node = sides_.back().node;
    sides_.pop_back();
  }
}

void ClassProver::append_point(std::vector<double>& point) const {
  for (int axis = 0; axis < axes_.size(); ++axis) point.push_back(axes_.input(axis, forest_.ranges()[axis]));
}

// The class of one input, walking the plain arrays.
int class_of(const Model& model, std::span<const double> point, Scores& scores, Combined& combined) {
  std::vector<std::int32_t> leaves;
  for (std::int32_t node : model.roots) {
    while (model.feature[node] >= 0) {
      const double x = point[model.feature[node]];
      const bool left = std::isnan(x) ? model.missing_left[node] != 0 : x <= model.threshold[node];
      node = left ? model.left[node] : model.right[node];
    }
    leaves.push_back(node);
  }
  return model.is_combined() ? combined.decide(leaves) : scores.decide(leaves);
}

}  // namespace

TreeVerdict prove_tree(const Model& model, const Tree& tree, Control& control) {
  std::vector<std::vector<double>> cuts(model.n_features());
  std::vector<std::int32_t> classes;
  for (std::size_t node = 0; node < tree.feature.size(); ++node) {
    if (tree.feature[node] < 0)
      classes.push_back(tree.class_index[node]);
    else if (!model.is_set(tree.feature[node]))
      cuts[tree.feature[node]].push_back(tree.threshold[node]);
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  const Axes axes(model, cuts);
  TreeVerdict verdict;
  for (const std::int32_t candidate : classes) {
    ClassProver prover(model, axes, candidate, verdict.counts, control);
    if (prover.prove(tree)) continue;
    prover.append_point(verdict.point);
    break;
  }
  return verdict;
}

BoxVerdicts prove_boxes(const Model& model, const Boxes& boxes, std::int64_t max_nodes, Control& control) {
  const int n_features = model.n_features();
  auto bounds = [&](std::size_t box, int j) {
    const std::size_t at = box * n_features + j;
    return std::pair(boxes.lower[at], boxes.upper[at]);
  };
  std::vector<std::vector<double>> cuts(n_features);
  for (std::size_t box = 0; box < boxes.n_boxes; ++box)
    for (int j = 0; j < n_features; ++j)
      for (const double bound : {bounds(box, j).first, bounds(box, j).second})
        if (std::isfinite(bound)) cuts[j].push_back(bound);
  const Axes axes(model, cuts);
  Scores scores(model);
  Combined combined(model);

  // Boxes of one class are proven one after the other, since the forest is one for each class.
  std::vector<std::pair<int, std::size_t>> order;
  std::vector<double> point(n_features);
  for (std::size_t box = 0; box < boxes.n_boxes; ++box) {
    bool is_empty = false;
    for (int j = 0; j < n_features; ++j) {
      const auto [lower, upper] = bounds(box, j);
      const Range range = axes.between(j, lower, upper);
      is_empty = is_empty || axes.is_empty(j, range);
      if (!is_empty) point[j] = axes.input(j, range);
    }
    if (is_empty) continue;
    const int expected = boxes.class_index[box];
    order.emplace_back(expected < 0 ? class_of(model, point, scores, combined) : expected, box);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

  BoxVerdicts verdicts;
  verdicts.holds.assign(boxes.n_boxes, 1);
  std::vector<std::vector<double>> points(boxes.n_boxes);
  for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
    const int candidate = order[begin].first;
    ClassProver prover(model, axes, candidate, verdicts.counts, control);
    const Forest::Mark mark = prover.forest().mark();
    for (end = begin; end < order.size() && order[end].first == candidate; ++end) {
      const std::size_t box = order[end].second;
      prover.forest().undo(mark);
      for (int j = 0; j < n_features; ++j)
        prover.forest().narrow(j, axes.between(j, bounds(box, j).first, bounds(box, j).second));
      const Answer answer = prover.prove(max_nodes);
      verdicts.holds[box] = answer == Answer::proven;
      if (answer == Answer::refuted) prover.append_point(points[box]);
    }
  }
  for (const std::vector<double>& each : points)
    verdicts.points.insert(verdicts.points.end(), each.begin(), each.end());
  return verdicts;
}

}  // namespace onetree::proof
