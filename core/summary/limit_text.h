// Shares of the limit in words, one way for command line, report and window.
#pragma once

namespace stormcell {

/// A share above 1 says nothing: the memory of the limit is DRAM, and data that stay in a cache are faster.
constexpr bool is_in_cache(double limit_share) { return limit_share > 1; }
/// The text in its place, and the reason.
inline constexpr const char* kInCache = "in cache";
inline constexpr const char* kInCacheReason =
    "faster than the memory of the limit, because the data stay in the processor's caches";

}  // namespace stormcell
