#include "proof/forest.hpp"

#include <algorithm>

namespace onetree::proof {

namespace {

enum : std::uint8_t { kGoesLeft = 1, kGoesRight = 2, kGoesBoth = 3 };

std::uint8_t as_bits(std::pair<bool, bool> sides) {
  return static_cast<std::uint8_t>((sides.first ? kGoesLeft : 0) | (sides.second ? kGoesRight : 0));
}

}  // namespace

Forest::Forest(const Model& model, const Axes& axes, int candidate)
    : model_(model),
      axes_(axes),
      candidate_(candidate),
      has_sums_(candidate == kNoCandidate || model.is_combined()),
      n_gains_(static_cast<std::size_t>(candidate >= model.n_classes ? 0
                                        : has_sums_                  ? 2 * model.n_outputs
                                                                     : model.n_classes - 1)),
      trees_of_(axes.size()) {
  for (int k = 0; candidate >= 0 && n_gains_ > 0 && k < model.n_classes; ++k)
    if (k != candidate) rivals_.push_back(k);
  for (int j = 0; j < axes.size(); ++j) ranges_.push_back(axes.whole(j));
  for (const std::int32_t root : model.roots) {
    const int tree = static_cast<int>(roots_.size());
    roots_.push_back(import(root));
    n_open_ += nodes_[roots_.back()].axis >= 0;
    for (int j = 0; j < axes.size(); ++j)
      if ((nodes_[roots_.back()].axes & bit(j)) != 0) trees_of_[j].push_back(tree);
  }
}

// Children first, so that their gains are known. Tests that are open are the only ones that can come to be at a root.
Forest::Id Forest::import(std::int32_t root) {
  std::vector<std::int32_t> order, todo{root};
  while (!todo.empty()) {
    const std::int32_t node = todo.back();
    todo.pop_back();
    order.push_back(node);
    if (model_.feature[node] >= 0) todo.insert(todo.end(), {model_.left[node], model_.right[node]});
  }
  std::vector<Id> done;  // subtrees whose parents are still to come, the right one on top of the left one
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    const int axis = model_.feature[*node];
    if (axis < 0) {
      done.push_back(add_leaf(*node));
      continue;
    }
    const Test test = axes_.test(axis, model_.threshold[*node], model_.missing_left[*node] != 0);
    const Id left = done[done.size() - 2], right = done.back();
    done.resize(done.size() - 2);
    const auto [to_left, to_right] = axes_.sides(ranges_[axis], test);  // only one where no input can go the other way
    done.push_back(!to_right ? left : !to_left ? right : add_split(axis, test.place, test.missing_left, left, right));
  }
  return done.back();
}

Forest::Id Forest::add_leaf(std::int32_t leaf) {
  const std::span<const double> value = model_.leaf_value(leaf);
  if (has_sums_) {
    for (std::size_t k = 0; k < n_gains_; ++k) gains_.push_back(k % 2 == 0 ? value[k / 2] : -value[k / 2]);
    nodes_.push_back({0, -1, leaf, -1, -1, false});
    return static_cast<Id>(nodes_.size()) - 1;
  }
  for (const int rival : rivals_) {
    if (model_.n_outputs == 1)
      gains_.push_back(candidate_ == 0 ? value[0] : -value[0]);
    else
      gains_.push_back(value[rival] - value[candidate_]);
  }
  nodes_.push_back({0, -1, leaf, -1, -1, false});
  return static_cast<Id>(nodes_.size()) - 1;
}

bool Forest::are_equal_leaves(Id a, Id b) const {
  if (nodes_[a].axis >= 0 || nodes_[b].axis >= 0) return false;
  const std::span<const double> value = model_.leaf_value(nodes_[a].place), other = model_.leaf_value(nodes_[b].place);
  return std::equal(value.begin(), value.end(), other.begin());
}

Forest::Id Forest::add_split(int axis, int place, bool missing_left, Id left, Id right) {
  if (are_equal_leaves(left, right)) return left;
  const std::size_t begin = gains_.size();
  gains_.resize(begin + n_gains_);
  const double *of_left = gains_.data() + left * n_gains_, *of_right = gains_.data() + right * n_gains_;
  for (std::size_t k = 0; k < n_gains_; ++k) gains_[begin + k] = std::max(of_left[k], of_right[k]);
  nodes_.push_back({nodes_[left].axes | nodes_[right].axes | bit(axis), axis, place, left, right, missing_left});
  return static_cast<Id>(nodes_.size()) - 1;
}

void Forest::set_root(int tree, Id root) {
  n_open_ += (nodes_[root].axis >= 0) - (nodes_[roots_[tree]].axis >= 0);
  roots_[tree] = root;
}

