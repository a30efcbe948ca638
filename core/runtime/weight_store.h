// The weights of one model on one device, each once: baseline and optimised plans share them.
//
// A kernel requests a weight when a plan is compiled, and gets a handle (WeightList). Without a budget, all weights are
// dense: they are loaded for good. With a budget, the weights that serve one branch of a router (parts) are read into
// slots that are allocated once (PartSlots) by threads of their own (WeightReaders). A submission takes the table of
// addresses, and from then on uses the parts that are there.
//
// Threads. Any thread may call any method, and `mutex_` is never held while a weight is read.
// - `loading_` is held while a dense weight is loaded, because the device does that with all its threads. It is taken
//   before `mutex_`.
// - `mutex_` guards the list, the slots, the tickets and the counters. A NextUse is called under it and must not call
//   the store. Slots are allocated under it as well, while no part is busy.
// - The readers' own lock is taken last. Their threads call read_part() with no lock held, and end before anything else
//   is destroyed.
// - `changed_` is notified when a reading ended and when a part is not in use any more.
//
// The budget and the slots count the weights that existing executables read, and those that are being made. Plans come
// and go, with other phases and annotations. To ask what a plan would take without running it, use a store of its own.
//
// The device or the host may refuse memory in any of these calls. The caller gets the error and may call again. The
// store is as before, except for parts that had to go first (arrange()).
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/progress.h"
#include "core/runtime/budget_share.h"
#include "core/runtime/part_slots.h"
#include "core/runtime/weight_list.h"
#include "core/runtime/weight_readers.h"

namespace stormcell {

/// Contents of the store and its work so far, in bytes as the device lays weights out, except for bytes read.
struct WeightCounters {
  int64_t dense_bytes = 0;  ///< loaded for good
  // Under a budget:
  int64_t budget = 0;               ///< 0: none
  int64_t branch_weight_bytes = 0;  ///< bytes that plans asked for: parts and pinned weights
  int64_t pinned_bytes = 0;         ///< bytes of these that are kept for good, of the budget (budget_share.h)
  int64_t slot_bytes = 0;           ///< allocated for the others
  int64_t ready_bytes = 0;          ///< parts that are there now
  int64_t reads = 0;                ///< parts that were read
  int64_t bytes_read = 0;           ///< bytes of these as the source stores them; 0 if it draws them
  int64_t bytes_filled = 0;         ///< bytes of the slots that they were laid out in
  int64_t evictions = 0;
  double stall_seconds = 0;  ///< time that somebody waited for a part
};

/// A budget that no model exceeds, in bytes: the weights of branches are parts, and all of them have slots.
inline constexpr int64_t kBudgetForAll = int64_t{1} << 62;

/// Handles, not pointers: a weight may be requested long before it is loaded, and evicted while plans that know it
/// live.
class WeightStore {
 public:
  /// `budget`: bytes that parts may take; 0: as many as there are.
  WeightStore(Device& device, std::shared_ptr<const WeightSource> source, int64_t budget = 0);
  ~WeightStore();

  /// The handle of a weight; loads nothing. Throws Error if the source does not have it. A weight asked for without a
  /// group, or for two of them, is dense from there on.
  WeightHandle request(const WeightKey& key) { return request(key, nullptr, PartResidency::streamed); }
  WeightHandle request(const WeightKey& key, const BranchGroup& group,
                       PartResidency residency = PartResidency::streamed) {
    return request(key, &group, residency);
  }
  bool is_part(WeightHandle handle) const;
  /// A dense weight, or a part that is ready.
  bool is_loaded(WeightHandle handle) const { return bool(address(handle)); }
  /// An executable reads these weights from retain() to release(). After the last release a weight counts as not
  /// requested, and arrange() frees its memory.
  void retain(const std::vector<WeightHandle>& handles);
  void release(const std::vector<WeightHandle>& handles);

  // Dense weights, loaded on the calling thread.
  void load(WeightHandle handle, const CancellationToken& cancel = {});
  void load(const std::vector<WeightHandle>& handles, const Progress& progress = {});
  DeviceAddress address(WeightHandle handle) const;
  WeightKey key(WeightHandle handle) const;
  /// Bytes it takes, or will take, on the device: exact before it is loaded, too.
  int64_t bytes(WeightHandle handle) const;

