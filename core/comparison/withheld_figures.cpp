#include "core/comparison/withheld_figures.h"

#include <nlohmann/json.hpp>

#include "core/summary/parse.h"
#include "core/summary/stated_speedups.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

constexpr std::string_view kKey = "speedup_withheld", kOfRouting = "routing_speedup_withheld";

/// How far a reason reaches: too little of a run is nothing against what was measured apart from it.
enum class Reach : uint8_t { run, machine };

/// All speed-ups of an object, and of what is in it but its decoding, which is a run of its own.
void withhold(Json& object, const std::string& why, Reach reach) {
  bool own = false, of_routing = false;
  for (auto& [key, value] : object.items()) {
    const bool interval = key.ends_with("_ci95"), apart = key.starts_with("routing_speedup");
    if (key == "decode" || (reach == Reach::run && (apart || key == "exit_target"))) continue;
    if (value.is_structured() && !interval) withhold(value, why, reach);
    if (!(apart || key.starts_with("speedup")) || !(value.is_number() || interval)) continue;
    (apart ? of_routing : own) |= value.is_number();
    value = nullptr;
  }
  if (own) object[std::string(kKey)] = why;
  if (of_routing) object[std::string(kOfRouting)] = why;
}

}  // namespace

void withhold_speedups(Json& summary) {
  if (const auto decode = summary.find("decode"); decode != summary.end() && decode->is_object()) withhold_speedups(*decode);
  const auto parsed = parse_summary(summary.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!parsed) return;
  const auto why = why_withheld(speedup_conditions(parsed->figures));
  if (!why) return;
  const bool few = why->reason == WithheldReason::few_pairs || why->reason == WithheldReason::few_batches;
  withhold(summary, to_text(*why), few ? Reach::run : Reach::machine);
}

bool is_withheld_key(const std::string& key) { return key.find(kKey) != std::string::npos; }

std::string why_withheld(const std::string& figure, const WithheldFigures& withheld) {
  const size_t dot = figure.rfind('.');
  const std::string last = dot == std::string::npos ? figure : figure.substr(dot + 1);
  if (last.find("speedup") == std::string::npos || last == "predicted_speedup") return {};
  const bool of_routing = last.starts_with("routing_");
  for (std::string above = dot == std::string::npos ? std::string() : figure.substr(0, dot);;) {
    const std::string key = (above.empty() ? "" : above + ".") + std::string(of_routing ? kOfRouting : kKey);
    if (const auto at = withheld.find(key); at != withheld.end()) return at->second;
    // A rule for a run also applies to its passes.
    if (above.empty() || of_routing) return {};
    const size_t end = above.rfind('.');
    above = end == std::string::npos ? std::string() : above.substr(0, end);
  }
}

}  // namespace stormcell
