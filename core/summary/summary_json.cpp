#include "core/summary/summary_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/formats/json_file.h"
#include "core/summary/results.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool is_plain(const Json& value) {
  return std::none_of(value.begin(), value.end(), [](const Json& v) { return v.is_structured(); });
}

void write(const Json& value, size_t depth, std::string& out) {
  if (!value.is_structured() || value.empty() || (value.is_array() && is_plain(value))) {
    out += dumped(value);
    return;
  }
  const std::string indent(2 * depth + 2, ' ');
  out += value.is_object() ? "{" : "[";
  const char* separator = "\n";
  for (auto at = value.begin(); at != value.end(); ++at) {
    out += separator + indent;
    separator = ",\n";
    if (value.is_object()) out += dumped(at.key()) + ": ";
    write(*at, depth + 1, out);
  }
  out += "\n" + indent.substr(2) + (value.is_object() ? "}" : "]");
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }
/// JSON text inside figures; what is none becomes null.
Json embedded(const std::string& text) { return json_or_null(text).is_null() ? Json() : Json::parse(text); }

Json json_of(const Latency& l) { return {{"median", l.median}, {"p95", l.p95}, {"min", l.min}, {"mean", l.mean}, {"runs", l.runs}}; }

Json json_of(const std::optional<SplitFigures>& split) {
  if (!split) return {};
  return {{"rule", split->rule}, {"profiled", split->profiled}, {"measured", split->measured}, {"same", split->same}};
}

Json json_of(const std::optional<PlanFigures>& plan) {
  if (!plan) return {};
  return {{"latency_ms", json_of(plan->latency_ms)},
          {"cells_per_s", plan->cells_per_s},
          {"limit_share", or_null(plan->limit_share)},
          {"peak_weight_bytes", plan->peak_weight_bytes},
          {"peak_activation_bytes", plan->peak_activation_bytes},
          {"measured_batches", plan->batches},
          {"rounds", plan->rounds}};
}

Json json_of(const ModelFigures& m) {
  return {{"name", m.name},
          {"family", m.family},
          {"parameters", m.parameters},
          {"weight_bytes", m.weight_bytes},
          {"routers", m.routers},
          {"branches", m.branches},
          {"weights", m.weights},
          {"fingerprint", m.fingerprint},
          {"weights_stated", m.weights_stated}};
}

Json json_of(const DatasetFigures& d) {
  return {{"name", d.name},
          {"batches", d.batches},
          {"cells", d.cells},
          {"cells_without_padding", d.cells_without_padding},
          {"sequences", d.sequences},
          {"truncated", d.truncated},
          {"by_length", d.by_length},
          {"cells_as_given", d.cells_as_given},
          {"cells_by_length", d.cells_by_length}};
}

Json json_of(const DeviceFigures& d) {
  return {{"name", d.name},
          {"backend", d.backend},
          {"threads", d.threads},
          {"core_placement", text_or_null(d.core_placement)},
          {"isa", text_or_null(d.isa)},
          {"peak_gflops", d.peak_gflops},
          {"peak_bf16_gflops", d.peak_bf16_gflops},
          {"read_gbps", d.read_gbps},
          {"peak_gflops_before_and_after", d.peak_readings},
          {"read_gbps_before_and_after", d.read_readings}};
}

Json json_of(const std::vector<Flip>& listed) {
  Json flips = Json::array();
  for (const Flip& f : listed)
    flips.push_back({{"router", f.router},
                     {"batch", f.batch},
                     {"execution", f.execution},
                     {"cell", f.cell},
                     {"item", f.item},
                     {"position", f.position},
                     {"above", f.above},
                     {"reference", f.reference},
                     {"ours", f.ours},
                     {"margin", f.margin},
                     {"score_error", f.score_error},
                     {"explained", f.explained},
                     {"follows", f.follows}});
  return flips;
}

Json json_of(const std::vector<OutputDifference>& outputs) {
  Json list = Json::array();
  for (const OutputDifference& o : outputs)
    list.push_back(
        {{"name", o.name}, {"max_abs_diff", o.max_abs_diff}, {"max_rel_diff", o.max_rel_diff}, {"free_max_rel_diff", o.free_max_rel_diff}});
  return list;
}

