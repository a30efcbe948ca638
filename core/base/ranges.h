// Ranges of consecutive batches, windows and items: half open, a type for each, so that none is mistaken for another or
// a count for an end.
#pragma once
#include <algorithm>
#include <cstdint>

namespace stormcell {

/// [first, end); end < 0: to the last.
template <class Of>
struct IndexRange {
  int64_t first = 0, end = -1;
  bool operator==(const IndexRange&) const = default;
  /// Its part in [0, all), with an end.
  IndexRange within(int64_t all) const {
    const int64_t from = std::clamp<int64_t>(first, 0, all);
    return {from, end < 0 ? all : std::clamp(end, from, all)};
  }
};
using BatchRange = IndexRange<struct OfBatches>;
using WindowRange = IndexRange<struct OfWindows>;  ///< of one level of the pyramid
using ItemRange = IndexRange<struct OfItems>;      ///< sequences or pictures of the data

}  // namespace stormcell
