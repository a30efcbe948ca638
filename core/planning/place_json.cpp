#include <nlohmann/json.hpp>

#include "core/base/enum_words.h"
#include "core/planning/calibration_json.h"
#include "core/planning/place.h"
#include "core/summary/step_contents.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const LayoutFigures& f) {
  return {{"imbalance", f.imbalance},
          {"cross_pairs", or_null(f.cross_pairs)},
          {"ranks_per_token", or_null(f.ranks_per_token)},
          {"remote_bytes", f.step ? or_null(f.step->remote_bytes) : Json()},
          {"wire_bytes", f.step ? or_null(f.step->wire_bytes) : Json()},
          {"objective", or_null(f.objective_ms)},
          {"step_ms", f.step ? Json{{"p95", f.step->p95_ms},
                                    {"dispatch", f.step->dispatch_ms},
                                    {"compute", f.step->compute_ms},
                                    {"combine", f.step->combine_ms}}
                             : Json()},
          {"calibrated", json_of_trust(f.trust)}};
}

Json json_of(const ModelSizes& s) {
  return {{"hidden", s.hidden},
          {"ffn", positive_or_null(s.ffn)},
          {"dtype", text_or_null(s.dtype)},
          {"branch_bytes", s.branch_bytes},
          {"flops_per_row", s.flops_per_row},
          {"source", s.source}};
}

Json json_of(const LayoutLine& line) {
  return {
      {"name", line.name}, {"fit", json_of(line.fit)}, {"held_out", line.held_out ? json_of(*line.held_out) : Json()}};
}

Json json_of(const std::optional<PairedDifference>& d) {
  return d ? Json{{"value", d->value}, {"ci95", {d->low, d->high}}} : Json();
}

Json json_of(const PlaceFigures& f, const PairedFigures& d) {
  return {{"of", to_text(d.one)},
          {"from", to_text(d.other)},
          {"drawn", f.paired_by},
          {"parts", f.paired_parts},
          {"imbalance", json_of(d.imbalance)},
          {"cross_pairs", json_of(d.cross_pairs)},
          {"ranks_per_token", json_of(d.ranks_per_token)},
          {"objective", json_of(d.objective_ms)}};
}

Json json_of(const PlaceFigures& f) {
  Json json = json_of_verb("place");
  json["session"] = f.session;
  json["run"] = f.run;
  json["placement"] = positive_or_null(f.placement);
  json["already_stored"] = f.already_stored;
  json["model"] = {{"name", f.model}, {"layers", f.layers}, {"branches", f.branches}};
  json["cluster"] = {{"name", f.cluster}, {"nodes", f.nodes}, {"ranks", f.ranks}};
  json["solver"] = f.solver;
  json["phase"] = text_or_null(text_or_empty(f.phase));
  json["slots"] = f.slot_count;
  json["fit_fraction"] = f.fit_fraction;
  json["unit"] = to_text(f.unit);
  json["steps"] = {{"fit", f.fit_units}, {"held_out", f.held_out_units}};
  json["dropped_choices"] = f.dropped_choices;
  json["residence"] = text_or_null(text_or_empty(f.residence));
  json["backend"] = text_or_null(text_or_empty(f.backend));
  json["replicas"] = text_or_null(text_or_empty(f.replicas));
  json["step_contents"] = f.backend ? Json(step_contents()) : Json();
  json["costed_steps"] = f.backend ? Json{{"kind", to_text(f.step_kind)},
                                          {"statistic", to_text(f.statistic)},
                                          {"tokens_per_step", positive_or_null(f.tokens_per_step)},
                                          {"amortise", positive_or_null(f.amortise)},
                                          {"fit", f.costed_fit},
                                          {"held_out", f.costed_held_out}}
                                   : Json();
  json["calibration"] = json_of_calibration(f.calibration);
  json["sizes"] = f.sizes ? json_of(*f.sizes) : Json();
  json["seconds"] = f.seconds;
  json["held_out"] = text_or_null(text_or_empty(f.held_out));
  json["requests"] = positive_or_null(f.requests);
  json["layouts"] = list_of(f.layouts, json_of);
  json["aim"] = text_or_null(text_or_empty(f.aim));
  json["chosen"] = f.chosen.empty() ? Json() : Json{{"by", text_or_empty(f.chosen_on)}, {"what", f.chosen}};
  json["front"] = list_of(f.front, json_of);
  json["differences"] = Json::array();
  for (const PairedFigures& d : f.differences) json["differences"].push_back(json_of(f, d));
  json["moved_slots"] = f.moved_slots;
  json["slot_bytes"] = or_null(f.slot_bytes);
  json["spare"] = f.spare ? Json{{"gpu_bytes", f.spare->gpu_bytes},
                                 {"memory_share", f.spare->memory_share},
                                 {"kv_tokens", or_null(f.spare->kv_tokens)}}
                          : Json();
  json["bound"] = or_null(f.bound_ms);
  json["advice"] = f.advice;
  json["lacks"] = f.lacks;
  json["warnings"] = f.warnings;
  return json;
}

}  // namespace

std::string to_json(const PlaceFigures& figures) { return json_text(json_of(figures)); }

std::string to_json(const PhasePlacements& placements) {
  Json json = json_of_verb("place");
  json["phase"] = kEachPhase;
  json["phases"] = Json::array();
  for (const PlaceFigures& one : placements.phases) json["phases"].push_back(json_of(one));
  json["warnings"] = placements.warnings;
  return json_text(json);
}

}  // namespace stormcell
