// The fields of what measured calls said (core/summary/fields.h), as place and simulate write them.
#pragma once
#include <array>
#include <optional>
#include <string>

#include "core/figures/figure.h"
#include "core/planning/step_figures.h"
#include "core/summary/field_of.h"

namespace stormcell {

void fields(auto& v, Of<PhaseRows> auto& r) {
  v("measured", std::array{r.least_measured, r.most_measured}, Figure::counted("", "Rows that were measured."));
  v("step", std::array{r.least, r.most}, Figure::counted("", "Rows in any step."));
  v("mean", r.mean, Figure::counted("", "Mean rows of a step."));
}

void fields(auto& v, Of<CalibratedPhase> auto& p) {
  using Text = std::optional<std::string>;
  const bool told = p.calibrated();
  const auto number = [&](double value) { return told ? std::optional(value) : std::nullopt; };
  const auto of_line = [&](double value) { return p.rows ? std::nullopt : number(value); };
  v.derived("phase", std::string(to_text(p.phase)));
  v.derived("kind", told ? Text(to_text(p.kind)) : Text());
  v.derived("why_not", told ? Text() : Text(p.why_not));
  v.derived("like", told ? Text(p.like) : Text());
  v.derived("us", number(p.us), Figure::predicted("", "Time of the phase in a mean step, in microseconds."));
  v.derived("t0_us", of_line(p.t0_us), Figure::predicted("", "Start-up time of the line, in microseconds."));
  v.derived("rate", of_line(p.bytes_per_s), Figure::predicted("", "Bytes a second of the line."));
  v.derived("size", of_line(p.size),
            Figure::counted("", "Bytes of such a step, divided by those of the nearest call."));
  v("rows", p.rows);
  v("held_out_error", p.held_out, Figure::counted("", "Predicted / measured - 1 of the nearest call, left out."));
  v("laboratories_spread", p.laboratories,
    Figure::counted("", "The slowest laboratory's time of a common call / the fastest's - 1."));
  v("from", p.from);
}

void fields(auto& v, Of<CalibrationUse> auto& c) {
  v("file", c.file);
  v("tokens_per_step", c.tokens_per_step, Figure::counted("", "Tokens of a mean step."));
  v("phases", c.phases);
}

void fields(auto& v, Of<StepTrust> auto& t) {
  using Text = std::optional<std::string>;
  v.derived("kind", t.kind == PredictionKind::none ? Text() : Text(to_text(t.kind)));
  v("share", t.share, Figure::counted("", "The share of the time that is calibrated.", Unit::share));
  v("held_out_error", t.held_out, Figure::counted("", "Errors of the phases, by their shares of that."));
}

}  // namespace stormcell
