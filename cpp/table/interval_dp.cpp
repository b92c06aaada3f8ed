#include "table/interval_dp.hpp"

#include <algorithm>

namespace onetree {

namespace {

constexpr std::int64_t kNone = std::int64_t{1} << 40;  // no tree of that depth

std::size_t leaves_width(std::int64_t max_splits) {
  return max_splits < 255 ? 1 : max_splits < 65535 ? 2 : 4;
}

// A greedy tree is seldom twice as large as the best: the narrow word is tried first where it may do.
std::size_t packed_width(std::int64_t max_splits) {
  return max_splits < std::int64_t{2} << (16 - PackedBits<std::uint16_t>::kDepthBits) ? 2 : 4;
}

// Tells of a cut whether the values of the box and of its two sides fit together.
template <typename Fit>
auto values_of_sides(const IntervalTable& table, const GridParts& parts, const Box& box, const Fit& fit) {
  const IntervalTable::Trace trace = table.trace(box);
  return [&table, &parts, &box, fit, trace, value = table.at(trace.offset)](const Cut& cut) {
    const Interval& whole = box[cut.axis];
    return fit(value, table.at(table.offset(box, trace, cut.axis, parts.side(cut, whole, false))),
               table.at(table.offset(box, trace, cut.axis, parts.side(cut, whole, true))));
  };
}

}  // namespace

IntervalDp::IntervalDp(const Grid& grid, std::int64_t max_splits, Control& control)
    : grid_(grid), classes_(&grid), parts_(grid, control), max_splits_(max_splits), control_(control) {
  if (grid.has_sets() && *std::max_element(grid.classes.begin(), grid.classes.end()) > IntervalTable::kMostClasses - 1)
    throw GridTooLarge("it has too many classes for a table of boxes with sets");
}

IntervalDp::IntervalDp(const ScoreGrid& grid, std::int64_t max_splits, Control& control)
    : grid_(grid),
      scores_(&grid),
      ranks_(std::make_unique<ScoreRanks>(grid)),
      parts_(grid, control),
      max_splits_(std::max(max_splits, ranks_->fewest_leaves() - 1)),
      control_(control) {}

std::unique_ptr<IntervalTable> IntervalDp::table(Measure measure, std::size_t element_bytes) {
  if (classes_ != nullptr) return std::make_unique<IntervalTable>(*classes_, parts_, measure, element_bytes, control_);
  return std::make_unique<IntervalTable>(*scores_, *ranks_, parts_, measure, element_bytes, control_);
}

void IntervalDp::need_depth() {
  // A byte is enough: halving one axis after the other takes at most 64 levels in a grid of 2^32 cells. Sets cannot
  // always be halved.
  if (!depth_) depth_ = table(Measure::kDepth, 1);
  if ((*depth_)[parts_.whole()] == depth_->saturated()) throw GridTooLarge("its trees are too deep for the table");
  peak_bytes_ = std::max(peak_bytes_, depth_->bytes());
}

void IntervalDp::need_leaves() {
  std::size_t width = leaves_width(max_splits_);
  while (!leaves_ || (width < 4 && (*leaves_)[parts_.whole()] == leaves_->saturated())) {
    if (leaves_) width = 2 * leaves_->element_bytes();
    leaves_.reset();
    leaves_ = table(Measure::kLeaves, width);
    width = leaves_->element_bytes();  // ranks may need more
  }
  peak_bytes_ = std::max(peak_bytes_, leaves_->bytes());
}

void IntervalDp::need_leaves_depth(bool exact_depth) {
  // What the other table takes is not there for this one.
  const std::size_t taken = depth_ ? depth_->bytes() : 0;
  if (taken >= control_.memory_limit) throw LimitReached("memory");
  const std::size_t whole_limit = control_.memory_limit;
  control_.memory_limit -= taken;
  auto fill = [&](std::size_t width) {
    leaves_depth_.reset();
    try {
      leaves_depth_ = table(Measure::kLeavesDepth, width);
    } catch (...) {
      control_.memory_limit = whole_limit;
      throw;
    }
  };
  if (!leaves_depth_) fill(packed_width(max_splits_));
  const bool is_narrow = leaves_depth_->element_bytes() == 2;
  if (is_narrow && (!root_packed().splits_known || (exact_depth && !root_packed().depth_known))) fill(4);
  control_.memory_limit = whole_limit;
  if (exact_depth && !root_packed().depth_known) throw GridTooLarge("its trees are too deep for the table");
  peak_bytes_ = std::max(peak_bytes_, leaves_depth_->bytes() + taken);
}

IntervalDp::Packed IntervalDp::packed(std::size_t offset) const {
  return unpack(leaves_depth_->at(offset));
}

IntervalDp::Packed IntervalDp::unpack(std::uint32_t word) const {
  const int bits = leaves_depth_->element_bytes() == 2 ? PackedBits<std::uint16_t>::kDepthBits
                                                       : PackedBits<std::uint32_t>::kDepthBits;
  const std::uint32_t deepest = (1U << bits) - 1, most = leaves_depth_->saturated() >> bits;
  return {static_cast<std::int64_t>(word >> bits), static_cast<std::int64_t>(word & deepest), word >> bits != most,
          (word & deepest) != deepest};
}

IntervalDp::Packed IntervalDp::root_packed() const {
  return packed(leaves_depth_->trace(parts_.whole()).offset);
}

// Fewest splits of a tree for the box that is at most `max_depth` deep, if there is one with at most `budget`;
// otherwise a number above the budget that no such tree is below. The two tables settle most boxes at once: either the
// tree with fewest leaves is shallow enough, or no tree is, or even one more split is too many.
std::int64_t IntervalDp::fewest_splits(Box& box, std::int64_t max_depth, std::int64_t budget) {
  const IntervalTable::Trace depth_trace = depth_->trace(box);
  if (static_cast<std::int64_t>(depth_->at(depth_trace.offset)) > max_depth) return kNone;
  const IntervalTable::Trace trace = leaves_depth_->trace(box);
  const Packed here = packed(trace.offset);
  if (here.depth_known && here.depth <= max_depth) return here.splits;
  if (here.depth > max_depth && here.splits + 1 > budget) return here.splits + 1;
  const std::uint64_t key = static_cast<std::uint64_t>(trace.offset) << 8 |
                            static_cast<std::uint64_t>(std::min<std::int64_t>(max_depth, 255));
  if (const auto known = search_memo_.find(key); known != search_memo_.end())
    if (known->second.exact || known->second.splits > budget) return known->second.splits;
  if (n_searches_++ % 1024 == 0) control_.check("depth-leaves", -1, -1, states());

  struct Candidate {
    std::int64_t bound;
    Cut cut;
    std::int64_t side_bound[2];
  };
  std::vector<Candidate> candidates;
  for (int axis = 0; axis < grid_.n_axes(); ++axis)
    for (auto [position, end] = parts_.cuts(axis, box[axis]); position < end; ++position) {
      Candidate candidate{1, {axis, position}, {}};
      for (const int right : {0, 1}) {
        const Interval side = parts_.side(candidate.cut, box[axis], right != 0);
        if (static_cast<std::int64_t>(depth_->at(depth_->offset(box, depth_trace, axis, side))) > max_depth - 1) {
          candidate.bound = kNone;
          break;
        }
        const Packed best = packed(leaves_depth_->offset(box, trace, axis, side));
        candidate.side_bound[right] = best.splits + (best.depth > max_depth - 1 ? 1 : 0);
        candidate.bound += candidate.side_bound[right];
      }
      if (candidate.bound < kNone) candidates.push_back(candidate);
    }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
  std::int64_t enough = budget;  // what a candidate must not exceed to be of interest
  std::int64_t fewest = kNone;   // no candidate so far is below
  bool found = false;
  for (const Candidate& candidate : candidates) {
    if (candidate.bound > enough) {
      fewest = std::min(fewest, candidate.bound);
      break;
    }
    // What is known of both sides, then each of them in full while it can still matter.
    std::int64_t splits = candidate.bound;
    const int axis = candidate.cut.axis;
    const Interval kept = box[axis];
    for (const int right : {0, 1}) {
      if (splits > enough) break;
      box[axis] = parts_.side(candidate.cut, kept, right != 0);
      const std::int64_t known = candidate.side_bound[right];
      splits += fewest_splits(box, max_depth - 1, enough - splits + known) - known;
    }
    box[axis] = kept;
    fewest = std::min(fewest, splits);
    if (splits <= enough) {
      found = true;
      enough = splits - 1;
    }
  }
  search_memo_[key] = {fewest, found || fewest >= kNone};
  return fewest;
}

// Reads a tree back. A box whose value in `table` is 0 is a leaf. `open(box, depth)` gives a test that tells whether a
// cut of the box keeps the optimum at a node of that depth; of all cuts that do, the most balanced is taken, then the
// lower feature, then the lower threshold.
template <typename Open>
FlatTree IntervalDp::read_tree(const IntervalTable& table, const Open& open) {
  FlatTree tree;
  std::vector<std::size_t> cell_stride(grid_.n_axes());
  std::size_t step = 1;
  for (int axis = grid_.n_axes(); axis-- > 0; step *= grid_.axes[axis].n_slabs()) cell_stride[axis] = step;
  std::vector<int> by_feature(grid_.n_axes());
  for (int axis = 0; axis < grid_.n_axes(); ++axis) by_feature[axis] = axis;
  std::sort(by_feature.begin(), by_feature.end(),
            [&](int a, int b) { return grid_.axes[a].feature < grid_.axes[b].feature; });

  struct Preference {
    Cut cut;
    int difference, length;  // of the two sides, and of both together
    int rank;
  };
  std::vector<Preference> cuts;
  struct Task {
    Box box;
    int depth;
    std::int32_t parent;
    bool is_left;
  };
  std::vector<Task> tasks{{parts_.whole(), 0, -1, false}};
  while (!tasks.empty()) {
    Task task = std::move(tasks.back());
    tasks.pop_back();
    std::size_t corner = 0;
    for (int axis = 0; axis < grid_.n_axes(); ++axis)
      corner += parts_.first_slab(axis, task.box[axis]) * cell_stride[axis];
    Cut best{-1, 0};
    if (table[task.box] != 0) {
      cuts.clear();
      for (const int axis : by_feature) {
        const Interval& part = task.box[axis];
        const int size = parts_.size(axis, part);
        for (auto [position, end] = parts_.cuts(axis, part); position < end; ++position) {
          const Cut cut{axis, position};
          const int difference = std::abs(size - 2 * parts_.size(axis, parts_.side(cut, part, false)));
          cuts.push_back({cut, difference, size, static_cast<int>(cuts.size())});
        }
      }
      // No two are equal: what comes first among the cuts decides in the end, and sorting needs no memory.
      std::sort(cuts.begin(), cuts.end(), [](const Preference& a, const Preference& b) {
        const int here = a.difference * b.length, there = b.difference * a.length;
        return here != there ? here < there : a.rank < b.rank;
      });
      const auto is_best = open(task.box, task.depth);
      best = std::find_if(cuts.begin(), cuts.end(), [&](const Preference& each) { return is_best(each.cut); })->cut;
    }
    const std::int32_t node =
        best.axis < 0 ? tree.add_leaf(classes_ != nullptr ? classes_->classes[corner] : 0)
                      : tree.add_split(grid_.axes[best.axis].feature, parts_.threshold(best, task.box[best.axis]));
    if (task.parent >= 0) (task.is_left ? tree.left : tree.right)[task.parent] = node;
    if (best.axis < 0) continue;
    Task right = task;
    right.box[best.axis] = parts_.side(best, task.box[best.axis], true);
    task.box[best.axis] = parts_.side(best, task.box[best.axis], false);
    for (Task* child : {&right, &task}) {
      child->depth += 1;
      child->parent = node;
      child->is_left = child == &task;
    }
    tasks.push_back(std::move(right));
    tasks.push_back(std::move(task));
  }
  return tree;
}

Solution IntervalDp::depth_limited(std::int64_t max_depth) {
  Box box = parts_.whole();
  Solution solution;
  const std::int64_t splits = fewest_splits(box, max_depth, kNone);
  solution.tree = read_tree(*depth_, [&](Box& at, int depth) {
    return [this, &at, max_depth, depth, wanted = fewest_splits(at, max_depth - depth, kNone)](const Cut& cut) {
      std::int64_t found = 1;
      const Interval kept = at[cut.axis];
      for (const bool right : {false, true}) {
        at[cut.axis] = parts_.side(cut, kept, right);
        if (found <= wanted) found += fewest_splits(at, max_depth - depth - 1, wanted - found);
      }
      at[cut.axis] = kept;
      return found == wanted;
    };
  });
  solution.depth = solution.tree.depth();
  solution.leaves = solution.leaves_bound = splits + 1;
  return solution;
}

Solution IntervalDp::solve(Objective objective) {
  Solution solution;
  Box root = parts_.whole();
  switch (objective) {
    case Objective::kDepth: {
      need_depth();
      solution.tree = read_tree(*depth_, [&](Box& box, int) {
        return values_of_sides(*depth_, parts_, box, [](std::uint32_t value, std::uint32_t left, std::uint32_t right) {
          return std::max(left, right) + 1 == value;
        });
      });
      solution.depth_bound = (*depth_)[root];
      break;
    }
    case Objective::kLeaves: {
      need_leaves();
      solution.tree = read_tree(*leaves_, [&](Box& box, int) {
        return values_of_sides(*leaves_, parts_, box, [](std::uint32_t value, std::uint32_t left, std::uint32_t right) {
          return left + right + 1 == value;
        });
      });
      solution.leaves_bound = static_cast<std::int64_t>((*leaves_)[root]) + 1;
      break;
    }
    case Objective::kLeavesDepth: {
      need_leaves_depth(true);
      solution.tree = read_tree(*leaves_depth_, [&](Box& box, int) {
        return values_of_sides(
            *leaves_depth_, parts_, box, [&](std::uint32_t value, std::uint32_t left, std::uint32_t right) {
              const Packed whole = unpack(value), a = unpack(left), b = unpack(right);
              return a.splits + b.splits + 1 == whole.splits && std::max(a.depth, b.depth) + 1 == whole.depth;
            });
      });
      solution.leaves_bound = root_packed().splits + 1;
      solution.depth_bound = root_packed().depth;
      break;
    }
    case Objective::kDepthLeaves: {
      need_depth();
      need_leaves_depth(false);
      const std::int64_t depth = (*depth_)[root];
      solution = depth_limited(depth);
      solution.depth_bound = depth;
      break;
    }
  }
  solution.depth = solution.tree.depth();
  solution.leaves = solution.tree.n_leaves();
  solution.optimal = true;
  return solution;
}

void IntervalDp::pareto_front(std::vector<Solution>& front) {
  need_depth();
  need_leaves_depth(true);
  Box root = parts_.whole();
  const Packed last = root_packed();
  std::int64_t fewest = kNone;
  for (std::int64_t depth = (*depth_)[root]; depth <= last.depth; ++depth) {
    const std::int64_t splits = fewest_splits(root, depth, fewest - 1);
    if (splits >= fewest) continue;
    fewest = splits;
    Solution solution = depth_limited(depth);
    solution.depth_bound = solution.depth;
    solution.optimal = true;
    front.push_back(std::move(solution));
  }
}

}  // namespace onetree
