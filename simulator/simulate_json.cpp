#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/base/enum_words.h"
#include "core/planning/calibration_json.h"
#include "core/summary/summary_json.h"
#include "simulator/simulate.h"

namespace stormcell {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const SimulatedLayer& l) {
  return {{"name", l.name},
          {"layer", l.number >= 0 ? Json(l.number) : Json()},
          {"dispatch_ms", l.dispatch_ms},
          {"compute_ms", l.compute_ms},
          {"combine_ms", l.combine_ms},
          {"imbalance", l.imbalance}};
}

Json json_of(const SimulatedGpu& g) {
  return {{"node", g.node},
          {"compute_ms", g.compute_ms},
          {"waiting_share", g.waiting_share},
          {"sent_bytes", g.sent_bytes},
          {"received_bytes", g.received_bytes},
          {"weight_bytes", g.weight_bytes}};
}

Json json_of(const SimulatedLink& l) { return {{"name", l.name}, {"bytes", l.bytes}, {"busy_share", l.busy_share}}; }
Json json_of(const Elasticity& e) { return {{"figure", e.figure}, {"elasticity", e.value}}; }

Json json_of(const LinkInterval& i) {
  return {{"begin_ms", i.begin_ms}, {"end_ms", i.end_ms}, {"link_share", i.link_share}};
}

Json json_of(const SimulatedMessage& m) {
  return {{"from", m.from}, {"to", m.to}, {"bytes", m.bytes}, {"end_ms", m.end_ms}};
}

Json json_of(const DeployedBalance& b) {
  return {{"predicted", b.predicted},
          {"shared_evenly", b.shared_evenly},
          {"recorded", or_null(b.recorded)},
          {"difference", b.difference()}};
}

Json json_of(const DeployedLayer& l) {
  Json json = {{"name", l.name}, {"layer", l.number >= 0 ? Json(l.number) : Json()}};
  json["imbalance"] = json_of(l.balance);
  return json;
}

Json json_of(const SimulatedExchange& e, bool each_message) {
  return {{"messages", e.messages},
          {"bytes", e.bytes},
          {"closed_form_ms", e.closed_form_ms},
          {"filled_ms", e.filled_ms},
          {"timeline", list_of(e.timeline, json_of)},
          {"messages_are_means", e.means},
          {"single_messages", each_message ? list_of(e.sent, json_of) : Json()}};
}

Json json_of(const SimulatedCollective& c, bool each_message) {
  Json links = Json::array();
  for (const CollectiveLink& l : c.links) links.push_back(l.name);
  return {{"layer", c.layer},
          {"step", c.step},
          {"links", links},
          {"dispatch", json_of(c.dispatch, each_message)},
          {"combine", json_of(c.combine, each_message)}};
}

/// `dropped_before`: choices, while it was recorded.
Json json_of(const CapacityFigures& c, int64_t dropped_before) {
  return {{"factor", c.factor},
          {"choices", c.choices},
          {"dropped", c.dropped},
          {"dropped_share", c.dropped_share()},
          {"lossless", c.dropped <= 0 && dropped_before == 0}};
}

Json json_of(const DeploymentFigures& d) {
  Json json = {{"made_from", {{"session", d.session}, {"run", d.run}}}};
  json["imbalance"] = json_of(d.mean);
  json["layers"] = list_of(d.layers, json_of);
  json["why_not_slots"] = text_or_null(d.why_not);
  return json;
}

}  // namespace

std::string to_json(const SimulateFigures& f) {
  Json json = json_of_verb("simulate");
  json["contents"] = f.contents;
  json["kind"] = "simulated";
  json["session"] = f.session;
  json["run"] = f.run;
  json["model"] = {{"name", f.model}, {"layers", f.layers.size()}, {"branches", f.branches}};
  json["cluster"] = {
      {"name", f.cluster}, {"nodes", f.nodes}, {"ranks", f.ranks}, {"oversubscription", f.oversubscription}};
  json["placement"] = f.placement;
  json["slots"] = f.slot_count;
  json["phase"] = text_or_null(text_or_empty(f.phase));
  json["backend"] = to_text(f.backend);
  json["replicas"] = to_text(f.replicas);
  json["residence"] = to_text(f.residence);
  json["overlap"] = to_text(f.overlap);
  json["steps"] = {{"kind", to_text(f.step_kind)}, {"count", f.steps}};
  json["dropped_choices"] = f.dropped_choices;
  json["capacity"] = f.capacity ? json_of(*f.capacity, f.dropped_choices) : Json();
  json["step_ms"] = {{"mean", f.mean_ms}, {"p50", f.p50_ms}, {"p95", f.p95_ms}, {"without_overlap", f.serial_ms}};
  json["rest_ms"] = or_null(f.rest_ms);
  json["tokens_per_step"] = or_null(f.tokens_per_step);
  json["tokens_per_s"] = or_null(f.tokens_per_s);
  json["tokens_per_s_withheld"] = text_or_null(f.why_no_tokens_per_s);
  json["remote_bytes"] = f.remote_bytes;
  json["wire_bytes"] = f.wire_bytes;
  json["sizes"] = {{"hidden", f.sizes.hidden}, {"branch_bytes", f.sizes.branch_bytes}, {"source", f.sizes.source}};
  json["calibration"] = json_of_calibration(f.calibration);
  json["calibrated"] = json_of_trust(f.trust);
  json["layers"] = list_of(f.layers, json_of);
  json["gpus"] = list_of(f.gpus, json_of);
  json["links"] = list_of(f.links, json_of);
  json["sensitivity"] = list_of(f.sensitivity, json_of);
  json["collective"] = f.collective ? json_of(*f.collective, f.ranks <= kMostRanksOfMessages) : Json();
  json["deployment"] = f.deployment ? json_of(*f.deployment) : Json();
  json["assumptions"] = f.assumptions;
  json["lacks"] = f.lacks;
  json["warnings"] = f.warnings;
  return json_text(json);
}

}  // namespace stormcell
