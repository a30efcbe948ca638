#include "core/runtime/weight_store.h"

#include <algorithm>
#include <chrono>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/base/numbers.h"

namespace stormcell {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);  // of a cancellation token

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

WeightStore::WeightStore(Device& device, std::shared_ptr<const WeightSource> source, int64_t budget)
    : device_(device), source_(std::move(source)), budget_(budget) {
  if (budget_ < 0) bad_input("--weight-budget", std::to_string(budget), "give a number of bytes above 0");
  counters_.budget = budget_;
}

WeightStore::~WeightStore() { readers_.reset(); }

int32_t WeightStore::request(const WeightKey& key, const BranchGroup* group) {
  const std::lock_guard lock(mutex_);
  if (const auto at = index_.find(key); at != index_.end()) {
    Entry& known = entry(at->second);
    if (!known.dense && (!group || *group != known.group)) {
      // From here on somebody reads it who does not stand in its branch.
      if (known.slot >= 0 && !known.ticket && known.pins == 0) leave_slot(known);
      known.dense = true;
    }
    return at->second;
  }
  const WeightInfo* info = source_->find(key.tensor);
  if (!info) failed("weights", "no tensor " + key.tensor);
  Entry e;
  e.key = key;
  e.bytes = device_.weight_bytes(key, *info);
  if (group) e.dense = false, e.group = *group;
  entries_.push_back(std::move(e));
  const auto handle = static_cast<int32_t>(entries_.size()) - 1;
  index_.emplace(key, handle);
  ++version_;
  return handle;
}

bool WeightStore::is_part(int32_t handle) const {
  const std::lock_guard lock(mutex_);
  return is_part(entry(handle));
}
DeviceAddress WeightStore::address(int32_t handle) const {
  const std::lock_guard lock(mutex_);
  return entry(handle).address;
}
WeightKey WeightStore::key(int32_t handle) const {
  const std::lock_guard lock(mutex_);
  return entry(handle).key;
}
int64_t WeightStore::bytes(int32_t handle) const {
  const std::lock_guard lock(mutex_);
  return entry(handle).bytes;
}
bool WeightStore::ready(int32_t handle) const { return loaded(handle); }
void WeightStore::touch(int32_t handle) {
  const std::lock_guard lock(mutex_);
  entry(handle).used = ++clock_;
}
double WeightStore::load_seconds() const {
  const std::lock_guard lock(mutex_);
  return load_seconds_;
}

// Dense weights ----------------------------------------------------------------------------------------------------------------------

void WeightStore::load_dense(int32_t handle, std::unique_lock<std::mutex>& lock) {
  Entry& e = entry(handle);
  const auto begin = std::chrono::steady_clock::now();
  const WeightKey key = e.key;
  lock.unlock();
  std::unique_ptr<DeviceBuffer> buffer = device_.load_weight(key, *source_);
  lock.lock();
  // A part that became dense may lie in a slot still, and somebody may compute with it: the slot is free when nobody does.
  changed_.wait(lock, [&] { return !e.ticket && e.pins == 0; });
  if (e.slot >= 0) leave_slot(e);
  e.buffer = std::move(buffer);
  e.address = e.buffer->address();
  e.bytes = e.buffer->bytes();
  e.dense = true;
  counters_.dense_bytes += e.bytes;
  ++version_;
  load_seconds_ += seconds_since(begin);
}

void WeightStore::load(int32_t handle) {
  const std::lock_guard one(loading_);
  std::unique_lock lock(mutex_);
  if (!entry(handle).buffer) load_dense(handle, lock);
}

void WeightStore::load(const std::vector<int32_t>& handles, const Progress& progress) {
  int64_t done = 0;
  for (const int32_t handle : handles) {
    progress.report("loading weights", done++, static_cast<int64_t>(handles.size()));
    load(handle);
  }
}

// Slots ------------------------------------------------------------------------------------------------------------------------------

std::map<int64_t, int64_t> WeightStore::part_sizes() const {
  std::map<int64_t, int64_t> sizes;
  for (const Entry& e : entries_)
    if (is_part(e)) ++sizes[e.bytes];
  return sizes;
}

