// The fields of verifications (fields.h).
#pragma once
#include "core/figures/figure.h"
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
  v.infinite_or_null("margin", f.margin, Figure::counted("", "The reference's margin at the cut."));
  v("score_error", f.score_error, Figure::counted("", "Score error of the router."));
  v("explained", f.explained);
  v("follows", f.follows);
}

void fields(auto& v, Of<OutputDifference> auto& o) {
  v("name", o.name);
  v.infinite_or_null("max_abs_diff", o.max_abs_diff, Figure::counted("", "max|y - oracle|.", Unit::none, Better::less));
  v.infinite_or_null("max_rel_diff", o.max_rel_diff,
                     Figure::counted("largest difference", "max|y - oracle| / max|oracle|.", Unit::none, Better::less));
  v.infinite_or_null(
      "free_max_rel_diff", o.free_max_rel_diff,
      Figure::counted("", "The same of an execution that runs freely, with flips.", Unit::none, Better::less));
}

void fields(auto& v, Of<RouterDifference> auto& r) {
  v("router", r.router);
  v.infinite_or_null("score_error", r.score_error,
                     Figure::counted("", "Largest error of a margin.", Unit::none, Better::less));
  v("score_scale", r.score_scale, Figure::counted("", "The usual size of a score."));
  v.infinite_or_null("weight_error", r.weight_error, Figure::counted("", "Largest difference of a weight."));
  v("flips", r.flips, Figure::counted("", "Choices that differ.", Unit::none, Better::less));
  v("explained_flips", r.explained_flips,
    Figure::counted("", "Choices that differ and are near ties.", Unit::none, Better::less));
}

void fields(auto& v, Of<FormatCost> auto& f) {
  v("dtype", f.dtype);
  v.infinite_or_null("max_rel_diff", f.max_rel_diff,
                     Figure::counted("largest difference", "max|y - oracle| / max|oracle|.", Unit::none, Better::less));
  v("tolerance", f.tolerance, Figure::counted("", "The largest difference that passes."));
  v("passed", f.passed, Figure::counted("verified", "Whether the outputs agree with the reference.", Unit::yes_no));
  v.list("outputs", f.outputs, [](auto& each, Of<OutputDifference> auto& o) {
    each("name", o.name);
    each.infinite_or_null(
        "max_rel_diff", o.max_rel_diff,
        Figure::counted("largest difference", "max|y - oracle| / max|oracle|.", Unit::none, Better::less));
    each.infinite_or_null(
        "free_max_rel_diff", o.free_max_rel_diff,
        Figure::counted("", "The same of an execution that runs freely, with flips.", Unit::none, Better::less));
  });
  v.infinite_or_null(
      "free_max_rel_diff", f.free_max_rel_diff,
      Figure::counted("", "The same of an execution that runs freely, with flips.", Unit::none, Better::less));
  v("choices", f.choices);
  v("differing_choices", f.differing_choices);
  v("sequences", f.sequences);
  v("equal_sequences", f.equal_sequences);
  v.derived("differing_share", f.choices > 0 ? static_cast<double>(f.differing_choices) / f.choices : 0.0,
            Figure::counted("", "Choices that differ, of all.", Unit::share));
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
  v("bytes", n.bytes, Figure::counted("", "Bytes that a proof needs.", Unit::bytes));
  v("seconds", n.seconds, Figure::timed("", "Seconds that a proof needs.", Unit::seconds));
}

void fields(auto& v, Of<ExactProof> auto& e) {
  v("draws", e.draws, Figure::counted("", "Draws in which the plan was compared."));
  v("plans", e.plans, Figure::counted("", "Plans that were proved equal."));
  v("equal", e.equal, Figure::counted("", "Whether the plan equals the model in all draws.", Unit::yes_no));
  v("nodes", e.nodes);
  v("branches_without_cells", e.branches_without_cells, Figure::counted("", "Branches that no draw reached."));
  v("regions", e.regions);
  v("needs", e.needs);
  v.text_or_null("first_difference", e.first_difference);
  v.text_or_null("reason", e.reason);
}

void fields(auto& v, Of<Verification> auto& f) {
  v("passed", f.passed,
    Figure::counted("verified", "Whether the outputs agree with the reference.", Unit::yes_no, Better::more));
  v("text", f.text);
  v("reasons", f.reasons);
  v.text_or_null("what_to_do", f.what_to_do);
  v("tolerance", f.tolerance, Figure::counted("", "The largest difference that passes."));
  v.infinite_or_null("max_abs_diff", f.max_abs_diff, Figure::counted("", "max|y - oracle|.", Unit::none, Better::less));
  v.infinite_or_null("max_rel_diff", f.max_rel_diff,
                     Figure::counted("largest difference", "max|y - oracle| / max|oracle|.", Unit::none, Better::less));
  v.infinite_or_null(
      "free_max_rel_diff", f.free_max_rel_diff,
      Figure::counted("", "The same of an execution that runs freely, with flips.", Unit::none, Better::less));
  v("batches", f.batches, Figure::counted("", "Batches compared with the oracle, whole or in part."));
  v("parts", f.parts);
  v("baseline_batches", f.baseline_batches,
    Figure::counted("", "Batches of the plan that were compared with the baseline."));
  v("flips", f.flips, Figure::counted("", "Choices that differ.", Unit::none, Better::less));
  v("explained_flips", f.explained_flips,
    Figure::counted("", "Choices that differ and are near ties.", Unit::none, Better::less));
  v("consequences", f.consequences, Figure::counted("", "Choices that differ because an earlier one does."));
  v("dropped", f.dropped,
    Figure::counted("", "Cells that the oracle dropped because a capacity was full.", Unit::none, Better::less));
  v("nonfinite", f.nonfinite, Figure::counted("", "Values that are not finite, the same on both sides."));
  v("outputs", f.outputs);
  v("routers", f.routers);
  v("format", f.format);
  v("tokens", f.tokens);
  v("exact", f.exact);
  v("seconds", f.seconds, Figure::timed("seconds", "Time of the verification.", Unit::seconds));
  v("listed_flips", f.listed);
}

void fields(auto& v, Of<DecodedVerification> auto& f) {
  v("passed", f.passed,
    Figure::counted("verified", "Whether the outputs agree with the reference.", Unit::yes_no, Better::more));
  v("text", f.text);
  v("batches", f.batches);
  v("sequences", f.sequences);
  v("equal", f.equal);
  v("tokens", f.tokens);
  v("reasons", f.reasons);
  v.text_or_null("what_to_do", f.what_to_do);
  v("compared", f.compared);
  v("tolerance", f.tolerance, Figure::counted("", "The largest difference that passes."));
  v.infinite_or_null("max_rel_diff", f.max_rel_diff,
                     Figure::counted("largest difference", "max|y - oracle| / max|oracle|.", Unit::none, Better::less));
  v("flips", f.flips, Figure::counted("", "Choices that differ.", Unit::none, Better::less));
  v("explained_flips", f.explained_flips,
    Figure::counted("", "Choices that differ and are near ties.", Unit::none, Better::less));
  v("near_ties", f.near_ties);
  v("follows", f.follows);
}

}  // namespace stormcell
