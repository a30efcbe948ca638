#include "core/summary/stated_speedups.h"

#include <algorithm>
#include <array>

namespace stormcell {
namespace {

std::optional<double> change_of(const std::array<double, 2>& readings) {
  if (readings[0] <= 0 || readings[1] <= 0) return {};
  return std::max(readings[0], readings[1]) / std::min(readings[0], readings[1]) - 1;
}

/// The change of the ceiling that changed most.
std::optional<double> largest_change(const DeviceFigures& device) {
  std::optional<double> most;
  for (const auto& readings : {device.peak_readings, device.read_readings})
    if (const std::optional<double> by = change_of(readings)) most = std::max(*by, most.value_or(0));
  return most;
}

bool is_too_far(double moved) {
  constexpr double kRounding = 1e-12;  // floating point: 1.15 - 1 is a little more than 0.15
  return moved > kMostCeilingsMove + kRounding;
}

std::optional<int64_t> if_any(int64_t count) { return count > 0 ? std::optional(count) : std::nullopt; }

void quote_no_speeds(PassReport& pass) {
  if (!pass.reason_without_speeds.empty()) pass.reason = pass.reason_without_speeds;
}

bool states_gain(const PassReport& p) { return p.speedup_alone || p.speedup_own || p.speedup_cumulative; }

void withhold(const SpeedupWithheld& why, PassReport& pass) {
  if (states_gain(pass)) pass.withheld = why;
  pass.clear_gains();
  quote_no_speeds(pass);
}

/// The reason why no speed-up of the run may be stated: the machine was disturbed while it measured. Empty: it was not.
std::optional<SpeedupWithheld> disturbed(const RunSummaryFigures& f) {
  SpeedupConditions machine = speedup_conditions(f);
  machine.pairs = machine.batches = {};
  return why_withheld(machine);
}

/// Removes the speed-up of the run and of each of its processes.
void clear_speedup(RunSummaryFigures& f) {
  f.speedup = {}, f.speedup_ci95 = {};
  for (MeasurementFigures& m : f.measurements) m.speedup = {}, m.speedup_ci95 = {};
}

}  // namespace

std::optional<SpeedupWithheld> why_withheld(const SpeedupConditions& c) {
  if (c.ceilings_moved && is_too_far(*c.ceilings_moved))
    return SpeedupWithheld{WithheldReason::ceilings_moved, *c.ceilings_moved};
  if (c.other_load && *c.other_load >= kMostOtherLoad)
    return SpeedupWithheld{WithheldReason::others_at_work, *c.other_load};
  if (c.pairs && *c.pairs < kFewestPairs)
    return SpeedupWithheld{WithheldReason::few_pairs, static_cast<double>(*c.pairs)};
  if (c.gains_alike == false && c.batches && c.held_out && *c.batches < fewest_batches(*c.held_out))
    return SpeedupWithheld{WithheldReason::few_batches, static_cast<double>(*c.batches),
                           static_cast<double>(*c.held_out)};
  return {};
}

bool ceilings_moved_too_far(const DeviceFigures& device) { return is_too_far(largest_change(device).value_or(0)); }

SpeedupConditions speedup_conditions(const RunSummaryFigures& f) {
  SpeedupConditions c;
  c.ceilings_moved = largest_change(f.device);
  c.other_load = f.other_load;
  if (f.optimized) c.pairs = if_any(f.optimized->latency_ms.runs), c.batches = if_any(f.optimized->batches);
  if (f.split) c.held_out = if_any(std::max(f.split->held_out, f.split->measured));
  if (f.speedup_basis) c.gains_alike = f.speedup_basis == RatioBasis::all_pairs;
  return c;
}

void withhold_speedups(RunSummaryFigures& f) {
  const std::optional<SpeedupWithheld> machine = disturbed(f), why = why_withheld(speedup_conditions(f));
  if (f.speedup && why) {
    f.withheld = why;
    clear_speedup(f);
  }
  for (PassReport& pass : f.passes) {
    if (machine || f.withheld) withhold(machine ? *machine : *f.withheld, pass);
    if (pass.withheld) quote_no_speeds(pass);
  }
  SpeedupConditions dense = speedup_conditions(f);
  dense.gains_alike = {};
  dense.pairs = f.dense ? if_any(f.dense->latency_ms.runs) : std::nullopt;
  if (const auto of_dense = why_withheld(dense); f.routing_speedup && of_dense) {
    f.routing_withheld = of_dense;
    f.routing_speedup = {}, f.routing_speedup_ci95 = {};
  }
  if (f.exit_target && machine) {
    ExitTarget& t = *f.exit_target;
    if (t.speedup) t.withheld = machine;
    if (t.speedup_over_model) t.over_model_withheld = machine;
    t.speedup = {}, t.speedup_ci95 = {};
    t.speedup_over_model = {}, t.speedup_over_model_ci95 = {};
  }
}

std::optional<SpeedupWithheld> first_withheld(const RunSummaryFigures& f) {
  if (f.withheld) return f.withheld;
  for (const PassReport& pass : f.passes)
    if (pass.withheld) return pass.withheld;
  return {};
}

std::string no_ratio_text(const RunSummaryFigures& f) {
  return f.withheld && f.baseline && f.optimized ? std::string("no ratio: ") + kNotMeasured : std::string();
}

MeasuringEnd measuring_end(const RunSummaryFigures& f) {
  return f.time_limit_seconds && !f.left_out_for_time.empty() ? MeasuringEnd::time_limit : MeasuringEnd::seconds;
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
