#include "core/summary/parse.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/formats/json_file.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;

// A session may have been written by another version, or by somebody else: what has not the expected type is as if absent.
const Json& at(const Json& j, const char* key) {
  static const Json none;
  if (!j.is_object()) return none;
  const auto found = j.find(key);
  return found == j.end() ? none : *found;
}
std::string text(const Json& j, const char* key) { return at(j, key).is_string() ? at(j, key).get<std::string>() : std::string(); }
double real(const Json& j, const char* key) { return at(j, key).is_number() ? at(j, key).get<double>() : 0; }
int64_t whole(const Json& j, const char* key) { return at(j, key).is_number_integer() ? at(j, key).get<int64_t>() : 0; }
bool flag(const Json& j, const char* key) { return at(j, key).is_boolean() && at(j, key).get<bool>(); }
std::optional<double> maybe(const Json& j, const char* key) {
  return at(j, key).is_number() ? std::optional(at(j, key).get<double>()) : std::nullopt;
}
std::optional<std::array<double, 2>> pair(const Json& j, const char* key) {
  const Json& a = at(j, key);
  if (!a.is_array() || a.size() != 2 || !a[0].is_number() || !a[1].is_number()) return std::nullopt;
  return std::array{a[0].get<double>(), a[1].get<double>()};
}
const Json& list(const Json& j, const char* key) {
  static const Json none = Json::array();
  return at(j, key).is_array() ? at(j, key) : none;
}

Latency latency_in(const Json& l) { return {real(l, "median"), real(l, "p95"), real(l, "min"), whole(l, "runs"), real(l, "mean")}; }

std::optional<SplitFigures> split_of(const Json& j) {
  if (!j.is_object()) return std::nullopt;
  return SplitFigures{text(j, "rule"), whole(j, "profiled"), whole(j, "measured"), flag(j, "same")};
}

std::optional<PlanFigures> plan_of(const Json& j) {
  if (!j.is_object()) return std::nullopt;
  return PlanFigures{
      latency_in(at(j, "latency_ms")),   real(j, "cells_per_s"),       maybe(j, "limit_share"), whole(j, "peak_weight_bytes"),
      whole(j, "peak_activation_bytes"), whole(j, "measured_batches"), whole(j, "rounds")};
}

/// What is infinite was written as null.
double difference(const Json& j, const char* key) {
  return at(j, key).is_null() && j.is_object() && j.contains(key) ? std::numeric_limits<double>::infinity() : real(j, key);
}

std::vector<OutputDifference> outputs_of(const Json& j) {
  std::vector<OutputDifference> outputs;
  for (const Json& o : list(j, "outputs"))
    outputs.push_back({text(o, "name"), difference(o, "max_abs_diff"), difference(o, "max_rel_diff"), difference(o, "free_max_rel_diff")});
  return outputs;
}

std::optional<FormatCost> format_of(const Json& j) {
  if (!j.is_object()) return std::nullopt;
  return FormatCost{text(j, "dtype"), difference(j, "max_rel_diff"), real(j, "tolerance"), flag(j, "passed"), outputs_of(j)};
}

std::vector<Flip> flips_of(const Json& listed) {
  std::vector<Flip> flips;
  for (const Json& f : listed) {
    if (flips.size() == 100) break;
    Flip flip;
    flip.router = text(f, "router");
    flip.batch = whole(f, "batch");
    flip.execution = whole(f, "execution");
    flip.cell = whole(f, "cell");
    flip.item = at(f, "item").is_number_integer() ? whole(f, "item") : -1;
    flip.position = whole(f, "position");
    flip.above = text(f, "above");
    flip.reference = static_cast<int32_t>(whole(f, "reference"));
    flip.ours = static_cast<int32_t>(whole(f, "ours"));
    flip.margin = difference(f, "margin");
    flip.score_error = real(f, "score_error");
    flip.explained = flag(f, "explained");
    flip.follows = flag(f, "follows");
    flips.push_back(std::move(flip));
  }
  return flips;
}

std::optional<Verification> verification_of(const Json& j) {
  if (!j.is_object()) return std::nullopt;
  Verification v;
  v.passed = flag(j, "passed");
  v.text = text(j, "text");
  v.tolerance = real(j, "tolerance");
  for (const Json& reason : list(j, "reasons"))
    if (reason.is_string()) v.reasons.push_back(reason.get<std::string>());
  v.max_abs_diff = difference(j, "max_abs_diff");
  v.max_rel_diff = difference(j, "max_rel_diff");
  v.free_max_rel_diff = difference(j, "free_max_rel_diff");
  v.batches = whole(j, "batches");
  v.baseline_batches = whole(j, "baseline_batches");
  v.flips = whole(j, "flips");
  v.explained_flips = whole(j, "explained_flips");
  v.consequences = whole(j, "consequences");
  v.dropped = whole(j, "dropped");
  v.outputs = outputs_of(j);
  for (const Json& r : list(j, "routers"))
    v.routers.push_back({text(r, "router"), difference(r, "score_error"), real(r, "score_scale"), difference(r, "weight_error"),
                         whole(r, "flips"), whole(r, "explained_flips")});
  v.format = format_of(at(j, "format"));
  v.listed = flips_of(list(j, "listed_flips"));
  return v;
}

