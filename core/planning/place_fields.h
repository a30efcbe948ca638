// The fields of a search for a placement (core/summary/fields.h).
#pragma once
#include <array>
#include <optional>
#include <string>

#include "core/planning/calibration_fields.h"
#include "core/planning/place.h"
#include "core/summary/step_contents.h"

namespace stormcell {

void fields(auto& v, Of<StepFigures> auto& s) {
  constexpr Figure kPart{
      "", "A part of the time of a step.", Unit::milliseconds, Better::neither, Origin::predicted, Scope::time};
  v("p95", s.p95_ms, kPart);
  v("dispatch", s.dispatch_ms, kPart);
  v("compute", s.compute_ms, kPart);
  v("combine", s.combine_ms, kPart);
}

void fields(auto& v, Of<LayoutFigures> auto& f) {
  using Bytes = std::optional<double>;
  v("imbalance", f.imbalance, Figure::counted("imbalance", "max load / mean load - 1.", Unit::none, Better::less));
  v("cross_pairs", f.cross_pairs, Figure::counted("", "Share of the pairs of choices that are on two GPUs."));
  v("ranks_per_token", f.ranks_per_token, Figure::counted("", "GPUs that a token goes to at a layer, as a mean."));
  v.derived("remote_bytes", f.step ? f.step->remote_bytes : Bytes(),
            Figure::predicted("", "What a token needs from other GPUs at a layer.", Unit::bytes));
  v.derived("wire_bytes", f.step ? f.step->wire_bytes : Bytes(),
            Figure::predicted("", "What travels for it, with what is forwarded within a node.", Unit::bytes));
  v("objective", f.objective_ms, Figure::predicted("", "Time of a step.", Unit::milliseconds));
  v("step_ms", f.step);
  v("calibrated", f.trust);
}

void fields(auto& v, Of<LayoutLine> auto& l) {
  v("name", l.name);
  v("fit", l.fit);
  v("held_out", l.held_out);
}

void fields(auto& v, Of<PairedDifference> auto& d) {
  v("value", d.value, Figure::counted("", "The difference of the two layouts."));
  v("ci95", std::array{d.low, d.high}, Figure::counted("", "Its 95 % interval."));
}

void fields(auto& v, Of<ModelSizes> auto& s) {
  v("hidden", s.hidden);
  v.positive_or_null("ffn", s.ffn);
  v.text_or_null("dtype", s.dtype);
  v("branch_bytes", s.branch_bytes, Figure::counted("", "Bytes of the weights of a branch.", Unit::bytes));
  v("flops_per_row", s.flops_per_row, Figure::counted("", "Operations of a row."));
  v("source", s.source);
}

void fields(auto& v, Of<SparePrice> auto& s) {
  v("gpu_bytes", s.gpu_bytes, Figure::counted("", "Bytes that spare slots take on each GPU.", Unit::bytes));
  v("memory_share", s.memory_share, Figure::counted("", "The same as a share of its memory.", Unit::share));
  v("kv_tokens", s.kv_tokens, Figure::counted("", "Tokens whose keys and values would have room there."));
}

void fields(auto& v, Of<PlaceFigures> auto& f) {
  v.schema("place", std::string());
  v("session", f.session);
  v("run", f.run);
  v.positive_or_null("placement", f.placement);
  v("already_stored", f.already_stored);
  v.group("model", [&](auto& each) {
    each("name", f.model);
    each("layers", f.layers);
    each("branches", f.branches);
  });
  v.group("cluster", [&](auto& each) {
    each("name", f.cluster);
    each("nodes", f.nodes);
    each("ranks", f.ranks);
  });
  v("solver", f.solver);
  v.text_or_null("phase", text_or_empty(f.phase));
  v("slots", f.slot_count);
  v("fit_fraction", f.fit_fraction, Figure::counted("", "The part of the data that is fitted to.", Unit::share));
  v.derived("unit", std::string(to_text(f.unit)));
  v.group("steps", [&](auto& each) {
    each("fit", f.fit_units);
    each("held_out", f.held_out_units);
  });
  v("dropped_choices", f.dropped_choices);
  v.text_or_null("residence", text_or_empty(f.residence));
  v.text_or_null("backend", text_or_empty(f.backend));
  v.text_or_null("replicas", text_or_empty(f.replicas));
  v.text_or_null("step_contents", f.backend ? step_contents() : std::string());
  v.group_or_null("costed_steps", f.backend.has_value(), [&](auto& each) {
    each.derived("kind", std::string(to_text(f.step_kind)));
    each.derived("statistic", std::string(to_text(f.statistic)));
    each.positive_or_null("tokens_per_step", f.tokens_per_step);
    each.positive_or_null("amortise", f.amortise);
    each("fit", f.costed_fit);
    each("held_out", f.costed_held_out);
  });
  v("calibration", f.calibration);
  v("sizes", f.sizes);
  v("seconds", f.seconds, Figure::timed("", "Time of the search.", Unit::seconds));
  v.text_or_null("held_out", text_or_empty(f.held_out));
  v.positive_or_null("requests", f.requests);
  v("layouts", f.layouts);
  v.text_or_null("aim", text_or_empty(f.aim));
  v.group_or_null("chosen", !f.chosen.empty(), [&](auto& each) {
    each.derived("by", text_or_empty(f.chosen_on));
    each("what", f.chosen);
  });
  v("front", f.front);
  v.list("differences", f.differences, [&](auto& each, Of<PairedFigures> auto& d) {
    each.derived("of", std::string(to_text(d.one)));
    each.derived("from", std::string(to_text(d.other)));
    each("drawn", f.paired_by);
    each("parts", f.paired_parts);
    each("imbalance", d.imbalance);
    each("cross_pairs", d.cross_pairs);
    each("ranks_per_token", d.ranks_per_token);
    each("objective", d.objective_ms);
  });
  v("moved_slots", f.moved_slots);
  v("slot_bytes", f.slot_bytes, Figure::counted("", "Bytes of the weights of one slot in all layers.", Unit::bytes));
  v("spare", f.spare);
  v("bound", f.bound_ms, Figure::predicted("", "No placement costs less on the fitted data.", Unit::milliseconds));
  v("advice", f.advice);
  v("lacks", f.lacks);
  v("warnings", f.warnings);
}

void fields(auto& v, Of<PhasePlacements> auto& p) {
  v.schema("place", std::string());
  v.derived("phase", std::string(kEachPhase));
  v("phases", p.phases);
  v("warnings", p.warnings);
}

}  // namespace stormcell
