#include "core/summary/what_if.h"

#include <nlohmann/json.hpp>

#include "core/formats/json_file.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {
using ordered = nlohmann::ordered_json;

ordered count_json(const ChangedCount& c) {
  return {{"changed", c.changed}, {"of", c.of}, {"share", c.share()}, {"share_ci95", or_null(c.share_ci95)}};
}

ordered quality_json(const QualityChange& q) {
  ordered j;
  if (!q.name.empty()) j["name"] = q.name;
  j["items"] = q.items;
  j["before"] = q.before, j["before_ci95"] = or_null(q.before_ci95);
  j["after"] = q.after, j["after_ci95"] = or_null(q.after_ci95);
  j["beyond"] = q.is_beyond();
  return j;
}

ordered load_json(const LoadChange& r) {
  return {{"router", r.router},
          {"off", r.off},
          {"capacity", text_or_null(r.capacity)},
          {"load_before", r.before},
          {"load_after", r.after},
          {"dropped_before", r.dropped_before},
          {"dropped_after", r.dropped_after}};
}

ordered text_json(const ChangedText& t) {
  return {{"item", t.item},
          {"first_token", t.place},
          {"token_before", or_null(t.token_before)},
          {"token_after", or_null(t.token_after)},
          {"before", t.before},
          {"after", t.after}};
}

/// The figures of one run, without those that both share.
ordered run_json(const RunSummaryFigures& run) {
  const ordered all = ordered::parse(to_json(run));
  ordered j;
  for (const char* key : {"baseline", "optimized"})
    if (!all[key].is_null()) j["plan"] = all[key];
  for (const char* key : {"verified", "routing", "item_costs", "session", "session_run", "config"}) j[key] = all[key];
  return j;
}

}  // namespace

std::string to_json(const WhatIfFigures& f) {
  const ordered before = ordered::parse(to_json(*f.before));
  ordered j = json_of_verb("what-if");
  for (const char* key : {"model", "dataset", "device", "phase", "settings"}) j[key] = before[key];
  j["changes"] = f.changes;
  j["item"] = f.item;
  j["outputs"] = count_json(f.outputs);
  j["answer"] = text_or_null(f.answer);
  j["answers"] = f.answers ? count_json(*f.answers) : ordered();
  j["texts"] = list_of(f.texts, text_json);
  j["quality"] = nullptr;
  if (f.quality) {
    j["quality"] = {{"measure", f.measure}, {"unit", f.unit}, {"more_is_better", f.more_is_better}};
    j["quality"].update(quality_json(*f.quality));
    j["quality"]["groups"] = list_of(f.groups, quality_json);
  }
  j["operations"] = {{"before", or_null(f.operations_before)}, {"after", or_null(f.operations_after)}};
  j["routers"] = list_of(f.routers, load_json);
  j["before"] = run_json(*f.before);
  j["after"] = run_json(*f.after);
  j["warnings"] = f.warnings;
  return json_text(j);
}

}  // namespace stormcell
