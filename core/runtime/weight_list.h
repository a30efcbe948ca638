// The weights that plans asked for, by handle: identity, branch, address.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/id_vector.h"
#include "core/runtime/device.h"
#include "core/runtime/part_site.h"

namespace stormcell {

/// A weight as it was asked for. Under a budget one that serves a single branch is a part, which comes and goes; all
/// others are dense: loaded for good.
struct ListedWeight {
  WeightKey key;
  int64_t bytes = 0;                 ///< bytes on the device, exact before it is loaded, too
  std::optional<BranchGroup> group;  ///< branch of a part
  bool pinned = false;               ///< weight of a branch that is kept for good: dense, and counted to the budget
  bool asked = true;                 ///< somebody asks for it whose executable lives, or is still to be made
  int32_t readers = 0;               ///< executables that live
  bool is_part() const { return group.has_value(); }
};

/// Handles are given out in order and never taken back. Not safe from several threads, but for version(): WeightStore
/// has the lock.
class WeightList {
 public:
  std::optional<WeightHandle> find(const WeightKey& key) const;
  /// Adds a weight. If memory is refused, the list is as before.
  WeightHandle add(ListedWeight weight);
  const ListedWeight& operator[](WeightHandle handle) const { return weights_[handle]; }
  /// Makes a part dense: a reader outside its branch needs it, or it is kept for good.
  void make_dense(WeightHandle handle, bool pinned) {
    weights_[handle].group.reset(), weights_[handle].pinned = pinned;
  }
  /// Asks again for a weight that nobody asked for any more, with its group and pinning from here on.
  void ask_again(WeightHandle handle, std::optional<BranchGroup> group, bool pinned);
  void add_reader(WeightHandle handle) { ++weights_[handle].readers; }
  /// After the last reader nobody asks for it.
  void remove_reader(WeightHandle handle) { weights_[handle].asked = --weights_[handle].readers > 0; }

  /// Address of a weight; 0: it is not there.
  DeviceAddress address(WeightHandle handle) const { return addresses_[handle]; }
  void set_address(WeightHandle handle, DeviceAddress address);
  /// All addresses, in the form that a device reads.
  const IdVector<WeightHandle, DeviceAddress>& addresses() const { return addresses_; }
  /// Changes with every address and with every weight that is added. Any thread may ask without the lock.
  uint64_t version() const { return version_.load(); }

  // Sums over the weights that are asked for:
  /// How many parts there are of each size in bytes.
  std::map<int64_t, int64_t> part_sizes() const;
  /// Bytes of parts and of pinned weights.
  int64_t branch_weight_bytes() const;
  /// Bytes of pinned weights, each in a place of its own.
  int64_t pinned_bytes() const;
  /// Bytes of the largest part in a slot, and the branch it serves; 0: no part was asked for.
  std::pair<int64_t, BranchGroup> largest_part() const;

 private:
  IdVector<WeightHandle, ListedWeight> weights_;
  IdVector<WeightHandle, DeviceAddress> addresses_;
  std::map<WeightKey, WeightHandle> handles_;
  std::atomic<uint64_t> version_{1};
};

}  // namespace stormcell
