// The work of --weight-budget in words, for every page and table that shows it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

/// "286 reads, 17.9 MiB, waited 0.016 s"; "286 drawn, waited ..." where the weights are drawn and no file is read.
std::string reads_text(int64_t reads, int64_t bytes, double stall_seconds);

/// "an execution reads 42.3 weights of branches, 5.1 MiB of files, and waits 12 ms for them, 23 % of its time".
std::string weights_read_text(const WeightsRead& read);

/// Bytes that were to be held beside the program itself: other weights, room for those of branches, arena.
int64_t planned_bytes(const BudgetFigures& budget);

/// A plan that reads weights, by the name that a page gives it.
struct ReadingPlan {
  std::string name;  ///< "baseline", "optimised"; empty: there is one
  WeightsRead read;
  int64_t batches = 0;  ///< batches of the data that were timed; 0: not known
};
/// The plans that may be shown: one that is not verified has nothing to show beside the baseline. Empty without a
/// budget.
std::vector<ReadingPlan> reading_plans(const RunSummaryFigures& figures);
std::vector<ReadingPlan> reading_plans(const GenerateFigures& figures);

struct BudgetLine {
  std::string name, text;
};
/// A line each for the weights that stayed, the reads and waits of an execution of each plan, the work of all
/// executions, and the memory held beside the memory planned.
std::vector<BudgetLine> budget_lines(const BudgetFigures& budget, const std::vector<ReadingPlan>& plans);

/// "512.0 MiB for weights of branches": what tells a run under a budget from others.
std::string budget_word(int64_t budget_bytes);

}  // namespace stormcell
