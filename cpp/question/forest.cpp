#include "question/forest.hpp"

#include <algorithm>
#include <numeric>

namespace onetree::question {

Forest::Forest(const Ensemble& ensemble, const Space& space)
    : space_(space), nodes_(ensemble.feature.size()), parent_(ensemble.feature.size(), -1), roots_(ensemble.roots) {
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const std::int32_t axis = ensemble.feature[node];
    nodes_[node] = {{axis, 0, false}, false, -1, -1};
    if (axis < 0) continue;
    nodes_[node] = {{axis, static_cast<std::int32_t>(ensemble.threshold[node]), ensemble.missing_left[node] != 0},
                    !space.is_set(axis) && !space.has_missing(axis),
                    ensemble.left[node],
                    ensemble.right[node]};
    parent_[ensemble.left[node]] = parent_[ensemble.right[node]] = static_cast<std::int32_t>(node);
  }
}

void Forest::leaves_at(std::span<const std::int32_t> point, std::vector<std::int32_t>& leaves) const {
  leaves.clear();
  for (std::int32_t node : roots_) {
    while (nodes_[node].test.axis >= 0) {
      const Node& here = nodes_[node];
      const std::int32_t option = point[here.test.axis];
      const bool left = here.is_plain ? option <= here.test.place : space_.goes_left(here.test, option);
      node = left ? here.left : here.right;
    }
    leaves.push_back(node);
  }
}

void Forest::gains_along(std::span<const std::int32_t> point, int axis, std::span<const double> gain,
                         std::vector<double>& sums) const {
  struct Part {  // of the options, that come to a node
    std::int32_t node, first, last;
  };
  std::vector<Part> todo;
  const std::int32_t n_options = space_.n_options(axis);
  sums.assign(static_cast<std::size_t>(n_options) + 1, 0);
  // Where options have an order, each entry says by how much more this option gains than the one before it.
  const bool has_order = !space_.is_set(axis) && !space_.has_missing(axis);
  for (const std::int32_t root : roots_) {
    if (has_order)
      todo.push_back({root, 0, n_options - 1});
    else
      for (std::int32_t option = 0; option < n_options; ++option) todo.push_back({root, option, option});
    while (!todo.empty()) {
      auto [node, first, last] = todo.back();
      todo.pop_back();
      while (nodes_[node].test.axis >= 0) {
        const Node& here = nodes_[node];
        if (has_order && here.test.axis == axis && first <= here.test.place && here.test.place < last) {
          todo.push_back({here.right, here.test.place + 1, last});
          last = here.test.place;
        }
        const std::int32_t option = here.test.axis == axis ? first : point[here.test.axis];
        const bool left = here.is_plain ? option <= here.test.place : space_.goes_left(here.test, option);
        node = left ? here.left : here.right;
      }
      sums[first] += gain[node];
      if (has_order) sums[last + 1] -= gain[node];
    }
  }
  if (has_order) std::partial_sum(sums.begin(), sums.end(), sums.begin());
  sums.pop_back();
}

bool Forest::narrow_to(Box& box, std::int32_t leaf, Box& scratch) const {
  bool left = false, right = false;
  scratch = box;
  for (std::int32_t below = leaf, node = parent_[leaf]; node >= 0; below = node, node = parent_[node]) {
    const bool to_left = nodes_[node].left == below;
    space_.sides(scratch, nodes_[node].test, left, right);
    if (!(to_left ? left : right)) return false;
    space_.narrow(scratch, nodes_[node].test, to_left);
  }
  std::swap(box, scratch);
  return true;
}

double Walk::enter(const Box& box, std::vector<std::int32_t>& point) {
  box_ = box;
  total_ = 0;
  point.clear();
  for (int axis = 0; axis < space_.n_axes(); ++axis) {
    point.push_back(costs_.cheapest(box_, axis));
    cost_of_[axis] = costs_(axis, point.back());
    total_ = largest_ ? std::max(total_, cost_of_[axis]) : total_ + cost_of_[axis];
  }
  least_ = cost_of_;
  return total_;
}

