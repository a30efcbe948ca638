// The side of the stored picture that is up, by Exif (CIPA DC-008, a TIFF directory).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stormcell {

/// Exif's numbers: 1 as stored, 2 mirrored left to right, 3 turned by half, 4 mirrored top to bottom, 5 transposed, 6
/// to be turned a quarter to the right, 7 transposed over the other diagonal, 8 to be turned a quarter to the left.
enum class Orientation : uint8_t {
  as_stored = 1,
  mirrored,
  half_turn,
  flipped,
  transposed,
  turn_right,
  transversed,
  turn_left
};

/// Reads the TIFF behind "Exif\0\0". Returns as_stored if there is none or it cannot be read: that is no damage to the
/// picture.
Orientation orientation_in(std::span<const std::byte> tiff);

/// Height and width change places.
bool swaps_sides(Orientation orientation);
/// The pixels [height, width, channels] turned as they are to be seen: [width, height, channels] if the sides are
/// swapped.
std::vector<float> turned(std::vector<float> pixels, int64_t height, int64_t width, int64_t channels,
                          Orientation orientation);

}  // namespace stormcell
