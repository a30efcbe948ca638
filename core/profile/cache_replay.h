// Replays recorded choices through a cache of experts' weights and counts its hits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/enum_words.h"
#include "core/base/progress.h"
#include "core/profile/token_routes.h"

namespace stormcell {

enum class CachePolicy : uint8_t {
  lru,     ///< the one whose last use is longest ago goes
  lfu,     ///< the one with the fewest uses so far goes, of these the least recent; uses are remembered when it goes
  belady,  ///< the one whose next use is farthest goes: no policy has more hits that fills on demand
};
inline constexpr std::string_view kCachePolicies[] = {"lru", "lfu", "belady"};
inline std::string_view to_text(CachePolicy policy) { return row_of(kCachePolicies, policy); }
std::optional<CachePolicy> cache_policy(std::string_view word);

struct CacheCount {
  int64_t hits = 0, lookups = 0;
  std::optional<double> rate() const {
    return lookups > 0 ? std::optional(static_cast<double>(hits) / lookups) : std::nullopt;
  }
};

struct CacheReplay {
  CacheCount all, decode;
};

/// One cache for all layers, empty at first. A call is a layer of a step; it looks each of its experts up once, every
/// use makes it more recent, and at its end what is beyond the budget goes, but never what the call itself used. Needs
/// every layer's branch_bytes.
CacheReplay replay_cache(const TokenRoutes& routes, CachePolicy policy, int64_t budget_bytes,
                         const Progress& progress = {});

}  // namespace stormcell
