#include "core/runtime/weight_store.h"

#include <chrono>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/base/reused_memory.h"

namespace stormcell {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);  // interval at which a cancellation token is polled

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

WeightStore::WeightStore(Device& device, std::shared_ptr<const WeightSource> source, int64_t budget)
    : device_(device), source_(std::move(source)), budget_(budget) {
  if (budget_ < 0) bad_input("--weight-budget", std::to_string(budget), "give a number of bytes above 0");
}

WeightStore::~WeightStore() { readers_.reset(); }

// Requests
// -----------------------------------------------------------------------------------------------------------------

WeightHandle WeightStore::request(const WeightKey& key, const BranchGroup* group, PartResidency residency) {
  const std::lock_guard lock(mutex_);
  const bool pinned = budget_ > 0 && residency == PartResidency::pinned;
  if (const std::optional<WeightHandle> known = list_.find(key); known && !list_[*known].asked) {
    ask_again(*known, group && budget_ > 0 && !pinned ? std::optional(*group) : std::nullopt, pinned);
    return *known;
  } else if (known) {
    const std::optional<BranchGroup>& its = list_[*known].group;
    if (its && (!group || *group != *its || pinned)) {
      if (!slots_.is_busy(*known)) slots_.leave(*known);
      list_.make_dense(*known, pinned);
    }
    return *known;
  }
  const WeightInfo* info = source_->find(key.tensor);
  if (!info) failed("weights", "no tensor " + key.tensor);
  ListedWeight asked{key, device_.weight_bytes(key, *info), {}, false};
  if (pinned)
    asked.pinned = true;
  else if (group && budget_ > 0)
    asked.group = *group;
  return list_.add(std::move(asked));
}

/// It may be a part now and have been dense, or the reverse.
void WeightStore::ask_again(WeightHandle handle, std::optional<BranchGroup> group, bool pinned) {
  const ListedWeight& was = list_[handle];
  if (was.is_part() && !group && !slots_.is_busy(handle)) slots_.leave(handle);
  if (!was.is_part() && (group || was.pinned != pinned)) drop_dense(handle);
  list_.ask_again(handle, std::move(group), pinned);
}

void WeightStore::retain(const std::vector<WeightHandle>& handles) {
  const std::lock_guard lock(mutex_);
  for (const WeightHandle handle : handles) list_.add_reader(handle);
}
void WeightStore::release(const std::vector<WeightHandle>& handles) {
  const std::lock_guard lock(mutex_);
  for (const WeightHandle handle : handles) list_.remove_reader(handle);
}

bool WeightStore::is_part(WeightHandle handle) const {
  const std::lock_guard lock(mutex_);
  return list_[handle].is_part();
}
DeviceAddress WeightStore::address(WeightHandle handle) const {
  const std::lock_guard lock(mutex_);
  return list_.address(handle);
}
WeightKey WeightStore::key(WeightHandle handle) const {
  const std::lock_guard lock(mutex_);
  return list_[handle].key;
}
int64_t WeightStore::bytes(WeightHandle handle) const {
  const std::lock_guard lock(mutex_);
  return list_[handle].bytes;
}

// Dense weights
// ----------------------------------------------------------------------------------------------------------------------

void WeightStore::drop_dense(WeightHandle handle) {
  const auto loaded = dense_.find(handle);
  if (loaded == dense_.end()) return;
  (list_[handle].pinned ? counters_.pinned_bytes : counters_.dense_bytes) -= loaded->second->bytes();
  list_.set_address(handle, {});
  dense_.erase(loaded);
}

void WeightStore::load_dense(WeightHandle handle, std::unique_lock<std::mutex>& lock, const CancellationToken& cancel) {
  const auto begin = std::chrono::steady_clock::now();
  const WeightKey key = list_[handle].key;
  lock.unlock();
  std::unique_ptr<DeviceBuffer> buffer = device_.load_weight(key, *source_);
  lock.lock();
  // A part that became dense may still be in a slot, and a submission may use it. The slot is free when none does.
  while (!changed_.wait_for(lock, kPoll, [&] { return !slots_.is_busy(handle); })) cancel.check();
  const DeviceBuffer& loaded = *dense_.emplace(handle, std::move(buffer)).first->second;
  slots_.leave(handle);
  list_.set_address(handle, loaded.address());
  (list_[handle].pinned ? counters_.pinned_bytes : counters_.dense_bytes) += loaded.bytes();
  load_seconds_ += seconds_since(begin);
}

