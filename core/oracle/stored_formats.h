// The oracle's readers of stored numbers: one row for each format of weights. They are the oracle's own code, so that a
// mistake in a device's decoder shows.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/base/dtype.h"

namespace stormcell::reference {

/// A format that recipes round to: numbers of so many significant bits, the smallest one 2^smallest, the largest finite
/// one `largest`.
struct RoundingGrid {
  int bits = 0;
  int smallest = 0;
  double largest = 0;
};

struct StoredFormat {
  DType format = DType::f32;
  /// Elements [first, first + n) of the tensor whose bytes begin at `stored`, row-major: the f32 that is
  /// nearest to each, which is the number itself except in f64, q4_k and q5_k.
  void (*read)(const std::byte* stored, int64_t first, int64_t n, float* to) = nullptr;
  RoundingGrid grid;  ///< bits = 0: no recipe rounds to it
};

/// Throws Error(failed) for a format that no weight has.
const StoredFormat& stored_format(DType format);

}  // namespace stormcell::reference
