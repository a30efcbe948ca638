#include "core/readings/patch_regions.h"

namespace stormcell {

std::vector<uint8_t> region_sides(std::span<const int32_t> region, int64_t columns) {
  std::vector<uint8_t> sides(region.size(), 0);
  const auto count = std::ssize(region);
  for (int64_t i = 0; i < count; ++i) {
    const auto is_alike = [&](int64_t other) { return region[other] == region[i]; };
    uint8_t& of = sides[i];
    if (i % columns == 0 || !is_alike(i - 1)) of |= kLeftSide;
    if ((i + 1) % columns == 0 || i + 1 == count || !is_alike(i + 1)) of |= kRightSide;
    if (i < columns || !is_alike(i - columns)) of |= kTopSide;
    if (i + columns >= count || !is_alike(i + columns)) of |= kBottomSide;
  }
  return sides;
}

}  // namespace stormcell