void WeightStore::load(WeightHandle handle, const CancellationToken& cancel) {
  const std::lock_guard one(loading_);
  std::unique_lock lock(mutex_);
  if (!dense_.contains(handle)) load_dense(handle, lock, cancel);
}

void WeightStore::load(const std::vector<WeightHandle>& handles, const Progress& progress) {
  const ReusedMemory reused;  // one is read after another
  int64_t done = 0;
  for (const WeightHandle handle : handles) {
    progress.report("loading weights", done++, std::ssize(handles));
    load(handle, progress.cancel);
  }
}

// The budget
// -------------------------------------------------------------------------------------------------------------------------

BudgetShare WeightStore::share() const { return {budget_, list_.pinned_bytes()}; }

void WeightStore::check_budget_locked() const {
  const auto [bytes, group] = list_.largest_part();
  share().check(bytes, group);
}
void WeightStore::check_budget() const {
  const std::lock_guard lock(mutex_);
  check_budget_locked();
}

int64_t WeightStore::least_budget() const {
  const std::lock_guard lock(mutex_);
  return share().pinned + list_.largest_part().first;
}

int64_t WeightStore::planned_pinned_bytes() const {
  const std::lock_guard lock(mutex_);
  return list_.pinned_bytes();
}

int64_t WeightStore::planned_slot_bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const SlotClass& c : slot_classes(list_.part_sizes(), share().room())) bytes += c.bytes * c.count;
  return bytes;
}

std::vector<WeightHandle> WeightStore::parts() const {
  const std::lock_guard lock(mutex_);
  std::vector<WeightHandle> parts;
  for (const WeightHandle handle : list_.addresses().ids())
    if (list_[handle].asked && list_[handle].is_part()) parts.push_back(handle);
  return parts;
}

std::vector<WeightHandle> WeightStore::weights_of_branches() const {
  const std::lock_guard lock(mutex_);
  std::vector<WeightHandle> weights;
  for (const WeightHandle handle : list_.addresses().ids())
    if (list_[handle].asked && (list_[handle].is_part() || list_[handle].pinned)) weights.push_back(handle);
  return weights;
}

int64_t WeightStore::slot_count() const {
  const std::lock_guard lock(mutex_);
  return slots_.count();
}

void WeightStore::arrange(const CancellationToken& cancel) {
  std::unique_lock lock(mutex_);
  check_budget_locked();
  for (const WeightHandle handle : list_.addresses().ids())
    if (!list_[handle].asked) drop_dense(handle);
  const std::vector<SlotClass> classes = slot_classes(list_.part_sizes(), share().room());
  if (classes == slots_.classes()) return;
  while (!changed_.wait_for(lock, kPoll, [&] { return !slots_.any_busy(); })) cancel.check();
  if (!readers_)
    readers_ = std::make_unique<WeightReaders>(kWeightReaders, [this](WeightHandle handle) { read_part(handle); });
  slots_.arrange(device_, classes);
}

// Reading parts
// ----------------------------------------------------------------------------------------------------------------------

/// Makes all other allocations before it takes the slot, because they may fail. A part with a slot counts as being
/// read, and whoever waits for it relies on a reader.
bool WeightStore::start(WeightHandle handle, const NextUse& next_use, PartNeed need) {
  std::list<WeightHandle> asked = {handle};
  const auto ticket = tickets_.emplace(handle, std::make_shared<Ticket>()).first;
  bool given = false;
  try {
    given = slots_.give(handle, next_use, need);
  } catch (...) {
    tickets_.erase(ticket);
    throw;
  }
  if (given) {
    readers_->put(std::move(asked), need != PartNeed::ahead);
  } else {
    tickets_.erase(ticket);
  }
  return given;
}

bool WeightStore::fetch_ahead(WeightHandle handle, const NextUse& next_use) {
  const std::lock_guard lock(mutex_);
  return list_.address(handle) || tickets_.contains(handle) || start(handle, next_use, PartNeed::ahead);
}

/// Fetches a part that is not there, as fetch_now() does.
bool WeightStore::fetch_locked(WeightHandle handle, const NextUse& next_use, PartNeed need,
                               std::unique_lock<std::mutex>& lock, const CancellationToken& cancel) {
  if (tickets_.contains(handle)) {
    readers_->hurry(handle);
    return true;
  }
  if (start(handle, next_use, need)) return true;
  changed_.wait_for(lock, kPoll);
  cancel.check();
  return false;
}