std::vector<OperatorTime> operators_of(const Json& j) {
  std::vector<OperatorTime> times;
  if (j.is_array())
    for (const Json& o : j)
      times.push_back({text(o, "op"), whole(o, "steps"), real(o, "ms_per_batch"), real(o, "limit_ms_per_batch"),
                       real(o, "limit_compute_ms_per_batch"), whole(o, "batches")});
  return times;
}

void flatten(const Json& j, const std::string& prefix, std::vector<NamedText>& lines) {
  if (lines.size() >= 400) return;
  if (j.is_object() && !j.empty()) {
    for (const auto& [key, value] : j.items()) flatten(value, prefix.empty() ? key : prefix + "." + key, lines);
  } else {
    lines.emplace_back(prefix, j.is_string() ? j.get<std::string>() : j.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}

}  // namespace

std::vector<NamedText> flat_json(const std::string& json) {
  std::vector<NamedText> lines;
  const Json j = json_or_null(json);
  if (j.is_object() && !j.empty()) flatten(j, "", lines);
  return lines;
}

bool parse_summary(const std::string& json, RunSummaryFigures& f) {
  const Json j = json_or_null(json);
  if (!j.is_object()) return false;
  const std::string schema = text(j, "schema");
  if (schema.starts_with("stormcell.")) f.verb = schema.substr(10, schema.find('/') - 10);
  const Json &m = at(j, "model"), &d = at(j, "dataset"), &v = at(j, "device");
  f.model = {text(m, "name"),        text(m, "family"),        text(m, "weights"),
             whole(m, "parameters"), whole(m, "weight_bytes"), whole(m, "routers"),
             whole(m, "branches"),   text(m, "fingerprint"),   !at(m, "weights_stated").is_boolean() || flag(m, "weights_stated")};
  f.dataset = {
      text(d, "name"),       whole(d, "batches"),  whole(d, "cells"),          whole(d, "cells_without_padding"), whole(d, "sequences"),
      whole(d, "truncated"), flag(d, "by_length"), whole(d, "cells_as_given"), whole(d, "cells_by_length")};
  f.device = {
      text(v, "name"),        text(v, "backend"),          text(v, "core_placement"), text(v, "isa"), static_cast<int>(whole(v, "threads")),
      real(v, "peak_gflops"), real(v, "peak_bf16_gflops"), real(v, "read_gbps")};
  if (const auto peaks = pair(v, "peak_gflops_before_and_after")) f.device.peak_readings = *peaks;
  if (const auto reads = pair(v, "read_gbps_before_and_after")) f.device.read_readings = *reads;
  f.phase = text(j, "phase");
  f.baseline = plan_of(at(j, "baseline"));
  f.optimized = plan_of(at(j, "optimized"));
  f.speedup = maybe(j, "speedup");
  f.speedup_ci95 = pair(j, "speedup_ci95");
  f.split = split_of(at(j, "split"));
  if (f.verb != "generate") f.verified = verification_of(at(j, "verified"));  // of tokens: parse_decoded()
  for (const Json& p : list(j, "passes")) {
    PassReport r{text(p, "name"),
                 flag(p, "applied"),
                 text(p, "reason"),
                 maybe(p, "speedup_alone"),
                 maybe(p, "speedup_cumulative"),
                 pair(p, "speedup_alone_ci95"),
                 pair(p, "speedup_cumulative_ci95"),
                 whole(p, "guard_hits"),
                 whole(p, "fallbacks")};
    r.speedup_own = maybe(p, "speedup_own");
    r.speedup_own_ci95 = pair(p, "speedup_own_ci95");
    r.left_out = flag(p, "left_out");
    f.passes.push_back(std::move(r));
  }
  f.baseline_operators = operators_of(at(at(j, "operators"), "baseline"));
  f.optimized_operators = operators_of(at(at(j, "operators"), "optimized"));
  f.load_seconds = real(j, "load_seconds");
  f.unloaded_weight_bytes = whole(j, "unloaded_weight_bytes");
  f.peak_resident_bytes = whole(j, "peak_resident_bytes");
  f.record_overhead = maybe(j, "record_overhead");
  f.record_overhead_ci95 = pair(j, "record_overhead_ci95");
  f.record_work = maybe(j, "record_work");
  f.decisions = whole(j, "decisions");
  for (const Json& w : list(j, "warnings"))
    if (w.is_string()) f.warnings.push_back(w.get<std::string>());
  if (at(j, "settings").is_object()) f.settings = at(j, "settings").dump(-1, ' ', false, Json::error_handler_t::replace);
  return true;
}

std::optional<Decoded> parse_decoded(const std::string& json) {
  const Json j = json_or_null(json);
  if (!j.is_object() || !text(j, "schema").starts_with("stormcell.generate/")) return std::nullopt;
  const Json& s = at(j, "stopped");
  return Decoded{whole(j, "sequences"),   whole(j, "tokens"),
                 whole(s, "eos"),         whole(s, "length"),
                 real(j, "tokens_per_s"), latency_in(at(j, "latency_ms")),
                 maybe(j, "accuracy"),    text(at(j, "verified"), "text")};
}

}  // namespace stormcell
