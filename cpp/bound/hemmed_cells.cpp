#include "bound/hemmed_cells.hpp"

#include <algorithm>
#include <bit>

#include "base/interner.hpp"

namespace onetree {

namespace {

constexpr int kWholeAxis = 1 << 16;  // in units of reach
constexpr int kMostDescents = 20;

int below(std::uint64_t& random, int n) {
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return static_cast<int>((random >> 33) * static_cast<std::uint64_t>(n) >> 31);
}

template <typename Use>
void for_each_bit(std::uint64_t bits, const Use& use) {
  for (; bits != 0; bits &= bits - 1) use(std::countr_zero(bits));
}

}  // namespace

HemmedCells::HemmedCells(const SlabTree& tree)
    : tree_(tree), walks_(tree.depth() + 1), drawn_(tree.n_axes()), gain_(kTogether) {
  for (int axis = 0; axis < tree.n_axes(); ++axis) {
    const SlabAxis& of = tree.axis(axis);
    weight_.push_back(std::max(1, kWholeAxis / of.n_slabs));
    first_test_.push_back(passing_.size());
    passing_.resize(passing_.size() + (of.set >= 0 ? of.inside.size() : static_cast<std::size_t>(of.n_slabs)));
    drawn_[axis].resize(kTogether);
  }
}

void HemmedCells::find(std::uint32_t leaf, HemmedCell& found) {
  find_path(leaf);
  std::uint64_t random = mix(1, leaf) | 1;
  found.at = low_;
  for (int axis = 0; axis < tree_.n_axes(); ++axis)
    if (tree_.axis(axis).set >= 0) found.at[axis] = static_cast<Slab>(std::countr_zero(values_[tree_.axis(axis).set]));
  if (!wide_.empty()) {
    put_all_at(found.at);
    const Mask drawn = draw(random);
    judge(drawn);
    const int first = best_of(drawn);
    for (const int axis : wide_) found.at[axis] = drawn_[axis][first];
    for (int best = gain_[first], descent = 0; descent < kMostDescents; ++descent) {
      const Mask varied = vary(found.at, random);
      judge(varied);
      const int next = best_of(varied);
      if (gain_[next] <= best) break;
      best = gain_[next];
      found.at[changes_[next].axis] = changes_[next].to;
    }
  }
  put_all_at(found.at);
  measure(found);
}

void HemmedCells::find_path(std::uint32_t leaf) {
  path_.clear();
  low_.assign(tree_.low().begin(), tree_.low().end());
  high_.assign(tree_.high().begin(), tree_.high().end());
  std::uint32_t node = tree_.leaf(leaf);
  class_ = tree_[node].test;
  while (node != tree_.parent(node)) {
    const std::uint32_t parent = tree_.parent(node);
    const SlabTree::Node& at = tree_[parent];
    const bool left = node == parent + 1;
    path_.push_back({left ? at.right : parent + 1, at.axis, at.test, left, 0});
    if (tree_.axis(at.axis).set < 0) {
      if (left)
        high_[at.axis] = std::min(high_[at.axis], at.test);
      else
        low_[at.axis] = std::max(low_[at.axis], static_cast<Slab>(at.test + 1));
    }
    node = parent;
  }
  values_.assign(tree_.values_of(leaf), tree_.values_of(leaf) + tree_.n_sets());
  if (tree_.n_sets() > 0) {
    std::vector<Values> left_over(tree_.root_values().begin(), tree_.root_values().end());
    for (std::size_t i = path_.size(); i-- > 0;) {
      Step& step = path_[i];
      const SlabAxis& axis = tree_.axis(step.axis);
      if (axis.set < 0) continue;
      const Values stay = step.left ? axis.inside[step.test] : ~axis.inside[step.test];
      step.values = left_over[axis.set] & ~stay;
      left_over[axis.set] &= stay;
    }
  }
  wide_.clear();
  for (int axis = 0; axis < tree_.n_axes(); ++axis) {
    const int set = tree_.axis(axis).set;
    if (set >= 0 ? std::popcount(values_[set]) > 1 : low_[axis] < high_[axis]) wide_.push_back(axis);
  }
}

void HemmedCells::put_all_at(const std::vector<Slab>& cell) {
  for (int axis = 0; axis < tree_.n_axes(); ++axis) {
    const SlabAxis& of = tree_.axis(axis);
    Mask* const passing = passing_.data() + first_test_[axis];
    if (of.set >= 0)
      for (std::size_t test = 0; test < of.inside.size(); ++test)
        passing[test] = (of.inside[test] >> cell[axis] & 1) != 0 ? ~Mask{0} : 0;
    else
      for (int test = 0; test < of.n_slabs; ++test) passing[test] = test >= cell[axis] ? ~Mask{0} : 0;
  }
}

// Random cells of the leaf. All must have been put at one of its cells.
HemmedCells::Mask HemmedCells::draw(std::uint64_t& random) {
  for (const int axis : wide_) {
    const SlabAxis& of = tree_.axis(axis);
    Mask* const passing = passing_.data() + first_test_[axis];
    std::vector<Slab>& drawn = drawn_[axis];
    if (of.set >= 0) {
      std::vector<Slab> choice;
      for_each_bit(values_[of.set], [&](int value) { choice.push_back(static_cast<Slab>(value)); });
      for (Slab& value : drawn) value = choice[below(random, static_cast<int>(choice.size()))];
      for (std::size_t test = 0; test < of.inside.size(); ++test) {
        passing[test] = 0;
        for (int cell = 0; cell < kTogether; ++cell) passing[test] |= (of.inside[test] >> drawn[cell] & 1) << cell;
      }
    } else {
      std::fill(passing + low_[axis], passing + high_[axis] + 1, 0);
      for (int cell = 0; cell < kTogether; ++cell) {
        drawn[cell] = static_cast<Slab>(low_[axis] + below(random, high_[axis] - low_[axis] + 1));
        passing[drawn[cell]] |= Mask{1} << cell;
      }
      for (int slab = low_[axis]; slab < high_[axis]; ++slab) passing[slab + 1] |= passing[slab];
    }
  }
  return ~Mask{0};
}

// All cells of the leaf that differ from one of them on a single axis, or as many of them as can be judged at once.
HemmedCells::Mask HemmedCells::vary(const std::vector<Slab>& cell, std::uint64_t& random) {
  changes_.clear();
  for (const int axis : wide_) {
    const int set = tree_.axis(axis).set;
    const auto add = [&](int to) {
      if (to != cell[axis]) changes_.push_back({axis, static_cast<Slab>(to)});
    };
    if (set >= 0)
      for_each_bit(values_[set], add);
    else
      for (int slab = low_[axis]; slab <= high_[axis]; ++slab) add(slab);
  }
  if (changes_.size() > kTogether) {
    for (int i = 0; i < kTogether; ++i)
      std::swap(changes_[i], changes_[i + below(random, static_cast<int>(changes_.size()) - i)]);
    changes_.resize(kTogether);
  }
  put_all_at(cell);
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const auto [axis, to] = changes_[i];
    const SlabAxis& of = tree_.axis(axis);
    Mask* const passing = passing_.data() + first_test_[axis];
    const Mask bit = Mask{1} << i;
    if (of.set >= 0) {
      for (std::size_t test = 0; test < of.inside.size(); ++test)
        passing[test] = (of.inside[test] >> to & 1) != 0 ? passing[test] | bit : passing[test] & ~bit;
    } else {
      for (int slab = to; slab < cell[axis]; ++slab) passing[slab] |= bit;
      for (int slab = cell[axis]; slab < to; ++slab) passing[slab] &= ~bit;
    }
  }
  return ~Mask{0} >> (kTogether - changes_.size());
}

