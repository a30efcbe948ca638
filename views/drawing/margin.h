// The edge that every picture leaves free.
#pragma once

namespace stormcell::views {

/// Pixels from a picture's edge to its parts.
inline constexpr double kMargin = 12;

}  // namespace stormcell::views
