// How many slots of which sizes a budget is divided into.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace stormcell {

/// Slots of one size, which hold parts of that size or less.
struct SlotClass {
  int64_t bytes = 0;  ///< bytes of one slot, a multiple of 64
  int64_t count = 0;
  bool operator==(const SlotClass&) const = default;
};

/// The largest first, together at most `budget` bytes. The budget must have room for the largest part, which gets a
/// slot, so every part fits somewhere. The rest is divided in proportion to the bytes of all parts of each size.
/// `parts`: how many there are of each size in bytes.
std::vector<SlotClass> slot_classes(const std::map<int64_t, int64_t>& parts, int64_t budget);

/// The index of the class that holds parts of `bytes`: the smallest slots in which they fit. -1: none.
int32_t class_of(const std::vector<SlotClass>& classes, int64_t bytes);

}  // namespace stormcell
