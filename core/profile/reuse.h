// Distances between uses of an expert, which decide how well any cache of recently used weights works.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/progress.h"
#include "core/profile/token_routes.h"

namespace stormcell {

/// The distance of a use is the number of distinct experts of all layers that were looked up since the same expert's
/// last use, itself left out: an LRU cache that holds more of equal size than that has it. Uses are looked up as caches
/// do: once a layer of a step.
struct ReuseDistance {
  int64_t lookups = 0, first_uses = 0;
  std::optional<int64_t> p50, p90, p99;  ///< over uses after the first; null: there is none
};

/// Judges the steps that decode, or all steps if none decodes.
ReuseDistance reuse_distance(const TokenRoutes& routes, const Progress& progress = {});

}  // namespace stormcell
