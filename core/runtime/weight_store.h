// The weights of one model on one device, each once, whoever uses it: baseline and optimised plans share them.
//
// With a budget, weights that serve one branch of a router (parts) lie in slots that are allocated once: a part is free, being read, or
// ready, and pinned while a submission may use it; what must give way is a ready part that nobody pins. All others (dense weights) are
// loaded for good, as they all are without a budget.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/progress.h"
#include "core/runtime/device.h"
#include "core/runtime/part_site.h"
#include "core/runtime/slot_classes.h"
#include "core/runtime/weight_readers.h"

namespace stormcell {

/// What the store holds and did so far, in bytes as the device lays weights out.
struct WeightCounters {
  int64_t dense_bytes = 0;  ///< loaded for good
  // Under a budget:
  int64_t budget = 0;          ///< 0: none
  int64_t part_bytes = 0;      ///< all parts that plans asked for
  int64_t slot_bytes = 0;      ///< allocated for them
  int64_t resident_bytes = 0;  ///< parts that are there now
  int64_t reads = 0, bytes_read = 0, evictions = 0;
  double stall_seconds = 0;  ///< that somebody waited for a part
};

/// Handles, not pointers: a weight may be requested long before it is loaded, and evicted while plans that know it live. Any thread may
/// call; no lock is held while a weight is read.
class WeightStore {
 public:
  /// `budget`: bytes that parts may take; 0: as many as there are.
  WeightStore(Device& device, std::shared_ptr<const WeightSource> source, int64_t budget = 0);
  ~WeightStore();

  /// The handle of a weight; loads nothing. Throws Error when the source does not have it. What is asked for without a group, or for two
  /// of them, is dense from there on.
  int32_t request(const WeightKey& key) { return request(key, nullptr); }
  int32_t request(const WeightKey& key, const BranchGroup& group) { return request(key, &group); }
  bool is_part(int32_t handle) const;

  // Dense weights, loaded on the calling thread.
  void load(int32_t handle);
  void load(const std::vector<int32_t>& handles, const Progress& progress = {});
  bool loaded(int32_t handle) const { return bool(address(handle)); }
  DeviceAddress address(int32_t handle) const;
  WeightKey key(int32_t handle) const;
  /// Bytes it takes, or will take, on the device: exact before it is loaded, too.
  int64_t bytes(int32_t handle) const;

  // Parts.
  /// When a part is used next, in any unit, larger is later: what decides which gives way.
  using NextUse = std::function<int64_t(int32_t handle)>;
  /// Throws Error(bad_input) that names the option where the budget is below the largest branch of those asked for.
  void check_budget() const;
  /// Bytes of that branch, the least budget with which everything runs; 0: no part was asked for.
  int64_t least_budget() const;
  /// Bytes of the slots for the parts asked for so far; 0 without a budget.
  int64_t planned_slot_bytes() const;
  /// Bytes of the largest part, 0: none.
  int64_t largest_part() const;
  /// Allocates slots for the parts asked for so far; anew, and empty, where more kinds were asked for since. Waits until no part is pinned.
  /// Throws as check_budget().
  void arrange();
  /// Sees to it that a part is read, by a thread of the store's, if it is not there. False: there is no slot whose part is used later than
  /// it (with `needed`: none that is not pinned and not being read itself).
  bool fetch(int32_t handle, const NextUse& next_use, bool needed);
  /// Waits until the part is there, and pins it. Throws what reading it failed with, and as the token says.
  void hold(int32_t handle, const NextUse& next_use, const CancellationToken& cancel);
  bool ready(int32_t handle) const;
  /// Counts as a use, where parts that are used next at the same time are told apart.
  void touch(int32_t handle);

  /// What a submission may use: dense weights that are loaded, and ready parts, which are pinned and added to `pinned`. False: nothing
  /// changed since the call that set `version`, and there are no parts; `table` is left as it is.
  bool take(std::vector<DeviceAddress>& table, std::vector<int32_t>& pinned, uint64_t& version);
  /// Where the device reads the table: one for all that run on it, one at a time. It holds as many addresses as the last take() gave, and
  /// what lies there means nothing after a handle was added.
  DeviceAddress device_table();
  void unpin(const std::vector<int32_t>& pinned);

  int64_t budget() const { return budget_; }
  WeightCounters counters() const;
  double load_seconds() const;
  const WeightSource& source() const { return *source_; }

 private:
  /// One reading; who waits for it keeps it.
  struct Ticket {
    bool done = false;
    std::exception_ptr failure;
  };
  struct Entry {
    WeightKey key;
    int64_t bytes = 0;
    bool dense = true;
    BranchGroup group;                     // of a part
    std::unique_ptr<DeviceBuffer> buffer;  // of a dense weight
    DeviceAddress address;                 // 0: not there
    std::shared_ptr<Ticket> ticket;        // while it is read
    int32_t slot = -1;
    int32_t pins = 0;
    uint64_t used = 0;
  };
  struct Slot {
    DeviceAddress address;
    int32_t holds = -1;  // handle of what lies there, or is being read into it
  };
  struct SlotsOfClass {
    SlotClass of;
    std::unique_ptr<DeviceBuffer> memory;
    std::vector<Slot> places;
  };

  int32_t request(const WeightKey& key, const BranchGroup* group);
  Entry& entry(int32_t handle) { return entries_[static_cast<size_t>(handle)]; }
  const Entry& entry(int32_t handle) const { return entries_[static_cast<size_t>(handle)]; }
  bool is_part(const Entry& e) const { return budget_ > 0 && !e.dense; }
  std::map<int64_t, int64_t> part_sizes() const;
  std::pair<int64_t, BranchGroup> largest_branch() const;
  void check_budget_locked() const;
  Slot& slot_of(const Entry& e);
  void leave_slot(Entry& e);
  Slot* find_slot(int32_t handle, const NextUse& next_use, bool needed);
  bool start(int32_t handle, const NextUse& next_use, bool needed);
  void read_part(int32_t handle);
  void load_dense(int32_t handle, std::unique_lock<std::mutex>& lock);

  Device& device_;
  std::shared_ptr<const WeightSource> source_;
  const int64_t budget_;
  std::mutex loading_;        // the device loads dense weights with all its threads: one at a time
  mutable std::mutex mutex_;  // of all below; held for pointers only
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  std::map<WeightKey, int32_t> index_;
  std::vector<SlotsOfClass> slots_;   // largest first
  std::vector<SlotClass> classes_;    // of slots_
  std::atomic<uint64_t> version_{1};  // changes with every address
  uint64_t clock_ = 0;
  double load_seconds_ = 0;
  WeightCounters counters_;
  std::unique_ptr<DeviceBuffer> table_;
  std::unique_ptr<WeightReaders> readers_;  // last: its threads use the others
};

}  // namespace stormcell