void Walk::save(Frame& frame, const Test& test) {
  frame.part = box_.parts[test.axis];
  frame.bits = saved_.size();
  const std::size_t first = space_.first_word(test.axis);
  for (std::size_t word = 0; word < space_.n_words(test.axis); ++word) saved_.push_back(box_.bits[first + word]);
}

void Walk::restore(const Frame& frame, const Test& test) {
  box_.parts[test.axis] = frame.part;
  const std::size_t first = space_.first_word(test.axis);
  for (std::size_t word = 0; word < space_.n_words(test.axis); ++word)
    box_.bits[first + word] = saved_[frame.bits + word];
}

double Walk::narrow(const Test& test, bool left, double both) {
  if (!is_plain(test.axis)) {
    space_.narrow(box_, test, left);
    return costs_(test.axis, costs_.cheapest(box_, test.axis));
  }
  Part& part = box_.parts[test.axis];
  (left ? part.last : part.first) = left ? test.place : test.place + 1;  // both sides hold something
  return cost_of_plain(test, left, both);
}

double Walk::cost_of_side(const Test& test, bool left) {
  const double both = cost_of_[test.axis];
  if (is_plain(test.axis)) return combined(total_, both, cost_of_plain(test, left, both));
  Frame frame{};
  save(frame, test);
  const double after = narrow(test, left, both);
  restore(frame, test);
  saved_.resize(frame.bits);
  return combined(total_, both, after);
}

void Walk::leaves(double limit, Reach& reach) {
  reach.leaves.clear();
  reach.extras.clear();
  reach.first.assign(1, 0);
  reach.open.assign(forest_.n_trees(), -1);
  bool left = false, right = false;
  for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) {
    std::int32_t node = forest_.roots_[tree];
    double total = total_;
    bool is_right = false;  // of the first open test
    // Enters one side of the test of a frame; false if every point there costs too much.
    auto enter_side = [&](Frame& frame, bool to_left) {
      const Forest::Node& here = forest_.nodes_[frame.node];
      const int axis = here.test.axis;
      frame.on_right = !to_left;
      cost_of_[axis] = narrow(here.test, to_left, frame.cost);
      total = combined(frame.total, frame.cost, cost_of_[axis]);
      frame.is_dearer = !largest_ && frame.cost == least_[axis] && cost_of_[axis] > frame.cost;
      if (frame.is_dearer) dearer_.push_back(axis);
      node = to_left ? here.left : here.right;
      if (frames_.size() == 1) is_right = !to_left;
      return total < limit;
    };
    for (;;) {
      bool alive = true;
      while (alive && forest_.nodes_[node].test.axis >= 0) {
        const Forest::Node& here = forest_.nodes_[node];
        const int axis = here.test.axis;
        if (is_plain(axis)) {
          left = box_.parts[axis].first <= here.test.place;
          right = box_.parts[axis].last > here.test.place;
        } else {
          space_.sides(box_, here.test, left, right);
        }
        if (left != right) {
          node = left ? here.left : here.right;
          continue;
        }
        if (frames_.empty()) reach.open[tree] = node;
        Frame& frame = frames_.emplace_back(Frame{node, false, false, total, cost_of_[axis], {}, 0});
        save(frame, here.test);
        alive = enter_side(frame, true);
      }
      if (alive) {
        for (const std::int32_t axis : dearer_) reach.extras.push_back({axis, cost_of_[axis] - least_[axis]});
        reach.leaves.push_back({total, node, is_right, static_cast<std::uint32_t>(reach.extras.size())});
      }
      alive = false;
      while (!alive && !frames_.empty()) {
        Frame& frame = frames_.back();
        const Test test = forest_.nodes_[frame.node].test;
        restore(frame, test);
        cost_of_[test.axis] = frame.cost;
        if (frame.is_dearer) dearer_.pop_back();
        if (!frame.on_right) {
          alive = enter_side(frame, false);
        } else {
          saved_.resize(frame.bits);
          frames_.pop_back();
        }
      }
      if (!alive) break;
    }
    reach.first.push_back(static_cast<std::uint32_t>(reach.leaves.size()));
  }
}

}  // namespace onetree::question
