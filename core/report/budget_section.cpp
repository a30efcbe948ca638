#include "core/base/counted.h"
#include "core/report/html.h"
#include "core/report/sections.h"
#include "core/summary/budget_text.h"

namespace stormcell::report {
namespace {

std::string lead(const BudgetFigures& b) {
  const bool all = b.slot_bytes + b.pinned_bytes >= b.expert_bytes;
  return paragraph(
      "The weights of branches take " + bytes(b.expert_bytes) +
      " in all as they are laid out. Under <code>--weight-budget</code> there was room for " +
      (all ? "all of them"
           : bytes(b.slot_bytes + b.pinned_bytes) + " at a time, and the others were read while batches ran") +
      ". Times on this page are times under this budget: they compare only with those of the same budget.");
}

std::string reads_table(const std::vector<ReadingPlan>& plans) {
  Table table("What an execution reads and waits for, mean", {"plan", "weights of branches", "read from files",
                                                              "waits for weights", "of its time", "executions timed"});
  for (const ReadingPlan& p : plans) {
    const bool drawn = p.read.reads > 0 && p.read.bytes_read == 0;
    table.row({p.name.empty() ? "the run's" : p.name, number(p.read.reads),
               drawn ? "drawn" : bytes(static_cast<int64_t>(p.read.bytes_read)), milliseconds(p.read.stall_ms),
               percent(p.read.stall_share), count(p.read.executions)});
  }
  return table.empty() ? std::string() : table.html();
}

std::string memory_table(const BudgetFigures& b) {
  Table table("Memory under the budget", {"", "bytes"});
  table.row({"budget for weights of branches", bytes(b.budget_bytes)});
  table.row({"weights of branches, all, as they are laid out", bytes(b.expert_bytes)});
  table.row({"room for them that come and go", bytes(b.slot_bytes)});
  if (b.pinned_bytes > 0) table.row({"those that never change (<code>residency=pinned</code>)", bytes(b.pinned_bytes)});
  table.row({"other weights, in memory all the time", bytes(b.dense_bytes)});
  table.row({"activations and states", bytes(b.arena_bytes)});
  table.row({"planned: room, other weights, activations and states", bytes(planned_bytes(b))});
  if (b.held_bytes > 0)
    table.row({"held at most after an execution before the verification, with program and data, counted by the " +
                   escape(b.held_counted),
               bytes(b.held_bytes)});
  if (b.peak_bytes > 0) table.row({"resident in the process at any time before the verification", bytes(b.peak_bytes)});
  return table.html();
}

std::string sums_table(const BudgetFigures& b) {
  Table table("All executions under the budget, those of the verification too", {"", "value"});
  table.row({"executions", count(b.executions)});
  table.row({"weights of branches read", count(b.reads)});
  table.row({"read from files", b.reads > 0 && b.bytes_read == 0 ? "drawn" : bytes(b.bytes_read)});
  table.row({"laid out in memory", bytes(b.bytes_filled)});
  table.row({"took the place of another", count(b.evictions)});
  table.row({"waited for weights", number(b.stall_seconds) + " s"});
  table.row({"threads that read, beside the run's", count(b.readers)});
  return table.details();
}

}  // namespace

std::string budget_section(const ReportData& d) {
  const auto& budget = d.figures.weight_budget;
  if (!budget) return {};
  const std::vector<ReadingPlan> plans = d.decoded ? reading_plans(*d.decoded) : reading_plans(d.figures);
  return section("budget", "Weights under a budget",
                 lead(*budget) + reads_table(plans) + memory_table(*budget) + sums_table(*budget) +
                     paragraph(escape(d.measured()), "note"));
}

}  // namespace stormcell::report
