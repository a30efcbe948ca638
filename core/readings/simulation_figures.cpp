#include "core/readings/simulation_figures.h"

#include <nlohmann/json.hpp>

#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/base/rounding.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/summary/step_contents.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

std::vector<std::string> texts_in(const Json& of, const char* key) {
  std::vector<std::string> out;
  for (const Json& text : list_at(of, key))
    if (text.is_string()) out.push_back(text.get<std::string>());
  return out;
}

ToldExchange exchange_in(const Json& e) {
  ToldExchange out{
      whole_at(e, "messages"),         real_at(e, "bytes"), real_at(e, "closed_form_ms"), real_at(e, "filled_ms"), {},
      flag_at(e, "messages_are_means")};
  for (const Json& m : list_at(e, "single_messages"))
    out.sent.push_back({whole_at(m, "from"), whole_at(m, "to"), real_at(m, "bytes"), real_at(m, "end_ms")});
  return out;
}

ToldBalance balance_in(const std::string& name, const Json& b) {
  ToldBalance balance{name, without_rounding(real_at(b, "predicted")), without_rounding(real_at(b, "shared_evenly")),
                      known_at(b, "recorded")};
  if (balance.recorded) balance.recorded = without_rounding(*balance.recorded);
  return balance;
}

void read_about(const Json& json, SimulationTold& out) {
  const Json& model = value_at(json, "model");
  const Json& cluster = value_at(json, "cluster");
  const Json& steps = value_at(json, "steps");
  out.version = text_at(json, "version"), out.session = text_at(json, "session"), out.run = whole_at(json, "run");
  out.model = text_at(model, "name"), out.branches = whole_at(model, "branches");
  out.cluster = text_at(cluster, "name"), out.nodes = whole_at(cluster, "nodes"),
  out.ranks = whole_at(cluster, "ranks");
  out.oversubscription = real_at(cluster, "oversubscription");
  out.placement = text_at(json, "placement"), out.slot_count = whole_at(json, "slots"),
  out.phase = text_at(json, "phase");
  out.backend = text_at(json, "backend"), out.step_kind = text_at(steps, "kind"), out.steps = whole_at(steps, "count");
  out.replicas = value_of_word<ReplicaRule>(kReplicaRules, text_at(json, "replicas"));
  out.overlap = value_of_word<Overlap>(kOverlaps, text_at(json, "overlap"));
  out.sizes = text_at(value_at(json, "sizes"), "source");
}

void read_parts(const Json& json, SimulationTold& out) {
  for (const Json& l : list_at(json, "layers"))
    out.layers.push_back({text_at(l, "name"), real_at(l, "dispatch_ms"), real_at(l, "compute_ms"),
                          real_at(l, "combine_ms"), without_rounding(real_at(l, "imbalance"))});
  for (const Json& g : list_at(json, "gpus"))
    out.gpus.push_back({whole_at(g, "node"), real_at(g, "compute_ms"), real_at(g, "waiting_share"),
                        real_at(g, "sent_bytes"), real_at(g, "received_bytes"), real_at(g, "weight_bytes")});
  for (const Json& l : list_at(json, "links"))
    out.links.push_back({text_at(l, "name"), real_at(l, "bytes"), real_at(l, "busy_share")});
  for (const Json& e : list_at(json, "sensitivity"))
    out.sensitivity.push_back({text_at(e, "figure"), real_at(e, "elasticity")});
  const Json& calibration = value_at(json, "calibration");
  out.calibration = text_at(calibration, "file");
  for (const Json& p : list_at(calibration, "phases"))
    out.calibrated.push_back({text_at(p, "phase"), text_at(p, "kind"), text_at(p, "why_not"), text_at(p, "like"),
                              known_at(p, "held_out_error")});
}

}  // namespace

SimulationTold parse_simulation(const std::string& text, const std::string& where) {
  const Json json = json_or_null(text);
  if (text_at(json, "schema") != "stormcell.simulate/1")
    bad_input(where, "is not stormcell.simulate/1", "stormcell simulate --json FILE");
  SimulationTold out;
  read_about(json, out);
  read_parts(json, out);
  const Json& ms = value_at(json, "step_ms");
  out.mean_ms = real_at(ms, "mean"), out.p50_ms = real_at(ms, "p50"), out.p95_ms = real_at(ms, "p95");
  out.serial_ms = real_at(ms, "without_overlap");
  out.tokens_per_step = known_at(json, "tokens_per_step"), out.tokens_per_s = known_at(json, "tokens_per_s");
  out.contents = text_at(json, "contents"), out.rest_ms = known_at(json, "rest_ms");
  if (out.contents.empty()) out.contents = step_contents(out.rest_ms);
  out.why_no_tokens_per_s = text_at(json, "tokens_per_s_withheld");
  out.remote_bytes = real_at(json, "remote_bytes"), out.wire_bytes = real_at(json, "wire_bytes");
  if (const Json& c = value_at(json, "capacity"); c.is_object())
    out.capacity = {real_at(c, "factor"), real_at(c, "dropped_share")};
  if (const Json& c = value_at(json, "collective"); c.is_object())
    out.collective = {text_at(c, "layer"), whole_at(c, "step"), exchange_in(value_at(c, "dispatch")),
                      exchange_in(value_at(c, "combine"))};
  if (const Json& d = value_at(json, "deployment"); d.is_object()) {
    out.deployment.push_back(balance_in("mean", value_at(d, "imbalance")));
    for (const Json& l : list_at(d, "layers"))
      out.deployment.push_back(balance_in(text_at(l, "name"), value_at(l, "imbalance")));
  }
  out.assumptions = texts_in(json, "assumptions"), out.lacks = texts_in(json, "lacks"),
  out.warnings = texts_in(json, "warnings");
  return out;
}

}  // namespace stormcell