std::pair<int64_t, BranchGroup> WeightStore::largest_branch() const {
  std::map<BranchGroup, int64_t> groups;
  for (const Entry& e : entries_)
    if (is_part(e)) groups[e.group] += align_up(e.bytes);
  std::pair<int64_t, BranchGroup> largest;
  for (const auto& [group, bytes] : groups)
    if (bytes > largest.first) largest = {bytes, group};
  return largest;
}

void WeightStore::check_budget_locked() const {
  const auto [bytes, group] = largest_branch();
  if (bytes > budget_)
    bad_input("--weight-budget",
              to_text(Bytes(budget_)) + " are less than branch " + std::to_string(group.branch) + " of router " + group.router +
                  " needs, " + to_text(Bytes(bytes)),
              "give at least " + std::to_string(bytes) + " bytes");
}
void WeightStore::check_budget() const {
  const std::lock_guard lock(mutex_);
  check_budget_locked();
}

int64_t WeightStore::least_budget() const {
  const std::lock_guard lock(mutex_);
  return largest_branch().first;
}

int64_t WeightStore::planned_slot_bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const SlotClass& c : slot_classes(part_sizes(), budget_)) bytes += c.bytes * c.count;
  return bytes;
}
int64_t WeightStore::largest_part() const {
  const std::lock_guard lock(mutex_);
  const std::map<int64_t, int64_t> sizes = part_sizes();
  return sizes.empty() ? 0 : sizes.rbegin()->first;
}

void WeightStore::arrange() {
  std::unique_lock lock(mutex_);
  const std::map<int64_t, int64_t> sizes = part_sizes();
  if (sizes.empty()) return;
  check_budget_locked();
  const std::vector<SlotClass> classes = slot_classes(sizes, budget_);
  if (classes == classes_) return;
  changed_.wait(lock, [&] {
    return std::all_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.slot < 0 || (!e.ticket && e.pins == 0); });
  });
  for (Entry& e : entries_)
    if (e.slot >= 0) leave_slot(e);
  slots_.clear(), classes_.clear(), counters_.slot_bytes = 0;
  for (const SlotClass& c : classes) {
    SlotsOfClass& made = slots_.emplace_back();
    made.of = c;
    made.memory = device_.allocate(c.bytes * c.count, "weights of branches");
    for (int64_t i = 0; i < c.count; ++i) made.places.push_back({made.memory->address() + i * c.bytes, -1});
    counters_.slot_bytes += c.bytes * c.count;
  }
  classes_ = classes;
  // Two, so that one reads while the other packs.
  if (!readers_) readers_ = std::make_unique<WeightReaders>(2, [this](int32_t handle) { read_part(handle); });
}

WeightStore::Slot& WeightStore::slot_of(const Entry& e) {
  return slots_[static_cast<size_t>(class_of(classes_, e.bytes))].places[static_cast<size_t>(e.slot)];
}

void WeightStore::leave_slot(Entry& e) {
  slot_of(e).holds = -1;
  e.slot = -1;
  if (e.address) counters_.resident_bytes -= e.bytes;
  e.address = {};
  ++version_;
}

/// Of the class that the part belongs to: an empty one; else the one whose part is used last, of those the one that was used longest ago.
WeightStore::Slot* WeightStore::find_slot(int32_t handle, const NextUse& next_use, bool needed) {
  if (class_of(classes_, entry(handle).bytes) < 0) failed("weight " + entry(handle).key.tensor, "no memory was set aside for it");
  std::vector<Slot>& slots = slots_[static_cast<size_t>(class_of(classes_, entry(handle).bytes))].places;
  const int64_t mine = needed ? -1 : next_use(handle);
  Slot* found = nullptr;
  int64_t latest = 0;
  for (Slot& slot : slots) {
    if (slot.holds < 0) return &slot;
    const Entry& held = entry(slot.holds);
    if (held.ticket || held.pins > 0) continue;
    const int64_t use = next_use(slot.holds);
    if (use <= mine) continue;
    if (!found || use > latest || (use == latest && held.used < entry(found->holds).used)) found = &slot, latest = use;
  }
  return found;
}

