// Slots for parts under a budget, allocated once, and the choice of the part that gives way to another.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/runtime/slot_classes.h"
#include "core/runtime/weight_list.h"

namespace stormcell {

/// How much a part is wanted, which says whose slot it may take.
enum class PartNeed : uint8_t {
  ahead,   ///< takes a slot only of a part that is used later than it
  now,     ///< the same, and is read before the others: who waits for it computes first with what is used as soon
  anyway,  ///< somebody waits for it alone: takes any that is not busy
};

/// A part of the list has no slot, is being read into one, or is ready in it: only then does it have an address. A
/// ready part is in use while a submission may compute with it. Only a ready part that nobody uses gives way. Not safe
/// from several threads: WeightStore has the lock.
class PartSlots {
 public:
  /// How far away the next use of a part is, in any unit: the one whose is farthest gives way.
  using NextUse = std::function<int64_t(WeightHandle handle)>;

  explicit PartSlots(WeightList& list) : list_(list) {}

  /// Allocates slots anew, all of them empty. No part may be busy. If the device refuses, the slots of before are
  /// there, empty; none if it refuses them, too.
  void arrange(Device& device, std::vector<SlotClass> classes);
  const std::vector<SlotClass>& classes() const { return classes_; }
  int64_t bytes() const { return bytes_; }              ///< bytes of all slots
  int64_t count() const;                                ///< number of slots
  int64_t ready_bytes() const { return ready_bytes_; }  ///< bytes of ready parts
  int64_t evictions() const { return evictions_; }

  bool is_being_read(WeightHandle handle) const { return has_slot(handle) && !list_.address(handle); }
  /// Being read or in use.
  bool is_busy(WeightHandle handle) const { return is_being_read(handle) || users(handle) > 0; }
  bool any_busy() const;

  /// Gives the part, which has none, a slot to be read into: an empty one, else one whose part gives way. False: none
  /// does. If it throws, nothing has given way.
  bool give(WeightHandle handle, const NextUse& next_use, PartNeed need);
  /// The slot of a part that is being read.
  DeviceAddress slot_address(WeightHandle handle) const { return slot_of(handle).address; }
  /// Marks a part as read: it is ready.
  void fill(WeightHandle handle);
  /// Empties the slot of a part that nobody uses; nothing where it has none.
  void leave(WeightHandle handle);

  void begin_use(WeightHandle handle) { ++part(handle).users, touch(handle); }
  void end_use(WeightHandle handle) { --part(handle).users; }
  /// Begins a use of every ready part and adds it to `in_use`.
  void begin_use_of_ready(std::vector<WeightHandle>& in_use);
  /// Counts as a use: among parts whose next use is equally far, the least recently used gives way.
  void touch(WeightHandle handle) { part(handle).used = ++clock_; }

 private:
  struct Slot {
    DeviceAddress address;
    WeightHandle holds;  // the part that lies there, or is being read into it
  };
  struct SlotsOfClass {
    std::unique_ptr<DeviceBuffer> memory;
    IdVector<int32_t, Slot> all;
  };
  struct Part {
    int32_t slot = -1;  // slot of its size's class
    int32_t users = 0;
    uint64_t used = 0;
  };

  Part& part(WeightHandle handle);
  bool has_slot(WeightHandle handle) const { return parts_.holds(handle) && parts_[handle].slot >= 0; }
  int32_t users(WeightHandle handle) const { return parts_.holds(handle) ? parts_[handle].users : 0; }
  int32_t class_of_part(WeightHandle handle) const { return class_of(classes_, list_[handle].bytes); }
  Slot& slot_of(WeightHandle handle) { return of_class_[class_of_part(handle)].all[parts_[handle].slot]; }
  const Slot& slot_of(WeightHandle handle) const { return of_class_[class_of_part(handle)].all[parts_[handle].slot]; }
  int32_t find_slot(WeightHandle handle, const NextUse& next_use, PartNeed need);
  void make(Device& device, std::vector<SlotClass> classes);

  WeightList& list_;
  std::vector<SlotClass> classes_;  // largest first
  IdVector<int32_t, SlotsOfClass> of_class_;
  IdVector<WeightHandle, Part> parts_;  // up to the last that had a slot
  uint64_t clock_ = 0;
  int64_t bytes_ = 0, ready_bytes_ = 0, evictions_ = 0;
};

}  // namespace stormcell
