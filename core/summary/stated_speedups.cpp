#include "core/summary/stated_speedups.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <regex>

namespace stormcell {
namespace {

std::optional<double> moved(const std::array<double, 2>& readings) {
  if (readings[0] <= 0 || readings[1] <= 0) return {};
  return std::max(readings[0], readings[1]) / std::min(readings[0], readings[1]) - 1;
}

/// Versions that kept no share of other processes warned of them: "... other processes kept 1.1 of 2 processors at work".
std::optional<double> load_in_warnings(const std::vector<std::string>& warnings) {
  constexpr const char* kKept = "other processes kept ";
  for (const std::string& warning : warnings) {
    const size_t at = warning.find(kKept);
    double busy = 0, processors = 0;
    if (at == std::string::npos) continue;
    if (std::sscanf(warning.c_str() + at + std::strlen(kKept), "%lf of %lf", &busy, &processors) == 2 && processors > 0)
      return busy / processors;
  }
  return {};
}

std::optional<int64_t> if_any(int64_t count) { return count > 0 ? std::optional(count) : std::nullopt; }

/// Sentences about passes tell speeds, too.
std::string without_speeds(const std::string& reason) {
  const std::string ratio = R"(\d+\.\d+ \[\d+\.\d+, \d+\.\d+\])";
  std::string text = std::regex_replace(reason, std::regex(ratio + " of the speed without it"),
                                        "no gain was seen, not measured well enough to say what it costs");
  text = std::regex_replace(text, std::regex(ratio + " of the baseline's speed"), "no gain that was measured well enough");
  return std::regex_replace(text, std::regex(R"( \()" + ratio + R"(\))"), "");
}

bool states_gain(const PassReport& p) { return p.speedup_alone || p.speedup_own || p.speedup_cumulative; }

void withhold(const SpeedupWithheld& why, PassReport& pass) {
  if (states_gain(pass)) pass.withheld = why;
  pass.clear_gains();
  pass.reason = without_speeds(pass.reason);
}

/// Why the machine was disturbed while the run measured, so that none of its speed-ups may be stated. Empty: it was not.
std::optional<SpeedupWithheld> disturbed(const RunSummaryFigures& f) {
  SpeedupConditions machine = speedup_conditions(f);
  machine.pairs = machine.batches = {};
  return why_withheld(machine);
}

/// Of each process, too.
void clear_speedup(RunSummaryFigures& f) {
  f.speedup = {}, f.speedup_ci95 = {};
  for (MeasuringFigures& m : f.measurings) m.speedup = {}, m.speedup_ci95 = {};
}

}  // namespace

std::optional<SpeedupWithheld> why_withheld(const SpeedupConditions& c) {
  constexpr double kRounding = 1e-12;  // a ratio of 1.15 less 1 is a little more than 0.15
  if (c.ceilings_moved && *c.ceilings_moved > kMostCeilingsMove + kRounding)
    return SpeedupWithheld{WithheldReason::ceilings_moved, *c.ceilings_moved};
  if (c.other_load && *c.other_load >= kMostOtherLoad) return SpeedupWithheld{WithheldReason::others_at_work, *c.other_load};
  if (c.pairs && *c.pairs < kFewestPairs) return SpeedupWithheld{WithheldReason::few_pairs, static_cast<double>(*c.pairs)};
  if (c.gains_alike == false && c.batches && c.held_out && *c.batches < fewest_batches(*c.held_out))
    return SpeedupWithheld{WithheldReason::few_batches, static_cast<double>(*c.batches), static_cast<double>(*c.held_out)};
  return {};
}

SpeedupConditions speedup_conditions(const RunSummaryFigures& f) {
  SpeedupConditions c;
  for (const auto& readings : {f.device.peak_readings, f.device.read_readings})
    if (const std::optional<double> by = moved(readings)) c.ceilings_moved = std::max(*by, c.ceilings_moved.value_or(0));
  c.other_load = f.other_load ? f.other_load : load_in_warnings(f.warnings);
  if (f.optimized) c.pairs = if_any(f.optimized->latency_ms.runs), c.batches = if_any(f.optimized->batches);
  if (f.split) c.held_out = if_any(std::max(f.split->held_out, f.split->measured));
  if (f.speedup_basis) c.gains_alike = *f.speedup_basis == "pairs";
  return c;
}

void withhold_speedups(RunSummaryFigures& f) {
  const std::optional<SpeedupWithheld> machine = disturbed(f), why = why_withheld(speedup_conditions(f));
  if (f.speedup && why) {
    f.withheld = why;
    clear_speedup(f);
  }
  for (PassReport& pass : f.passes)
    if (machine || f.withheld) withhold(machine ? *machine : *f.withheld, pass);
  SpeedupConditions dense = speedup_conditions(f);
  dense.gains_alike = {};
  dense.pairs = f.dense ? if_any(f.dense->latency_ms.runs) : std::nullopt;
  if (const auto of_dense = why_withheld(dense); f.routing_speedup && of_dense) {
    f.routing_withheld = of_dense;
    f.routing_speedup = {}, f.routing_speedup_ci95 = {};
  }
  if (f.exit_target && (f.exit_target->speedup || f.exit_target->speedup_over_model) && machine) {
    f.exit_target->withheld = machine;
    f.exit_target->speedup = {}, f.exit_target->speedup_ci95 = {};
    f.exit_target->speedup_over_model = {}, f.exit_target->speedup_over_model_ci95 = {};
  }
}

std::optional<SpeedupWithheld> first_withheld(const RunSummaryFigures& f) {
  if (f.withheld) return f.withheld;
  for (const PassReport& pass : f.passes)
    if (pass.withheld) return pass.withheld;
  return {};
}

std::string unknown_conditions_text(const RunSummaryFigures& f) {
  if (!f.speedup) return {};
  const SpeedupConditions c = speedup_conditions(f);
  std::string unknown;
  const auto add = [&](bool known, const char* what) {
    if (!known) unknown += (unknown.empty() ? "" : ", ") + std::string(what);
  };
  add(c.ceilings_moved.has_value(), "whether the ceilings moved");
  add(c.other_load.has_value(), "the load of other processes");
  add(c.pairs.has_value(), "how many pairs were measured");
  return unknown.empty() ? unknown : "not recorded: " + unknown;
}

RunSummaryFigures with_stated_speedups(RunSummaryFigures f) {
  if (f.decode) f.decode = std::make_shared<RunSummaryFigures>(with_stated_speedups(*f.decode));
  if (!f.is_verified()) clear_speedup(f), f.withheld = {};
  withhold_speedups(f);
  if (!f.is_verified())
    for (PassReport& pass : f.passes) pass.withheld = {};
  return f;
}

}  // namespace stormcell