bool WeightStore::fetch_now(WeightHandle handle, const NextUse& next_use, const CancellationToken& cancel) {
  std::unique_lock lock(mutex_);
  if (list_.address(handle)) return true;
  const auto begin = std::chrono::steady_clock::now();
  const bool has_slot = fetch_locked(handle, next_use, PartNeed::now, lock, cancel);
  if (!has_slot) counters_.stall_seconds += seconds_since(begin);
  return has_slot;
}

void WeightStore::drop_waiting() {
  const std::lock_guard lock(mutex_);
  if (!readers_) return;
  for (const WeightHandle handle : readers_->take_waiting()) {
    const auto ticket = tickets_.extract(handle).mapped();
    ticket->done = true;
    slots_.leave(handle);
  }
  changed_.notify_all();
}

/// Runs on a thread of the readers.
void WeightStore::read_part(WeightHandle handle) {
  int64_t stored = 0;
  std::exception_ptr failure;
  try {
    WeightKey key;
    DeviceAddress to;
    {
      const std::lock_guard lock(mutex_);
      key = list_[handle].key;
      to = slots_.slot_address(handle);
    }
    stored = source_->stored_bytes(key.tensor);
    device_.load_weight_to(key, *source_, to);
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  const auto ticket = tickets_.extract(handle).mapped();
  ticket->done = true;
  ticket->failure = std::move(failure);  // a waiting thread destroys it
  if (ticket->failure) {
    slots_.leave(handle);
  } else {
    slots_.fill(handle);
    counters_.bytes_read += stored;
    counters_.bytes_filled += list_[handle].bytes;
    ++counters_.reads;
  }
  changed_.notify_all();
}

void WeightStore::hold(WeightHandle handle, const NextUse& next_use, const CancellationToken& cancel) {
  std::unique_lock lock(mutex_);
  const auto begin = std::chrono::steady_clock::now();
  const bool waits = !list_.address(handle);
  while (!list_.address(handle)) {
    const bool joins = tickets_.contains(handle);
    if (!fetch_locked(handle, next_use, PartNeed::anyway, lock, cancel)) continue;
    const std::shared_ptr<Ticket> ticket = tickets_.at(handle);
    while (!changed_.wait_for(lock, kPoll, [&] { return ticket->done; })) cancel.check();
    // A reading that failed before anybody asked may succeed now.
    if (ticket->failure && !joins) std::rethrow_exception(ticket->failure);
  }
  if (waits) counters_.stall_seconds += seconds_since(begin);
  slots_.begin_use(handle);
}

void WeightStore::touch(WeightHandle handle) {
  const std::lock_guard lock(mutex_);
  slots_.touch(handle);
}

// Use by submissions
// ---------------------------------------------------------------------------------------------------------------

bool WeightStore::take(std::vector<DeviceAddress>& table, std::vector<WeightHandle>& in_use, uint64_t& version) {
  if (budget_ == 0 && version == list_.version()) return false;
  const std::lock_guard lock(mutex_);
  table = list_.addresses();
  version = list_.version();
  slots_.begin_use_of_ready(in_use);
  return true;
}

void WeightStore::end_use(const std::vector<WeightHandle>& in_use) {
  if (in_use.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    for (const WeightHandle handle : in_use) slots_.end_use(handle);
  }
  changed_.notify_all();
}

DeviceAddress WeightStore::device_table() {
  const std::lock_guard lock(mutex_);
  const int64_t bytes = list_.addresses().size() * sizeof(DeviceAddress);
  if (!table_ || table_->bytes() < bytes) {
    table_.reset();
    table_ = device_.allocate(bytes, "addresses of weights");
  }
  return table_->address();
}

WeightCounters WeightStore::counters() const {
  const std::lock_guard lock(mutex_);
  WeightCounters now = counters_;
  now.budget = budget_;
  now.branch_weight_bytes = list_.branch_weight_bytes();
  now.slot_bytes = slots_.bytes();
  now.ready_bytes = slots_.ready_bytes();
  now.evictions = slots_.evictions();
  return now;
}

double WeightStore::load_seconds() const {
  const std::lock_guard lock(mutex_);
  return load_seconds_;
}

}  // namespace stormcell