Json json_of(const std::vector<RouterDifference>& routers) {
  Json list = Json::array();
  for (const RouterDifference& r : routers)
    list.push_back({{"router", r.router},
                    {"score_error", r.score_error},
                    {"score_scale", r.score_scale},
                    {"weight_error", r.weight_error},
                    {"flips", r.flips},
                    {"explained_flips", r.explained_flips}});
  return list;
}

Json json_of(const std::optional<FormatCost>& f) {
  if (!f) return {};
  Json outputs = Json::array();
  for (const OutputDifference& o : f->outputs) outputs.push_back({{"name", o.name}, {"max_rel_diff", o.max_rel_diff}});
  return {{"dtype", f->dtype}, {"max_rel_diff", f->max_rel_diff}, {"tolerance", f->tolerance}, {"passed", f->passed}, {"outputs", outputs}};
}

Json json_of(const std::optional<Verification>& v) {
  if (!v) return {};
  return {{"passed", v->passed},
          {"text", v->text},
          {"reasons", v->reasons},
          {"tolerance", v->tolerance},
          {"max_abs_diff", v->max_abs_diff},
          {"max_rel_diff", v->max_rel_diff},
          {"free_max_rel_diff", v->free_max_rel_diff},
          {"batches", v->batches},
          {"baseline_batches", v->baseline_batches},
          {"flips", v->flips},
          {"explained_flips", v->explained_flips},
          {"consequences", v->consequences},
          {"dropped", v->dropped},
          {"outputs", json_of(v->outputs)},
          {"routers", json_of(v->routers)},
          {"format", json_of(v->format)},
          {"seconds", v->seconds},
          {"listed_flips", json_of(v->listed)}};
}

Json json_of(const std::vector<PassReport>& passes) {
  Json list = Json::array();
  for (const PassReport& p : passes)
    list.push_back({{"name", p.name},
                    {"applied", p.applied},
                    {"reason", p.reason},
                    {"left_out", p.left_out},
                    {"predicted_speedup", nullptr},  // no model of time is good enough to be shown: docs/decisions/011
                    {"speedup_alone", or_null(p.speedup_alone)},
                    {"speedup_alone_ci95", or_null(p.speedup_alone_ci95)},
                    {"speedup_own", or_null(p.speedup_own)},
                    {"speedup_own_ci95", or_null(p.speedup_own_ci95)},
                    {"speedup_cumulative", or_null(p.speedup_cumulative)},
                    {"speedup_cumulative_ci95", or_null(p.speedup_cumulative_ci95)},
                    {"guard_hits", p.guard_hits},
                    {"fallbacks", p.fallbacks},
                    {"options", p.options},
                    {"parameters", p.parameters}});
  return list;
}

Json json_of(const std::vector<RouterFigures>& routing) {
  Json list = Json::array();
  for (const RouterFigures& r : routing)
    list.push_back({{"router", r.router},
                    {"branches", r.branches},
                    {"fan_out", r.fan_out},
                    {"cells", r.cells},
                    {"load", r.load},
                    {"imbalance", r.imbalance},
                    {"entropy", r.entropy},
                    {"dropped", r.dropped},
                    {"label_information", or_null(r.label_information)},
                    {"cells_real", r.cells_real},
                    {"load_real", r.load_real},
                    {"imbalance_real", r.imbalance_real},
                    {"entropy_real", r.entropy_real}});
  return list;
}

Json json_of(const std::vector<OperatorTime>& operators) {
  Json list = Json::array();
  for (const OperatorTime& o : operators)
    list.push_back({{"op", o.op},
                    {"steps", o.steps},
                    {"batches", o.batches},
                    {"steps_per_batch", o.batches > 0 ? static_cast<double>(o.steps) / static_cast<double>(o.batches) : 0},
                    {"ms_per_batch", o.milliseconds},
                    {"limit_ms_per_batch", o.limit_milliseconds},
                    {"limit_compute_ms_per_batch", o.limit_compute_milliseconds},
                    {"in_cache", o.in_cache()}});
  return list;
}

}  // namespace

std::string json_text(const Json& value) {
  std::string out;
  write(value, 0, out);
  return out + "\n";
}

Json json_of_verb(const std::string& verb) { return {{"schema", "stormcell." + verb + "/1"}, {"version", STORMCELL_VERSION}}; }

