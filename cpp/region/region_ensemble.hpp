// A region written out as an ensemble of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ensemble.hpp"
#include "region/region.hpp"

namespace onetree {

// Borrows nothing that changes: one thread may look at it while another one makes more regions.
class RegionEnsemble {
 public:
  RegionEnsemble(Regions& regions, const Region& region);
  RegionEnsemble(const RegionEnsemble&) = delete;
  RegionEnsemble& operator=(const RegionEnsemble&) = delete;

  const Ensemble& operator*() const { return view_; }
  std::size_t bytes() const;

 private:
  std::vector<std::int32_t> roots_, feature_, left_, right_;
  std::vector<double> threshold_, value_, base_;
  std::vector<std::uint8_t> missing_left_;
  std::vector<SetAxis> sets_;
  Ensemble view_{};
};

}  // namespace onetree
