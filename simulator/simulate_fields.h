// The fields of a simulation (core/summary/fields.h).
#pragma once
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_words.h"
#include "core/planning/calibration_fields.h"
#include "simulator/simulate_figures.h"

namespace stormcell {

/// A layer's number in the model; null: not known.
inline std::optional<int32_t> known_layer(int32_t number) { return number >= 0 ? std::optional(number) : std::nullopt; }

void fields(auto& v, Of<SimulatedLayer> auto& l) {
  v("name", l.name);
  v.derived("layer", known_layer(l.number));
  v("dispatch_ms", l.dispatch_ms, Figure::simulated("", "Time of the dispatch.", Unit::milliseconds));
  v("compute_ms", l.compute_ms, Figure::simulated("", "Time of the experts of the slowest GPU.", Unit::milliseconds));
  v("combine_ms", l.combine_ms, Figure::simulated("", "Time of the combine.", Unit::milliseconds));
  v("imbalance", l.imbalance,
    Figure::simulated("", "Slowest GPU / mean - 1 of the experts' time.", Unit::none, Better::less));
}

void fields(auto& v, Of<SimulatedGpu> auto& g) {
  v("node", g.node);
  v("compute_ms", g.compute_ms, Figure::simulated("", "Time of its own experts in a step.", Unit::milliseconds));
  v("waiting_share", g.waiting_share,
    Figure::simulated("", "Time in which others still compute, of the experts' phases.", Unit::share));
  v("sent_bytes", g.sent_bytes, Figure::simulated("", "Sent in a step, there and back.", Unit::bytes));
  v("received_bytes", g.received_bytes, Figure::simulated("", "Received in a step, there and back.", Unit::bytes));
  v("weight_bytes", g.weight_bytes, Figure::counted("", "Weights of all its slots.", Unit::bytes));
}

void fields(auto& v, Of<SimulatedLink> auto& l) {
  v("name", l.name);
  v("bytes", l.bytes, Figure::simulated("", "Carried in a step, there and back.", Unit::bytes));
  v("busy_share", l.busy_share,
    Figure::simulated("", "Time that this takes at its full rate, of a step.", Unit::share));
}

void fields(auto& v, Of<Elasticity> auto& e) {
  v("figure", e.figure);
  v("elasticity", e.value, Figure::simulated("", "d ln(time of a step) / d ln(figure)."));
}

void fields(auto& v, Of<LinkInterval> auto& i) {
  v("begin_ms", i.begin_ms, Figure::simulated("", "Begin of the span.", Unit::milliseconds));
  v("end_ms", i.end_ms, Figure::simulated("", "End of the span.", Unit::milliseconds));
  v("link_share", i.link_share, Figure::simulated("", "Of the rate of each link, as a mean.", Unit::share));
}

void fields(auto& v, Of<SimulatedMessage> auto& m) {
  v("from", m.from);
  v("to", m.to);
  v("bytes", m.bytes, Figure::simulated("", "Bytes of the message.", Unit::bytes));
  v("end_ms", m.end_ms, Figure::simulated("", "Time until it has come.", Unit::milliseconds));
}

/// `each_message`: the messages are listed one by one; else they are null.
void exchange_fields(auto& v, const SimulatedExchange& e, bool each_message) {
  using Messages = std::optional<std::vector<SimulatedMessage>>;
  v("messages", e.messages);
  v("bytes", e.bytes, Figure::simulated("", "Bytes of all messages.", Unit::bytes));
  v("closed_form_ms", e.closed_form_ms, Figure::simulated("", "Time by ports alone.", Unit::milliseconds));
  v("filled_ms", e.filled_ms, Figure::simulated("", "Time with links that are shared.", Unit::milliseconds));
  v("timeline", e.timeline);
  v("messages_are_means", e.means);
  v.derived("single_messages", each_message ? Messages(e.sent) : Messages());
}

void collective_fields(auto& v, const SimulatedCollective& c, bool each_message) {
  std::vector<std::string> links;
  for (const CollectiveLink& l : c.links) links.push_back(l.name);
  v("layer", c.layer);
  v("step", c.step);
  v.derived("links", links);
  v.group("dispatch", [&](auto& way) { exchange_fields(way, c.dispatch, each_message); });
  v.group("combine", [&](auto& way) { exchange_fields(way, c.combine, each_message); });
}

void fields(auto& v, Of<DeployedBalance> auto& b) {
  v("predicted", b.predicted, Figure::predicted("", "By the loads that the placement was made from."));
  v("shared_evenly", b.shared_evenly, Figure::counted("", "By the recorded loads, if replicas share evenly."));
  v("recorded", b.recorded, Figure::counted("", "By what the slots got."));
  v.derived("difference", b.difference(), Figure::counted("", "The last that is known minus the predicted one."));
}

void fields(auto& v, Of<DeployedLayer> auto& l) {
  v("name", l.name);
  v.derived("layer", known_layer(l.number));
  v("imbalance", l.balance);
}

void fields(auto& v, Of<DeploymentFigures> auto& d) {
  v.group("made_from", [&](auto& each) {
    each("session", d.session);
    each("run", d.run);
  });
  v("imbalance", d.mean);
  v("layers", d.layers);
  v.text_or_null("why_not_slots", d.why_not);
}

/// `dropped_before`: choices, while it was recorded.
void capacity_fields(auto& v, const CapacityFigures& c, int64_t dropped_before) {
  v("factor", c.factor, Figure::counted("", "Even shares of the choices that an expert takes."));
  v("choices", c.choices, Figure::counted("", "Choices of the costed steps."));
  v("dropped", c.dropped, Figure::counted("", "Those that are dropped."));
  v.derived("dropped_share", c.dropped_share(), Figure::counted("", "The same as a share.", Unit::share));
  v.derived("lossless", c.dropped <= 0 && dropped_before == 0);
}

void fields(auto& v, Of<SimulateFigures> auto& f) {
  v.schema("simulate", std::string());
  v("contents", f.contents);
  v.derived("kind", "simulated");
  v("session", f.session);
  v("run", f.run);
  v.group("model", [&](auto& each) {
    each("name", f.model);
    each.derived("layers", int64_t{std::ssize(f.layers)});
    each("branches", f.branches);
  });
  v.group("cluster", [&](auto& each) {
    each("name", f.cluster);
    each("nodes", f.nodes);
    each("ranks", f.ranks);
    each("oversubscription", f.oversubscription,
         Figure::counted("", "Rate of a node's ports together / rate of its uplink."));
  });
  v("placement", f.placement);
  v("slots", f.slot_count);
  v.text_or_null("phase", text_or_empty(f.phase));
  v.derived("backend", std::string(to_text(f.backend)));
  v.derived("replicas", std::string(to_text(f.replicas)));
  v.derived("residence", std::string(to_text(f.residence)));
  v.derived("overlap", std::string(to_text(f.overlap)));
  v.group("steps", [&](auto& each) {
    each.derived("kind", std::string(to_text(f.step_kind)));
    each("count", f.steps);
  });
  v("dropped_choices", f.dropped_choices);
  v.group_or_null("capacity", f.capacity.has_value(), [&](auto& each) {
    capacity_fields(each, f.capacity.value_or(CapacityFigures()), f.dropped_choices);
  });
  v.group("step_ms", [&](auto& each) {
    each("mean", f.mean_ms, Figure::simulated("", "Mean time of a step.", Unit::milliseconds, Better::less));
    each("p50", f.p50_ms, Figure::simulated("", "Median time of a step.", Unit::milliseconds, Better::less));
    each("p95", f.p95_ms, Figure::simulated("", "95 % of the steps are below.", Unit::milliseconds, Better::less));
    each("without_overlap", f.serial_ms,
         Figure::simulated("", "Mean of the same phases one after the other.", Unit::milliseconds, Better::less));
  });
  v("rest_ms", f.rest_ms, Figure::counted("", "The stated rest of each step; null if not stated.", Unit::milliseconds));
  v("tokens_per_step", f.tokens_per_step, Figure::counted("", "Tokens of a step."));
  v("tokens_per_s", f.tokens_per_s, Figure::simulated("", "Tokens a second, at most.", Unit::none, Better::more));
  v.text_or_null("tokens_per_s_withheld", f.why_no_tokens_per_s);
  v("remote_bytes", f.remote_bytes, Figure::simulated("", "To other GPUs in a step, there and back.", Unit::bytes));
  v("wire_bytes", f.wire_bytes, Figure::simulated("", "Sent for that, with what is forwarded.", Unit::bytes));
  v.group("sizes", [&](auto& each) {
    each("hidden", f.sizes.hidden);
    each("branch_bytes", f.sizes.branch_bytes, Figure::counted("", "Bytes of the weights of a branch.", Unit::bytes));
    each("source", f.sizes.source);
  });
  v("calibration", f.calibration);
  v("calibrated", f.trust);
  v("layers", f.layers);
  v("gpus", f.gpus);
  v("links", f.links);
  v("sensitivity", f.sensitivity);
  v.group_or_null("collective", f.collective.has_value(), [&](auto& each) {
    collective_fields(each, f.collective.value_or(SimulatedCollective()), f.ranks <= kMostRanksOfMessages);
  });
  v("deployment", f.deployment);
  v("assumptions", f.assumptions);
  v("lacks", f.lacks);
  v("warnings", f.warnings);
}

}  // namespace stormcell
