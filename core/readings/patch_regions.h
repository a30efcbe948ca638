// Patches that lie side by side and went to the same branch form a region: its border is drawn, and the picture within
// is left to be seen.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace stormcell {

/// Bits: the sides at which a patch borders on another region, or on the end of the picture.
enum PatchSide : uint8_t { kLeftSide = 1, kTopSide = 2, kRightSide = 4, kBottomSide = 8 };
/// [patches] of a grid of `columns`, row by row; the last row may be short. `region`: what makes patches alike.
std::vector<uint8_t> region_sides(std::span<const int32_t> region, int64_t columns);

}  // namespace stormcell
