#include "core/comparison/withheld_figures.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "core/comparison/figure_rows.h"
#include "core/summary/parse.h"
#include "core/summary/quality_text.h"
#include "core/summary/stated_speedups.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

/// The reach of a reason. A run that was measured too little does not withhold figures that were measured separately.
enum class Reach : uint8_t { run, machine };

/// Takes all speed-ups out of an object and out of its members. Its decoding is a run of its own and stays.
void withhold(Json& object, const std::string& why, Reach reach) {
  std::set<std::string_view> keys;  // of the reasons
  for (auto& [key, value] : object.items()) {
    const bool interval = key.ends_with(kIntervalKey);
    const std::string_view by = withheld_by(key);
    const bool apart = key == "exit_target" || key.starts_with("routing_speedup");
    if (key == "decode" || (reach == Reach::run && apart)) continue;
    if (value.is_structured() && !interval) withhold(value, why, reach);
    if (by.empty() || !(value.is_number() || interval)) continue;
    if (value.is_number()) keys.insert(by);
    value = nullptr;
  }
  for (const std::string_view key : keys) object[std::string(key)] = why;
}

constexpr const char *kValue = "value", *kValueWithheld = "value_withheld";

/// Takes the quality of a plan out if too few items were judged.
void withhold_quality(Json& summary) {
  const auto quality = summary.find("quality");
  if (quality == summary.end() || !quality->is_object()) return;
  for (Json& plan : *quality) {
    if (!plan.is_object() || !plan.contains("items") || !plan["items"].is_number_integer()) continue;
    const auto why = not_judged_text({.items = plan["items"].get<int64_t>()});
    if (why) plan[kValue] = nullptr, plan[std::string(kValue) + kIntervalKey] = nullptr, plan[kValueWithheld] = *why;
  }
}

}  // namespace

void withhold_speedups(Json& summary) {
  withhold_quality(summary);
  if (const auto decode = summary.find("decode"); decode != summary.end() && decode->is_object())
    withhold_speedups(*decode);
  const auto parsed = parse_summary(summary.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!parsed) return;
  const auto why = why_withheld(speedup_conditions(parsed->figures));
  if (!why) return;
  const bool few = why->reason == WithheldReason::few_pairs || why->reason == WithheldReason::few_batches;
  withhold(summary, to_text(*why), few ? Reach::run : Reach::machine);
}

bool is_withheld_key(const std::string& key) {
  return key == kValueWithheld ||
         (key.find("speedup") != std::string::npos && key.find("_withheld") != std::string::npos);
}

std::string why_withheld(const std::string& figure, const WithheldFigures& withheld) {
  const size_t dot = figure.rfind('.');
  const std::string last = dot == std::string::npos ? figure : figure.substr(dot + 1);
  const bool of_quality = last.substr(0, last.find(kIntervalKey)) == kValue;
  const std::string by(of_quality ? kValueWithheld : withheld_by(last));
  if (by.empty()) return {};
  const bool of_run = by == withheld_by("speedup");
  for (std::string above = dot == std::string::npos ? std::string() : figure.substr(0, dot);;) {
    const std::string key = (above.empty() ? "" : above + ".") + by;
    if (const auto at = withheld.find(key); at != withheld.end()) return at->second;
    // A rule for a run also applies to its passes.
    if (above.empty() || !of_run) return {};
    const size_t end = above.rfind('.');
    above = end == std::string::npos ? std::string() : above.substr(0, end);
  }
}

}  // namespace stormcell
