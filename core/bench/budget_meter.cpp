#include "core/bench/budget_meter.h"

#include <algorithm>

#include "core/base/numbers.h"
#include "core/machine/memory.h"
#include "core/summary/budget_text.h"

namespace stormcell {

TimedReads& TimedReads::operator+=(const TimedReads& other) {
  executions += other.executions, reads += other.reads;
  bytes_read += other.bytes_read, bytes_filled += other.bytes_filled;
  stall_seconds += other.stall_seconds, milliseconds += other.milliseconds;
  return *this;
}

std::optional<WeightsRead> TimedReads::mean() const {
  if (executions == 0) return {};
  const auto each = [this](auto sum) { return static_cast<double>(sum) / executions; };
  return WeightsRead{executions, each(reads), each(bytes_read), each(stall_seconds * 1e3),
                     milliseconds > 0 ? std::min(1.0, stall_seconds * 1e3 / milliseconds) : 0};
}

BudgetMeter::BudgetMeter(const WeightStore& store) {
  if (store.budget() == 0) return;
  store_ = &store;
  before_ = store.counters();
}

void BudgetMeter::add_execution() {
  if (!store_) return;
  ++executions_;
  if (ended_) return;
  const HeldMemory held = held_memory();
  if (held.bytes > most_held_) most_held_ = held.bytes, of_group_ = held.of_group;
}

BudgetMeter::Timed::Timed(BudgetMeter& meter, int64_t batch) : meter_(meter) {
  if (!meter.store_) return;
  meter.timed_batches_.insert(batch);
  before_ = meter.store_->counters();
  if (meter.timed_.executions == 0)
    meter.untimed_ = meter.executions_, meter.untimed_filled_ = before_.bytes_filled - meter.before_.bytes_filled;
}
TimedReads BudgetMeter::Timed::end(double milliseconds) const {
  if (!meter_.store_) return {};
  const WeightCounters now = meter_.store_->counters();
  const TimedReads read{1,
                        now.reads - before_.reads,
                        now.bytes_read - before_.bytes_read,
                        now.bytes_filled - before_.bytes_filled,
                        now.stall_seconds - before_.stall_seconds,
                        milliseconds};
  meter_.timed_ += read;
  return read;
}

int64_t BudgetMeter::settling_batches() const {
  if (!store_ || executions_ == 0) return 1;
  const WeightCounters now = store_->counters();
  if (now.evictions == before_.evictions) return 1;
  // The first executions fill the slots, whatever comes.
  const int64_t again = std::max<int64_t>(now.bytes_filled - before_.bytes_filled - now.slot_bytes, 1);
  return 1 + static_cast<int64_t>(static_cast<double>(now.slot_bytes) * executions_ / again);
}

void BudgetMeter::restart() {
  if (!store_) return;
  *this = BudgetMeter(*store_);
  reset_peak_resident_memory();
}

std::string BudgetMeter::so_far() const {
  if (!store_) return {};
  const WeightCounters now = store_->counters();
  return reads_text(now.reads - before_.reads, now.bytes_read - before_.bytes_read,
                    now.stall_seconds - before_.stall_seconds);
}

std::optional<BudgetFigures> BudgetMeter::figures(int64_t arena_bytes) const {
  if (!store_) return {};
  const WeightCounters now = store_->counters();
  BudgetFigures f;
  f.budget_bytes = now.budget;
  f.dense_bytes = now.dense_bytes;
  f.expert_bytes = now.branch_weight_bytes;
  f.slot_bytes = now.slot_bytes, f.pinned_bytes = now.pinned_bytes, f.arena_bytes = arena_bytes;
  f.executions = executions_;
  f.readers = kWeightReaders;
  f.reads = now.reads - before_.reads;
  f.bytes_read = now.bytes_read - before_.bytes_read;
  f.bytes_filled = now.bytes_filled - before_.bytes_filled;
  f.evictions = now.evictions - before_.evictions;
  f.stall_seconds = now.stall_seconds - before_.stall_seconds;
  f.measured_executions = timed_.executions;
  f.measured_reads = timed_.reads;
  f.measured_bytes_read = timed_.bytes_read;
  f.measured_stall_seconds = timed_.stall_seconds;
  f.held_bytes = most_held_;
  f.held_counted = of_group_ ? "control group" : "process";
  // The kernel's peak lags behind by some pages of each thread.
  f.peak_bytes = peak_ > 0 && !of_group_ ? std::max(peak_, most_held_) : peak_;
  return f;
}

std::vector<std::string> BudgetMeter::warnings() const {
  if (!store_) return {};
  const WeightCounters now = store_->counters();
  if (now.branch_weight_bytes == 0)
    return {
        "--weight-budget has no effect: no weight of this model belongs to a single branch, so all of them are loaded"};
  std::vector<std::string> list;
  const bool one_batch = timed_batches_.size() == 1;
  if (timed_.executions > 1 && one_batch && now.slot_bytes < now.branch_weight_bytes)
    list.emplace_back(
        "one batch was timed, again and again: each execution found in the slots what the one before it left of the "
        "same batch, and on "
        "other batches more is read");
  // The first executions fill the slots, whatever comes.
  constexpr double kLess = 0.5;
  const auto each = [](int64_t bytes, int64_t executions) { return executions > 0 ? bytes / executions : 0; };
  const int64_t before = each(std::max<int64_t>(untimed_filled_ - now.slot_bytes, 0), untimed_),
                timed = each(timed_.bytes_filled, timed_.executions);
  if (timed_.executions > 0 && !one_batch && static_cast<double>(timed) < kLess * static_cast<double>(before))
    list.push_back("the timed executions found more in the slots than the data's batches do one after another: " +
                   to_text(Bytes(timed)) + " of slots were filled in each, beside " + to_text(Bytes(before)) +
                   " before; measure longer");
  return list;
}

}  // namespace stormcell
