#include "core/planning/calibration_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const PhaseRows& r) {
  return {{"measured", {r.least_measured, r.most_measured}}, {"step", {r.least, r.most}}, {"mean", r.mean}};
}

Json json_of(const CalibratedPhase& p) {
  const bool told = p.calibrated();
  const auto number = [&](double value) { return told ? Json(value) : Json(); };
  return {{"phase", to_text(p.phase)},
          {"kind", told ? Json(std::string(to_text(p.kind))) : Json()},
          {"why_not", told ? Json() : Json(p.why_not)},
          {"like", told ? Json(p.like) : Json()},
          {"us", number(p.us)},
          {"t0_us", p.rows ? Json() : number(p.t0_us)},
          {"rate", p.rows ? Json() : number(p.bytes_per_s)},
          {"size", p.rows ? Json() : number(p.size)},
          {"rows", p.rows ? json_of(*p.rows) : Json()},
          {"held_out_error", or_null(p.held_out)},
          {"laboratories_spread", or_null(p.laboratories)},
          {"from", p.from}};
}

}  // namespace

Json json_of_calibration(const std::optional<CalibrationUse>& use) {
  if (!use) return {};
  Json phases = Json::array();
  for (const CalibratedPhase& p : use->phases) phases.push_back(json_of(p));
  return {{"file", use->file}, {"tokens_per_step", use->tokens_per_step}, {"phases", phases}};
}

Json json_of_trust(const std::optional<StepTrust>& trust) {
  if (!trust) return {};
  return {{"kind", trust->kind == PredictionKind::none ? Json() : Json(std::string(to_text(trust->kind)))},
          {"share", trust->share},
          {"held_out_error", or_null(trust->held_out)}};
}

}  // namespace stormcell