  // Parts.
  using NextUse = PartSlots::NextUse;
  /// Throws Error(bad_input) that names the option where the budget is below the largest part of those asked for.
  void check_budget() const;
  /// Bytes of pinned weights and of the largest part, since a step waits for one part at a time: the least budget with
  /// which everything runs. 0: no weight of a branch was asked for.
  int64_t least_budget() const;
  /// Bytes of the budget that pinned weights take, or will take: the rest is for slots.
  int64_t planned_pinned_bytes() const;
  /// Bytes of the slots for the parts asked for so far; 0 without a budget.
  int64_t planned_slot_bytes() const;
  /// Slots that were allocated.
  int64_t slot_count() const;
  /// The parts asked for so far.
  std::vector<WeightHandle> parts() const;
  /// Those parts, and pinned weights of branches.
  std::vector<WeightHandle> weights_of_branches() const;
  /// Frees what nobody reads any more, and allocates slots for the parts requested so far. If these need other slots
  /// than before, it waits until no part is busy, and makes all slots anew, empty. Throws as check_budget(), and as the
  /// token says.
  void arrange(const CancellationToken& cancel = {});
  /// Lets a thread of the store read the part, if it is not there. False: PartSlots::give() found no slot.
  bool fetch_ahead(WeightHandle handle, const NextUse& next_use);
  /// The same for a part that the caller waits for. False: every slot is busy, or holds a part that is used as soon.
  /// The call has waited until that may have changed. The caller then looks again at what it needs: it may be able to
  /// compute with the parts that have come, before they give way. Throws as the token says.
  bool fetch_now(WeightHandle handle, const NextUse& next_use, const CancellationToken& cancel);
  /// Drops the requests that no reader has begun, because nobody is left to use those parts. Their slots are empty. A
  /// caller that waits in hold() for one of them requests it again.
  void drop_waiting();
  /// Waits until the part is there, for a slot too if it has none, and begins to use it. Throws what reading it failed
  /// with, and as the token says.
  void hold(WeightHandle handle, const NextUse& next_use, const CancellationToken& cancel);
  /// Counts as a use: among parts whose next use is equally far, the least recently used gives way.
  void touch(WeightHandle handle);

  /// Gives a submission what it may use: dense weights that are loaded, and ready parts, which are in use from then on
  /// and added to `in_use`. False: nothing changed since the call that set `version`, and there are no parts; `table`
  /// is left as it is.
  bool take(std::vector<DeviceAddress>& table, std::vector<WeightHandle>& in_use, uint64_t& version);
  /// Address of the table that the device reads: one for all that run on it, one at a time. It holds as many addresses
  /// as the last take() gave. Its content means nothing after a handle was added.
  DeviceAddress device_table();
  /// Call it once for each part that take() added and for each hold().
  void end_use(const std::vector<WeightHandle>& in_use);

  int64_t budget() const { return budget_; }
  WeightCounters counters() const;
  double load_seconds() const;
  const WeightSource& source() const { return *source_; }

 private:
  /// One reading. Whoever waits for it keeps the ticket.
  struct Ticket {
    bool done = false;
    std::exception_ptr failure;
  };

  WeightHandle request(const WeightKey& key, const BranchGroup* group, PartResidency residency);
  BudgetShare share() const;
  void ask_again(WeightHandle handle, std::optional<BranchGroup> group, bool pinned);
  void drop_dense(WeightHandle handle);
  void load_dense(WeightHandle handle, std::unique_lock<std::mutex>& lock, const CancellationToken& cancel);
  void check_budget_locked() const;
  bool start(WeightHandle handle, const NextUse& next_use, PartNeed need);
  bool fetch_locked(WeightHandle handle, const NextUse& next_use, PartNeed need, std::unique_lock<std::mutex>& lock,
                    const CancellationToken& cancel);
  void read_part(WeightHandle handle);

  Device& device_;
  std::shared_ptr<const WeightSource> source_;
  const int64_t budget_;
  std::mutex loading_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  WeightList list_;
  std::map<WeightHandle, std::unique_ptr<DeviceBuffer>> dense_;  // those that are loaded
  PartSlots slots_{list_};
  std::map<WeightHandle, std::shared_ptr<Ticket>> tickets_;  // tickets of parts that are being read
  double load_seconds_ = 0;
  WeightCounters counters_;
  std::unique_ptr<DeviceBuffer> table_;
  std::unique_ptr<WeightReaders> readers_;  // last: its threads use the others
};

/// The weights that an executable reads, as long as it lives. The store must outlive it.
class RetainedWeights {
 public:
  RetainedWeights(WeightStore& store, std::vector<WeightHandle> handles) : store_(store), handles_(std::move(handles)) {
    store_.retain(handles_);
  }
  ~RetainedWeights() { store_.release(handles_); }
  RetainedWeights(const RetainedWeights&) = delete;
  RetainedWeights& operator=(const RetainedWeights&) = delete;

 private:
  WeightStore& store_;
  const std::vector<WeightHandle> handles_;
};

}  // namespace stormcell
