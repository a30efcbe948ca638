// Whether a difference between two placements may be chance: both on the same parts of what was held out, drawn again
// and again.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/placement/placement.h"
#include "core/planning/place_figures.h"
#include "core/planning/place_task.h"

namespace stormcell {

/// The parts that are drawn: whole requests if they were held out, else blocks of consecutive steps, which are alike.
struct PairedParts {
  std::string unit;  ///< "requests" or "blocks of 8 steps"
  int64_t count = 0;
};

/// Fewer parts do not tell how much parts vary.
inline constexpr int64_t kFewestParts = 5;

/// The block of a step among `steps`. Steps behind the last whole block belong to that block.
size_t block_of_step(size_t step, size_t steps);

/// `difference` of all parts, and its 95 % interval: the deviation over parts drawn with replacement (fixed seed), by
/// Student's t for few parts (Hesterberg, "What teachers should know about the bootstrap", 2015, section 5.3). At least
/// two parts.
PairedDifference interval_of_parts(size_t parts, const std::function<double(const std::vector<size_t>&)>& difference);

class PairedBootstrap {
 public:
  PairedBootstrap(const PlaceTask& task, const Progress& progress);
  /// Whether there are parts enough to tell how much two placements differ by chance.
  bool says_something() const { return parts_.count >= kFewestParts; }
  const PairedParts& parts() const { return parts_; }
  PairedFigures compare(LayoutRole one, const Placement& a, LayoutRole other, const Placement& b) const;

 private:
  /// [costed steps] the part that each lies in. Empty: steps have no order (drawn), not each lies in one part (filled
  /// up), or there are none.
  std::vector<size_t> parts_of_steps() const;
  std::optional<PairedDifference> compare_steps(const Placement& a, const Placement& b) const;

  const PlaceTask& task_;
  const Progress& progress_;
  PairedParts parts_;
  std::vector<std::vector<size_t>> tokens_;  // [parts]; empty where there are counts
  std::vector<LayerLoads> loads_;            // [parts]
};

}  // namespace stormcell
