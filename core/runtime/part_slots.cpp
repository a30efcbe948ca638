#include "core/runtime/part_slots.h"

#include <utility>

#include "core/base/error.h"

namespace stormcell {

PartSlots::Part& PartSlots::part(WeightHandle handle) {
  if (!parts_.holds(handle)) parts_.resize(static_cast<size_t>(handle) + 1);
  return parts_[handle];
}

int64_t PartSlots::count() const {
  int64_t count = 0;
  for (const SlotClass& c : classes_) count += c.count;
  return count;
}

bool PartSlots::any_busy() const {
  for (const SlotsOfClass& of : of_class_)
    for (const Slot& slot : of.all)
      if (slot.holds != kNone && is_busy(slot.holds)) return true;
  return false;
}

void PartSlots::arrange(Device& device, std::vector<SlotClass> classes) {
  for (const WeightHandle handle : parts_.ids()) leave(handle);
  // Before the new ones, so that both never are there at once.
  of_class_.clear(), bytes_ = 0;
  std::vector<SlotClass> before = std::exchange(classes_, {});
  try {
    make(device, std::move(classes));
  } catch (...) {
    // Other plans run on with those they had.
    try {
      make(device, std::move(before));
    } catch (const std::exception&) {
    }
    throw;
  }
}

void PartSlots::make(Device& device, std::vector<SlotClass> classes) {
  IdVector<int32_t, SlotsOfClass> made;
  int64_t bytes = 0;
  for (const SlotClass& c : classes) {
    SlotsOfClass& of = made.emplace_back();
    of.memory = device.allocate(c.bytes * c.count, "weights of branches");
    for (int64_t i = 0; i < c.count; ++i) of.all.push_back({of.memory->address() + i * c.bytes, kNone});
    bytes += c.bytes * c.count;
  }
  of_class_ = std::move(made), classes_ = std::move(classes), bytes_ = bytes;
}

/// The slot of the part's class that it may have: an empty one; else the one whose part's next use is farthest, on ties
/// the least recently used. -1: none.
int32_t PartSlots::find_slot(WeightHandle handle, const NextUse& next_use, PartNeed need) {
  if (class_of_part(handle) < 0) failed("weight " + list_[handle].key.tensor, "no memory was set aside for it");
  const IdVector<int32_t, Slot>& slots = of_class_[class_of_part(handle)].all;
  const int64_t mine = need == PartNeed::anyway ? -1 : next_use(handle);
  int32_t found = -1;
  int64_t farthest = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    const WeightHandle held = slots[i].holds;
    if (held == kNone) return static_cast<int32_t>(i);
    if (is_busy(held)) continue;
    const int64_t use = next_use(held);
    if (use <= mine) continue;
    if (found < 0 || use > farthest || (use == farthest && parts_[held].used < parts_[slots[found].holds].used))
      found = static_cast<int32_t>(i), farthest = use;
  }
  return found;
}

bool PartSlots::give(WeightHandle handle, const NextUse& next_use, PartNeed need) {
  Part& given = part(handle);
  const int32_t at = find_slot(handle, next_use, need);
  if (at < 0) return false;
  Slot& slot = of_class_[class_of_part(handle)].all[at];
  if (slot.holds != kNone) {
    leave(slot.holds);
    ++evictions_;
  }
  slot.holds = handle;
  given.slot = at;
  return true;
}

void PartSlots::fill(WeightHandle handle) {
  list_.set_address(handle, slot_address(handle));
  ready_bytes_ += list_[handle].bytes;
  touch(handle);
}

void PartSlots::leave(WeightHandle handle) {
  if (!has_slot(handle)) return;
  slot_of(handle).holds = kNone;
  part(handle).slot = -1;
  if (list_.address(handle)) ready_bytes_ -= list_[handle].bytes;
  list_.set_address(handle, {});
}

void PartSlots::begin_use_of_ready(std::vector<WeightHandle>& in_use) {
  for (const SlotsOfClass& of : of_class_)
    for (const Slot& slot : of.all) {
      if (slot.holds == kNone || !list_.address(slot.holds)) continue;
      in_use.push_back(slot.holds);
      ++parts_[slot.holds].users;
    }
}

}  // namespace stormcell
