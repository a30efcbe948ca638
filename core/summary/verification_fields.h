// The fields of verifications (fields.h).
#pragma once
#include "core/summary/field_of.h"
#include "core/summary/verification_figures.h"

namespace stormcell {

void fields(auto& v, Of<Flip> auto& f) {
  v("router", f.router);
  v("batch", f.batch);
  v("execution", f.execution);
  v.minus_one_unless_said("turn", f.turn);
  v("cell", f.cell);
  v.minus_one_unless_said("item", f.item);
  v("position", f.position);
  v("above", f.above);
  v("reference", f.reference);
  v("ours", f.ours);
  v.infinite_or_null("margin", f.margin);
  v("score_error", f.score_error);
  v("explained", f.explained);
  v("follows", f.follows);
}

void fields(auto& v, Of<OutputDifference> auto& o) {
  v("name", o.name);
  v.infinite_or_null("max_abs_diff", o.max_abs_diff);
  v.infinite_or_null("max_rel_diff", o.max_rel_diff);
  v.infinite_or_null("free_max_rel_diff", o.free_max_rel_diff);
}

void fields(auto& v, Of<RouterDifference> auto& r) {
  v("router", r.router);
  v.infinite_or_null("score_error", r.score_error);
  v("score_scale", r.score_scale);
  v.infinite_or_null("weight_error", r.weight_error);
  v("flips", r.flips);
  v("explained_flips", r.explained_flips);
}

void fields(auto& v, Of<FormatCost> auto& f) {
  v("dtype", f.dtype);
  v.infinite_or_null("max_rel_diff", f.max_rel_diff);
  v("tolerance", f.tolerance);
  v("passed", f.passed);
  v.list("outputs", f.outputs, [](auto& each, Of<OutputDifference> auto& o) {
    each("name", o.name);
    each.infinite_or_null("max_rel_diff", o.max_rel_diff);
    each.infinite_or_null("free_max_rel_diff", o.free_max_rel_diff);
  });
  v.infinite_or_null("free_max_rel_diff", f.free_max_rel_diff);
  v("choices", f.choices);
  v("differing_choices", f.differing_choices);
  v("sequences", f.sequences);
  v("equal_sequences", f.equal_sequences);
  v.derived("differing_share", f.choices > 0 ? static_cast<double>(f.differing_choices) / f.choices : 0.0);
}

void fields(auto& v, Of<DecodedTokens> auto& t) {
  v("sequences", t.sequences);
  v("equal", t.equal);
  v("tokens", t.tokens);
  v("compared", t.compared);
  v("near_ties", t.near_ties);
  v("follows", t.follows);
}

void fields(auto& v, Of<JudgedPart> auto& p) {
  v("batch", p.batch);
  v("pictures", p.pictures);
  v("of", p.of);
}

void fields(auto& v, Of<ExactRegion> auto& r) {
  v("nodes", r.nodes);
  v("equal", r.equal);
}

void fields(auto& v, Of<ExactNeeds> auto& n) {
  v("bytes", n.bytes);
  v("seconds", n.seconds);
}

void fields(auto& v, Of<ExactProof> auto& e) {
  v("draws", e.draws);
  v("plans", e.plans);
  v("equal", e.equal);
  v("nodes", e.nodes);
  v("branches_without_cells", e.branches_without_cells);
  v("regions", e.regions);
  v("needs", e.needs);
  v.text_or_null("first_difference", e.first_difference);
  v.text_or_null("reason", e.reason);
}

void fields(auto& v, Of<Verification> auto& f) {
  v("passed", f.passed);
  v("text", f.text);
  v("reasons", f.reasons);
  v.text_or_null("what_to_do", f.what_to_do);
  v("tolerance", f.tolerance);
  v.infinite_or_null("max_abs_diff", f.max_abs_diff);
  v.infinite_or_null("max_rel_diff", f.max_rel_diff);
  v.infinite_or_null("free_max_rel_diff", f.free_max_rel_diff);
  v("batches", f.batches);
  v("parts", f.parts);
  v("baseline_batches", f.baseline_batches);
  v("flips", f.flips);
  v("explained_flips", f.explained_flips);
  v("consequences", f.consequences);
  v("dropped", f.dropped);
  v("nonfinite", f.nonfinite);
  v("outputs", f.outputs);
  v("routers", f.routers);
  v("format", f.format);
  v("tokens", f.tokens);
  v("exact", f.exact);
  v("seconds", f.seconds);
  v("listed_flips", f.listed);
}

void fields(auto& v, Of<DecodedVerification> auto& f) {
  v("passed", f.passed);
  v("text", f.text);
  v("batches", f.batches);
  v("sequences", f.sequences);
  v("equal", f.equal);
  v("tokens", f.tokens);
  v("reasons", f.reasons);
  v.text_or_null("what_to_do", f.what_to_do);
  v("compared", f.compared);
  v("tolerance", f.tolerance);
  v.infinite_or_null("max_rel_diff", f.max_rel_diff);
  v("flips", f.flips);
  v("explained_flips", f.explained_flips);
  v("near_ties", f.near_ties);
  v("follows", f.follows);
}

}  // namespace stormcell