// Calls hit(step, slab, cells) where a ray meets another class. On an axis with an order, the rays of these cells end
// there.
template <typename Hit>
void HemmedCells::send_rays(Mask cells, const Hit& hit) {
  const SlabTree::Node* const nodes =
      &tree_[0];  // by pointer: the compiler cannot know that vectors stay where they are
  const Mask* const passing = passing_.data();
  const std::size_t* const first_test = first_test_.data();
  up_.assign(tree_.n_axes(), cells);
  down_.assign(tree_.n_axes(), cells);
  for (const Step& step : path_) {  // the nearest part of each ray comes first
    const int axis = step.axis;
    const SlabAxis& of = tree_.axis(axis);
    const bool is_set = of.set >= 0;
    const auto send = [&](int from, Mask& going) {
      Walk* top = walks_.data();  // each node leaves at most one walk behind
      *top++ = {step.away, from, going};
      while (top != walks_.data()) {
        const Walk walk = *--top;
        Mask here = walk.cells & going;
        if (here == 0) continue;
        std::uint32_t at = walk.node;
        SlabTree::Node node = nodes[at];
        for (; node.axis != SlabTree::kLeaf; node = nodes[at]) {
          if (node.axis != axis) {
            const Mask left = here & passing[first_test[node.axis] + node.test];
            if (left != 0 && left != here) *top++ = {node.right, walk.from, here & ~left};
            here = left != 0 ? left : here;
            at = left != 0 ? at + 1 : node.right;
          } else if (is_set) {
            at = (of.inside[node.test] >> from & 1) != 0 ? at + 1 : node.right;
          } else if (step.left) {  // upwards, so the left side is the nearer
            *top++ = {node.right, node.test + 1, here};
            ++at;
          } else {
            *top++ = {at + 1, node.test, here};
            at = node.right;
          }
        }
        if (node.test == class_) continue;
        going &= ~here;
        hit(step, walk.from, here);
      }
    };
    if (is_set) {
      for_each_bit(step.values, [&](int value) {
        Mask going = cells;
        send(value, going);
      });
    } else if (step.left && up_[axis] != 0) {
      send(step.test + 1, up_[axis]);
    } else if (!step.left && down_[axis] != 0) {
      send(step.test, down_[axis]);
    }
  }
}

