// Replays recorded choices through a cache of experts' weights and counts its hits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/enum_words.h"
#include "core/base/progress.h"
#include "core/profile/token_routes.h"

namespace stormcell {

enum class CachePolicy : uint8_t {
  lru,     ///< the one whose last use is longest ago goes
  lfu,     ///< the one with the fewest uses so far goes, of these the least recent; uses outlive its removal
  belady,  ///< the one whose next use is farthest goes: no policy has more hits that fills on demand
  /// The one with the longest expected wait goes, of these the least recent. In tokens: the layers until its own, plus
  /// 1 / p - 1, where p is the chance that a visit of its layer uses it: a mean that keeps 0.93 at each visit and
  /// outlives removal.
  wait,
};
inline constexpr std::string_view kCachePolicies[] = {"lru", "lfu", "belady", "wait"};
inline std::string_view to_text(CachePolicy policy) { return row_of(kCachePolicies, policy); }
std::optional<CachePolicy> cache_policy(std::string_view word);

struct CacheCount {
  int64_t hits = 0, lookups = 0;
  int64_t missed_bytes = 0;  ///< bytes of the experts that were looked up and not there
  std::optional<double> rate() const {
    return lookups > 0 ? std::optional(static_cast<double>(hits) / lookups) : std::nullopt;
  }
};

struct CacheReplay {
  CacheCount all, decode;
};

/// Replays one cache for all layers, empty at first. A call is a layer of a step. It looks up each of its experts once,
/// and every use makes an expert more recent. At its end the cache shrinks to the budget, but keeps the experts of this
/// call. Needs every layer's branch_bytes.
CacheReplay replay_cache(const TokenRoutes& routes, CachePolicy policy, int64_t budget_bytes,
                         const Progress& progress = {});

struct CacheCase {
  CachePolicy policy = CachePolicy::lru;
  int64_t budget_bytes = 0;
};
/// The same for several caches, in their order; the choices are put in order once.
std::vector<CacheReplay> replay_caches(const TokenRoutes& routes, const std::vector<CacheCase>& cases,
                                       const Progress& progress = {});

/// Bytes of experts that a recording needs. Steps that decode are judged, or all steps if none decodes.
struct CacheDemand {
  bool decode = false;     ///< whether steps that decode are judged
  int64_t tokens = 0;      ///< tokens of judged steps
  int64_t steps = 0;       ///< judged steps
  int64_t bytes = 0;       ///< sum over judged steps of the distinct experts of each layer
  int64_t step_bytes = 0;  ///< median over judged steps
  int64_t used_bytes = 0;  ///< all experts that any step used: a cache as large never drops one
};
CacheDemand cache_demand(const TokenRoutes& routes);

}  // namespace stormcell