std::string to_json(const RunSummaryFigures& f) {
  // A run that was not verified, or failed it, is never reported as a speed-up (design 5.1).
  const bool verified = f.verified && f.verified->passed;
  Json j = json_of_verb(f.verb);
  j["model"] = json_of(f.model);
  j["dataset"] = json_of(f.dataset);
  j["device"] = json_of(f.device);
  j["phase"] = f.phase;
  j["baseline"] = json_of(f.baseline);
  j["optimized"] = json_of(f.optimized);
  j["speedup"] = verified ? or_null(f.speedup) : Json();
  j["speedup_ci95"] = verified ? or_null(f.speedup_ci95) : Json();
  j["split"] = json_of(f.split);
  j["verified"] = json_of(f.verified);
  j["passes"] = json_of(f.passes);
  j["routing"] = json_of(f.routing);
  j["preload"] = nullptr;
  if (f.verb == "profile") {
    j["decisions"] = f.decisions;
    j["windows"] = f.windows;
    j["labels"] = f.labels;
    j["record_overhead"] = or_null(f.record_overhead);
    j["record_overhead_ci95"] = or_null(f.record_overhead_ci95);
    j["record_work"] = or_null(f.record_work);
  }
  j["operators"] = {{"baseline", json_of(f.baseline_operators)}, {"optimized", json_of(f.optimized_operators)}};
  j["load_seconds"] = f.load_seconds;
  j["unloaded_weight_bytes"] = f.unloaded_weight_bytes;
  j["peak_resident_bytes"] = f.peak_resident_bytes;
  j["settings"] = embedded(f.settings);
  j["warnings"] = f.warnings;
  j["session"] = text_or_null(f.session);
  j["session_run"] = f.session_run > 0 ? Json(f.session_run) : Json();
  j["config"] = embedded(f.config);
  return json_text(j);
}

std::string to_json(const GenerateFigures& f) {
  Json j = json_of_verb("generate");
  j["model"] = json_of(f.model);
  j["dataset"] = json_of(f.dataset);
  j["device"] = json_of(f.device);
  j["phase"] = "decode";
  j["batches"] = f.batches;
  j["sequences"] = f.sequences;
  j["tokens"] = f.tokens;
  j["tokens_per_s"] = f.tokens_per_s;
  j["latency_ms"] = json_of(f.latency_ms);
  j["stopped"] = {{"eos", f.stopped_eos}, {"length", f.stopped_length}};
  j["accuracy"] = or_null(f.accuracy);
  j["routing"] = json_of(f.routing);
  j["settings"] = embedded(f.settings);
  j["session"] = text_or_null(f.session);
  j["session_run"] = f.session_run > 0 ? Json(f.session_run) : Json();
  Json outputs = Json::array();
  for (size_t i = 0; i < f.ids.size(); ++i)
    outputs.push_back({{"ids", f.ids[i]}, {"text", i < f.texts.size() ? Json(f.texts[i]) : Json()}});
  j["outputs"] = std::move(outputs);
  j["verified"] = nullptr;
  if (const auto& v = f.verified)
    j["verified"] = {{"passed", v->passed},       {"text", v->text},   {"batches", v->batches},
                     {"sequences", v->sequences}, {"equal", v->equal}, {"tokens", v->tokens}};
  j["warnings"] = f.warnings;
  return json_text(j);
}

std::string to_json(const ModelStructure& s) {
  Json j = json_of_verb("inspect");
  j["name"] = s.name;
  j["family"] = s.family;
  j["parameters"] = s.parameters;
  j["weight_bytes"] = s.weight_bytes;
  j["flops_per_cell"] = s.flops_per_cell;
  Json routers = Json::array();
  for (const RouterStructure& r : s.routers)
    routers.push_back({{"name", r.name},
                       {"branches", r.branches},
                       {"cell_space", r.cell_space},
                       {"protocol", r.protocol},
                       {"depends", r.depends},
                       {"hoistable", {{"bytes", r.hoistable_bytes}, {"flops", r.hoistable_flops}}},
                       {"mixes", r.mixes}});
  j["routers"] = std::move(routers);
  j["operators"] = s.operators;
  j["unsupported"] = s.unsupported;
  j["warnings"] = s.warnings;
  return json_text(j);
}

}  // namespace stormcell