void HemmedCells::judge(Mask cells) {
  std::fill(gain_.begin(), gain_.end(), 0);
  send_rays(cells, [&](const Step& step, int slab, Mask here) {
    const bool is_set = tree_.axis(step.axis).set >= 0;
    const int n_lost = is_set ? 1 : step.left ? tree_.high()[step.axis] + 1 - slab : slab + 1 - tree_.low()[step.axis];
    const int gain = n_lost * weight_[step.axis];
    for_each_bit(here, [&](int cell) { gain_[cell] += gain; });
  });
}

int HemmedCells::best_of(Mask cells) const {
  return static_cast<int>(std::max_element(gain_.begin(), gain_.begin() + std::bit_width(cells)) - gain_.begin());
}

// All must have been put at the cell.
void HemmedCells::measure(HemmedCell& cell) {
  cell.low.assign(tree_.low().begin(), tree_.low().end());
  cell.high.assign(tree_.high().begin(), tree_.high().end());
  std::vector<Values> differing(tree_.n_sets(), 0);
  cell.blocked = 0;
  send_rays(1, [&](const Step& step, int slab, Mask) {
    const int set = tree_.axis(step.axis).set;
    cell.blocked += set < 0 || differing[set] == 0 ? 1 : 0;
    if (set >= 0)
      differing[set] |= Values{1} << slab;
    else if (step.left)
      cell.high[step.axis] = static_cast<Slab>(slab - 1);
    else
      cell.low[step.axis] = static_cast<Slab>(slab + 1);
  });
  cell.reach.assign(tree_.root_values().begin(), tree_.root_values().end());
  cell.open = 0;
  for (int axis = 0; axis < tree_.n_axes(); ++axis) {
    const SlabAxis& of = tree_.axis(axis);
    int n_reached = cell.high[axis] - cell.low[axis] + 1;
    if (of.set >= 0) {
      Values& reach = cell.reach[of.set];
      const Values* const hull = of.hull.data() + static_cast<std::ptrdiff_t>(cell.at[axis]) * of.n_slabs;
      for_each_bit(reach, [&](int value) {
        if ((hull[value] & differing[of.set]) != 0) reach &= ~(Values{1} << value);
      });
      n_reached = std::popcount(reach);
    }
    cell.open += n_reached * weight_[axis];
  }
}

}  // namespace onetree