bool WeightStore::start(int32_t handle, const NextUse& next_use, bool needed) {
  Slot* const slot = find_slot(handle, next_use, needed);
  if (!slot) return false;
  if (slot->holds >= 0) {
    leave_slot(entry(slot->holds));
    ++counters_.evictions;
  }
  slot->holds = handle;
  Entry& e = entry(handle);
  e.slot = static_cast<int32_t>(slot - slots_[static_cast<size_t>(class_of(classes_, e.bytes))].places.data());
  e.ticket = std::make_shared<Ticket>();
  readers_->put(handle, needed);
  return true;
}

bool WeightStore::fetch(int32_t handle, const NextUse& next_use, bool needed) {
  const std::lock_guard lock(mutex_);
  Entry& e = entry(handle);
  if (e.address) return true;
  if (!e.ticket) return start(handle, next_use, needed);
  if (needed) readers_->hurry(handle);
  return true;
}

/// On a thread of the readers.
void WeightStore::read_part(int32_t handle) {
  WeightKey key;
  DeviceAddress to;
  {
    const std::lock_guard lock(mutex_);
    key = entry(handle).key;
    to = slot_of(entry(handle)).address;
  }
  std::exception_ptr failure;
  try {
    device_.load_weight_to(key, *source_, to);
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  Entry& e = entry(handle);
  e.ticket->done = true;
  e.ticket->failure = failure;
  e.ticket.reset();
  if (failure) {
    leave_slot(e);
  } else {
    e.address = to;
    e.used = ++clock_;
    counters_.resident_bytes += e.bytes;
    counters_.bytes_read += e.bytes;
    ++counters_.reads;
    ++version_;
  }
  changed_.notify_all();
}

void WeightStore::hold(int32_t handle, const NextUse& next_use, const CancellationToken& cancel) {
  std::unique_lock lock(mutex_);
  Entry& e = entry(handle);
  const auto begin = std::chrono::steady_clock::now();
  const bool waits = !e.address;
  while (!e.address) {
    const bool joins = e.ticket != nullptr;
    if (!joins && !start(handle, next_use, true)) {
      // All slots are pinned or being read: until one is not.
      changed_.wait_for(lock, kPoll);
      cancel.check();
      continue;
    }
    readers_->hurry(handle);
    const std::shared_ptr<Ticket> ticket = e.ticket;
    while (!changed_.wait_for(lock, kPoll, [&] { return ticket->done; })) cancel.check();
    // What failed before anybody asked may be there now.
    if (ticket->failure && !joins) std::rethrow_exception(ticket->failure);
  }
  if (waits) counters_.stall_seconds += seconds_since(begin);
  ++e.pins;
  e.used = ++clock_;
}

bool WeightStore::take(std::vector<DeviceAddress>& table, std::vector<int32_t>& pinned, uint64_t& version) {
  if (budget_ == 0 && version == version_.load()) return false;
  const std::lock_guard lock(mutex_);
  version = version_;
  table.resize(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& e = entries_[i];
    table[i] = e.address;
    if (e.slot < 0 || !e.address) continue;
    ++e.pins;
    pinned.push_back(static_cast<int32_t>(i));
  }
  return true;
}

DeviceAddress WeightStore::device_table() {
  const std::lock_guard lock(mutex_);
  const auto bytes = static_cast<int64_t>(entries_.size() * sizeof(DeviceAddress));
  if (!table_ || table_->bytes() < bytes) {
    table_.reset();
    table_ = device_.allocate(bytes, "addresses of weights");
  }
  return table_->address();
}

void WeightStore::unpin(const std::vector<int32_t>& pinned) {
  if (pinned.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    for (const int32_t handle : pinned) --entry(handle).pins;
  }
  changed_.notify_all();
}

WeightCounters WeightStore::counters() const {
  const std::lock_guard lock(mutex_);
  WeightCounters now = counters_;
  for (const Entry& e : entries_)
    if (is_part(e)) now.part_bytes += e.bytes;
  return now;
}

}  // namespace stormcell
