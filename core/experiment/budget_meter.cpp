#include "core/experiment/budget_meter.h"

#include "core/machine/memory.h"

namespace stormcell {

BudgetMeter::BudgetMeter(const WeightStore& store) {
  if (store.budget() == 0) return;
  store_ = &store;
  before_ = store.counters();
}

void BudgetMeter::add_execution() {
  if (!store_) return;
  ++executions_;
  const HeldMemory held = held_memory();
  if (held.bytes > most_held_) most_held_ = held.bytes, of_group_ = held.of_group;
}

void BudgetMeter::restart() {
  if (store_) *this = BudgetMeter(*store_);
}

std::optional<BudgetFigures> BudgetMeter::figures() const {
  if (!store_) return {};
  const WeightCounters now = store_->counters();
  BudgetFigures f;
  f.budget_bytes = now.budget;
  f.dense_bytes = now.dense_bytes;
  f.expert_bytes = now.part_bytes;
  f.slot_bytes = now.slot_bytes;
  f.executions = executions_;
  f.reads = now.reads - before_.reads;
  f.bytes_read = now.bytes_read - before_.bytes_read;
  f.evictions = now.evictions - before_.evictions;
  f.stall_seconds = now.stall_seconds - before_.stall_seconds;
  f.held_bytes = most_held_;
  f.held_counted = of_group_ ? "control group" : "process";
  return f;
}

}  // namespace stormcell
