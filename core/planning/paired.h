// Whether a difference between two placements may be chance: both on the same parts of what was held out, drawn again and again.
#pragma once
#include <cstdint>
#include <string>

#include "core/placement/placement.h"
#include "core/planning/place_task.h"

namespace stormcell {

/// What is drawn: whole requests where they were held out, else blocks of consecutive steps, which are alike.
struct PairedParts {
  std::string unit;  ///< "requests" or "blocks of 8 steps"
  int64_t count = 0;
};

class PairedBootstrap {
 public:
  PairedBootstrap(const PlaceTask& task, const Progress& progress);
  /// Fewer than two parts say nothing.
  bool says_something() const { return parts_.count >= 2; }
  const PairedParts& parts() const { return parts_; }
  PairedFigures compare(const std::string& one, const Placement& a, const std::string& other, const Placement& b) const;

 private:
  const PlaceTask& task_;
  const Progress& progress_;
  PairedParts parts_;
  std::vector<std::vector<size_t>> tokens_;  // [parts]; empty where there are counts
  std::vector<LayerLoads> loads_;            // [parts]
};

}  // namespace stormcell
