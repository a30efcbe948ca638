#include "core/summary/budget_text.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/counted.h"
#include "core/base/numbers.h"

namespace stormcell {
namespace {

std::string bytes_text(int64_t bytes) { return to_text(Bytes(bytes)); }

/// Three digits, and never an exponent: "0.0156", "42.3", "1,038".
std::string number_text(double value) {
  if (value >= 100) return with_commas(std::llround(value));
  return value > 0 && value < 1e-3 ? "under 0.001" : fmt::format("{:.3g}", value);
}
std::string seconds_text(double seconds) { return number_text(seconds) + " s"; }
std::string stall_share_text(double share) {
  return share > 0 && share < 1e-3 ? "under 0.1 %" : fmt::format("{:.3g} %", 100 * share);
}

bool all_fit(const BudgetFigures& b) { return b.slot_bytes + b.pinned_bytes >= b.expert_bytes; }

std::string room_text(const BudgetFigures& b) {
  const std::string option = " (--weight-budget " + bytes_text(b.budget_bytes) + ")";
  std::string text = bytes_text(b.expert_bytes) + " in all as they are laid out; ";
  text += all_fit(b) ? "there is room for all of them"
                     : "room for " + bytes_text(b.slot_bytes + b.pinned_bytes) + " at a time";
  if (b.pinned_bytes > 0) text += ", of which " + bytes_text(b.pinned_bytes) + " never change (residency=pinned)";
  return text + option;
}

std::string sum_text(const BudgetFigures& b) {
  const bool drawn = b.reads > 0 && b.bytes_read == 0;
  return with_commas(b.executions) + ", those of the verification too: " + counted(b.reads, "weight") +
         (drawn ? " drawn" : " read") + (drawn ? "" : ", " + bytes_text(b.bytes_read) + " of files") + "; " +
         with_commas(b.evictions) + " took the place of another; waited " + seconds_text(b.stall_seconds) + " for " +
         counted(b.readers, "thread") + (drawn ? " that draw" : " that read") + ", beside those of --threads";
}

std::string planned_text(const BudgetFigures& b) {
  return bytes_text(planned_bytes(b)) + ": other weights, room for those of branches, and " +
         bytes_text(b.arena_bytes) + " of activations and states";
}

std::string held_text(const BudgetFigures& b) {
  const std::string peak =
      b.held_counted == "process" ? " at any time before it" : " resident in the process only, at any time before it";
  return bytes_text(b.held_bytes) +
         " at most after an execution before the verification, with the program and the data, counted by the " +
         b.held_counted + (b.peak_bytes > 0 ? "; " + bytes_text(b.peak_bytes) + peak : "");
}

/// One batch has no order: an execution finds what the one before it left of the same.
std::string timed_text(const ReadingPlan& plan) {
  return with_commas(plan.read.executions) + " timed" +
         (plan.batches == 1 && plan.read.executions > 1 ? ", all of the same batch" : " in the data's order");
}

}  // namespace

std::string reads_text(int64_t reads, int64_t bytes, double stall_seconds) {
  return (reads > 0 && bytes == 0 ? with_commas(reads) + " drawn" : counted(reads, "read") + ", " + bytes_text(bytes)) +
         ", waited " + seconds_text(stall_seconds);
}

std::string weights_read_text(const WeightsRead& read) {
  const std::string waits = read.stall_ms > 0 ? "waits " + number_text(read.stall_ms) + " ms for weights, " +
                                                    stall_share_text(read.stall_share) + " of its time"
                                              : std::string("never waits for weights");
  if (read.reads == 0) return "reads no weight of a branch, for all that it needs is there, and " + waits;
  const bool drawn = read.bytes_read == 0;
  return (drawn ? "draws " : "reads ") + number_text(read.reads) + " weights of branches" +
         (drawn ? std::string() : ", " + bytes_text(std::llround(read.bytes_read)) + " of files,") + " and " + waits;
}

int64_t planned_bytes(const BudgetFigures& b) { return b.dense_bytes + b.slot_bytes + b.pinned_bytes + b.arena_bytes; }

std::vector<ReadingPlan> reading_plans(const RunSummaryFigures& f) {
  std::vector<ReadingPlan> plans;
  const bool both = f.baseline && f.optimized, shown = !(f.baseline && f.verified && !f.verified->passed);
  if (f.baseline && f.baseline->weights_read)
    plans.push_back({both ? "baseline" : "", *f.baseline->weights_read, f.baseline->batches});
  if (shown && f.optimized && f.optimized->weights_read)
    plans.push_back({both ? "optimised" : "", *f.optimized->weights_read, f.optimized->batches});
  return plans;
}

std::vector<ReadingPlan> reading_plans(const GenerateFigures& f) {
  std::vector<ReadingPlan> plans;
  if (f.weights_read) plans.push_back({"", *f.weights_read, f.batches});
  return plans;
}

std::vector<BudgetLine> budget_lines(const BudgetFigures& b, const std::vector<ReadingPlan>& plans) {
  std::vector<BudgetLine> lines;
  lines.push_back({"weights of branches", room_text(b)});
  lines.push_back({"other weights", bytes_text(b.dense_bytes) + ", in memory all the time, beside the budget"});
  for (const ReadingPlan& plan : plans)
    lines.push_back({plan.name.empty() ? "each execution" : "each execution, " + plan.name,
                     weights_read_text(plan.read) + " (mean of " + timed_text(plan) + ")"});
  lines.push_back({"all executions", sum_text(b)});
  lines.push_back({"memory planned", planned_text(b)});
  if (b.held_bytes > 0) lines.push_back({"memory held", held_text(b)});
  return lines;
}

std::string budget_word(int64_t bytes) { return bytes_text(bytes) + " for weights of branches"; }

}  // namespace stormcell