void Forest::narrow(int axis, const Range& range) {
  const Range& before = ranges_[axis];
  if (range == before) return;
  // Left of a test that numbers leave open, nothing is above it: a new upper end takes nothing away. Likewise on the
  // right.
  const bool all = axes_.is_set(axis) || before.missing;
  walk_left_ = all || range.first != before.first;
  walk_right_ = all || range.last != before.last;
  old_ranges_.push_back({axis, before});
  ranges_[axis] = range;
  sides_.resize(axes_.n_tests(axis));
  for (int test = 0; test < axes_.n_tests(axis); ++test)
    sides_[test] = as_bits(axes_.sides(range, {axis, test, false}));
  for (const int tree : trees_of_[axis]) {
    const Id root = restricted(roots_[tree], axis);
    if (root == roots_[tree]) continue;
    old_roots_.push_back({tree, roots_[tree]});
    set_root(tree, root);
  }
}

// Depth does not matter: the way back up is on a stack of our own.
Forest::Id Forest::restricted(Id id, int axis) {
  const std::uint64_t wanted = bit(axis);
  const bool is_set = axes_.is_set(axis);
  visits_.clear();
  for (;;) {
    // Down to the left, to where nothing changes.
    bool below = true;
    while (below && (nodes_[id].axes & wanted) != 0) {
      const Node& node = nodes_[id];
      if (node.axis == axis) {
        const std::uint8_t sides = is_set ? sides_[node.place] : as_bits(axes_.sides(ranges_[axis], test_of(node)));
        if (sides != kGoesBoth) {
          id = sides == kGoesLeft ? node.left : node.right;
          continue;
        }
        below = walk_left_;
      }
      visits_.push_back({id, -1});
      id = node.left;
    }
    // Up, until a right side has to be gone through.
    below = false;
    while (!below && !visits_.empty()) {
      Visit& visit = visits_.back();
      const Node node = nodes_[visit.node];
      if (visit.left < 0) {
        visit.left = id;
        id = node.right;
        below = node.axis != axis || walk_right_;
        if (below) break;
      }
      const Id left = visit.left, whole = visit.node;
      visits_.pop_back();
      if (left != node.left || id != node.right)
        id = add_split(node.axis, node.place, node.missing_left, left, id);
      else
        id = whole;
    }
    if (!below) return id;
  }
}

void Forest::undo(const Mark& mark) {
  for (; old_roots_.size() > mark.roots; old_roots_.pop_back())
    set_root(old_roots_.back().tree, old_roots_.back().root);
  for (; old_ranges_.size() > mark.ranges; old_ranges_.pop_back())
    ranges_[old_ranges_.back().axis] = std::move(old_ranges_.back().range);
  nodes_.resize(mark.nodes);
  gains_.resize(mark.nodes * n_gains_);
}

std::span<const std::int32_t> Forest::leaves() {
  leaves_.clear();
  for (const Id root : roots_) leaves_.push_back(nodes_[root].place);
  return leaves_;
}

void Forest::gains(std::size_t rival, std::vector<double>& gains) const {
  gains.resize(roots_.size());
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) gains[tree] = gains_[roots_[tree] * n_gains_ + rival];
}

void Forest::splits(std::size_t rival, std::vector<Split>& splits) const {
  splits.clear();
  for (const Id root : roots_) {
    const Node& node = nodes_[root];
    if (node.axis < 0) continue;
    auto gain = [&](Id id) { return gains_[id * n_gains_ + rival]; };
    splits.push_back({test_of(node), gain(root), gain(node.left), gain(node.right)});
  }
}

void Forest::sums(std::vector<double>& least, std::vector<double>& most) const {
  least.assign(model_.base.begin(), model_.base.end());
  most = least;
  for (const Id root : roots_) {
    const double* gain = gains_.data() + root * n_gains_;
    for (int k = 0; k < model_.n_outputs; ++k) {
      most[k] += gain[2 * k];
      least[k] -= gain[2 * k + 1];
    }
  }
}

void Forest::splits(std::span<const double> weights, std::vector<Split>& splits) const {
  splits.clear();
  for (const Id root : roots_) {
    const Node& node = nodes_[root];
    if (node.axis < 0) continue;
    auto open = [&](Id id) {
      double total = 0;
      for (std::size_t k = 0; k < weights.size(); ++k) total += weights[k] * gains_[id * n_gains_ + k];
      return total;
    };
    splits.push_back({test_of(node), open(root), open(node.left), open(node.right)});
  }
}

}  // namespace onetree::proof
