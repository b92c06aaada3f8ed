// Some slabs of every axis of a grid, cut out of its cells.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace onetree {

// `kept`: per axis, the slabs to keep, ascending; at least one. There is at least one axis, and the last is fastest.
template <typename Cell>
std::vector<Cell> gather(const std::vector<Cell>& cells, const std::vector<int>& size,
                         const std::vector<std::vector<int>>& kept) {
  const int n_axes = static_cast<int>(size.size());
  std::vector<std::size_t> stride(n_axes);
  std::size_t step = 1, n_kept = 1;
  for (int axis = n_axes; axis-- > 0; step *= size[axis]) {
    stride[axis] = step;
    n_kept *= kept[axis].size();
  }
  std::vector<Cell> found(n_kept);
  // All axes but the last by an odometer; along the last, slabs are gathered, or copied where none is missing.
  const std::vector<int>& inner = kept[n_axes - 1];
  const bool contiguous = inner.back() - inner.front() + 1 == static_cast<int>(inner.size());
  std::vector<std::size_t> at(n_axes, 0);
  std::size_t from = 0;
  for (int axis = 0; axis + 1 < n_axes; ++axis) from += kept[axis][0] * stride[axis];
  for (Cell* out = found.data();;) {
    const Cell* in = cells.data() + from;
    if (contiguous)
      std::memcpy(out, in + inner.front(), inner.size() * sizeof(Cell));
    else
      for (std::size_t i = 0; i < inner.size(); ++i) out[i] = in[inner[i]];
    out += inner.size();
    int axis = n_axes - 2;
    for (; axis >= 0; --axis) {
      from -= kept[axis][at[axis]] * stride[axis];
      if (++at[axis] < kept[axis].size()) break;
      at[axis] = 0;
      from += kept[axis][0] * stride[axis];
    }
    if (axis < 0) break;
    from += kept[axis][at[axis]] * stride[axis];
  }
  return found;
}

}  // namespace onetree
