// The row of each figure that compare reads, by its dotted path.
#pragma once
#include <string_view>

#include "core/figures/figure_tree.h"

namespace stormcell {

/// The row of "optimized.latency_ms.median" or "layouts.joint.fit.objective". A path that no row describes, such as a
/// key of another version, has a Figure of unknown origin: it has no direction and its difference is not judged.
const Figure& figure_of(std::string_view path);

/// The unit of a figure whose path does not include it: "ms" of a placement's objective. Empty: the path includes it, or
/// the figure has another unit.
std::string_view unit_of(std::string_view path);

/// The ending of the key of a figure's interval.
inline constexpr const char* kIntervalKey = "_ci95";

/// The key, in the same object, of the reason why a figure or its interval is not stated: "speedup_withheld". `key` is
/// the last one of the path. Empty: the figure is never withheld.
std::string_view withheld_by(std::string_view key);

}  // namespace stormcell
