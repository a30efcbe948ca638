// What a budget for weights did while a verb ran.
#pragma once
#include <optional>

#include "core/runtime/weight_store.h"
#include "core/summary/results.h"

namespace stormcell {

class BudgetMeter {
 public:
  /// Of a store without a budget: there is nothing to tell.
  BudgetMeter() = default;
  /// The store must outlive it.
  explicit BudgetMeter(const WeightStore& store);
  /// After each execution.
  void add_execution();
  /// From here on.
  void restart();
  /// Since the meter was made or restarted. Nothing without a budget.
  std::optional<BudgetFigures> figures() const;

 private:
  const WeightStore* store_ = nullptr;  // null: no budget
  WeightCounters before_;
  int64_t executions_ = 0, most_held_ = 0;
  bool of_group_ = false;
};

}  // namespace stormcell
