#include "core/summary/measured_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/run_kind.h"
#include "core/summary/stated_speedups.h"

namespace stormcell {
namespace {

/// `all`: batches of the data. A time limit can leave some of each part out; both parts then name their whole.
std::string profiled_text(const SplitFigures& s, int64_t measured, int64_t all) {
  if (s.same) return "profiled and measured on the same batch, the only one";
  const int64_t of = s.held_out > 0 ? std::max(all - s.held_out, s.profiled) : s.profiled;
  const std::string profiled =
      s.profiled < of ? fmt::format("{} of {}", s.profiled, counted(of, "batch")) : counted(s.profiled, "batch");
  std::string text = fmt::format("profiled on {} ({}), measured on ", profiled,
                                 s.rule == SplitRule::first ? "the first quarter" : "every fourth");
  const int64_t others = std::max(s.held_out, s.measured);
  if (measured >= others) return text + (others == 1 ? "the other one" : fmt::format("the other {}", others));
  return text + fmt::format("{} of the other {}", measured, others);
}

/// The words "; again in 4 fresh processes, which took 4.1 s", or why there were none. Empty: an older version, or
/// nothing to repeat.
std::string measured_again_text(const RunSummaryFigures& f) {
  if (!f.measured_once.empty())
    return "; measured once, so the spread between runs is not known (" + f.measured_once + ")";
  if (f.measurements.size() < 2 || !f.measured_again_seconds) return {};
  const auto again = std::ssize(f.measurements) - 1;
  const std::string where =
      f.measurements.back().fresh_process
          ? "in " + counted(again, "fresh process", "fresh processes")
          : counted(again, "time", "times") +
                " in this process, which opened the model anew: the program stormcell was not found";
  return fmt::format("; again {}, which took {:.1f} s", where, *f.measured_again_seconds);
}

std::string basis_text(const RunSummaryFigures& f) {
  const std::string whole = "of the time of all batches";
  switch (f.speedup_basis.value_or(RatioBasis::unknown)) {
    case RatioBasis::all_pairs:
      return whole + ", which gain alike: a median over pairs";
    case RatioBasis::batches:
      return whole + ", which gain differently: a median for each batch";
    case RatioBasis::totals:
      return whole + ", by the sums of their times: few executions of each, or batches that gain differently";
    case RatioBasis::unknown:
      return whole;
  }
  return whole;
}

}  // namespace

std::string guards_counted(std::string_view phase) {
  return work_phase(phase) == WorkPhase::decode ? "once a turn, before the first turn once a batch" : "once a batch";
}

std::string measured_text(const RunSummaryFigures& f) {
  if (!f.baseline && !f.optimized) return {};
  const PlanFigures& p = f.baseline ? *f.baseline : *f.optimized;
  if (p.rounds <= 0) return {};
  const std::string on = f.split                          ? profiled_text(*f.split, p.batches, f.dataset.batches)
                         : p.batches >= f.dataset.batches ? "measured on " + counted(p.batches, "batch")
                                                          : fmt::format("measured on {} of {}", with_commas(p.batches),
                                                                        counted(f.dataset.batches, "batch"));
  return on + ", " + counted(p.rounds, "round") + measured_again_text(f);
}

std::string spread_text(const RunSummaryFigures& f) {
  if (f.between_spread)
    return fmt::format("{} measurements, between which it varies by {:.1f} %", f.measurements.size(),
                       100 * *f.between_spread);
  return "one measurement: another run may differ by more than its interval says";
}

std::string speedup_basis_text(const RunSummaryFigures& f) {
  const std::string unknown = unknown_conditions_text(f);
  return basis_text(f) + "; " + spread_text(f) + (unknown.empty() ? "" : "; " + unknown);
}

}  // namespace stormcell
