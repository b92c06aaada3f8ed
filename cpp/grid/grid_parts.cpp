#include "grid/grid_parts.hpp"

#include <algorithm>

namespace onetree {

namespace {

Intervals list_of(const SetFamily& family) {
  std::vector<Interval> parts;
  std::vector<int> ranks, first_split{0};
  std::vector<SplitIndex> splits;
  for (int set = 0; set < family.size(); ++set) {
    for (const SetSplit& split : family.splits(set)) splits.push_back({split.inside, split.outside});
    ranks.push_back(family.count(set) - 1);
    parts.push_back({set, set + family.size() * ranks.back()});
    first_split.push_back(static_cast<int>(splits.size()));
  }
  return {std::move(parts), std::move(ranks), std::move(splits), std::move(first_split)};
}

}  // namespace

GridParts::GridParts(const GridAxes& grid, Control& control) : grid_(grid) {
  for (const Axis& axis : grid.axes) {
    sets_.emplace_back();
    if (!axis.set) continue;
    SetFamily family(axis.set, control);
    Intervals list = list_of(family);
    std::vector<int> set_of_end(family.size() * static_cast<std::size_t>(family.count(family.size() - 1)), 0);
    for (int set = 0; set < family.size(); ++set) set_of_end[list[set].lo] = set_of_end[list[set].hi] = set;
    sets_.back() = std::make_unique<const Sets>(Sets{std::move(family), std::move(list), std::move(set_of_end)});
  }
}

std::size_t GridParts::bytes() const {
  std::size_t bytes = 0;
  for (const auto& sets : sets_)
    if (sets) bytes += sets->family.bytes() + sets->list.bytes() + sets->set_of_end.size() * sizeof(int);
  return bytes;
}

Box GridParts::whole() const {
  Box box;
  for (std::size_t axis = 0; axis < sets_.size(); ++axis) {
    const int last = (sets_[axis] ? sets_[axis]->family.size() : grid_.axes[axis].n_slabs()) - 1;
    box.push_back({sets_[axis] ? last : 0, last});
  }
  return box;
}

}  // namespace onetree
