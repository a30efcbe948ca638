#include "core/comparison/analyze.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/profile/statistics.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_reader.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

bool has_batches(const SessionReader&, const RunSummary& run) { return run.batches > 0; }

/// The first number in a router's name is its layer: "encoder.block.3.layer.1.mlp".
int64_t layer_of(const RouterInfo& router, int64_t otherwise) {
  if (router.layer >= 0) return router.layer;
  const std::string_view name = router.name;
  for (size_t at = 0; at < name.size(); at = std::min(name.find('.', at), name.size()) + 1) {
    const size_t end = std::min(name.find('.', at), name.size());
    int64_t value = 0;
    const auto [after, error] = std::from_chars(name.data() + at, name.data() + end, value);
    if (error == std::errc() && after == name.data() + end) return value;
  }
  return otherwise;
}

double balancedness(const std::vector<int64_t>& load) {
  constexpr double kEpsilon = 1e-5;  // as the field's definition has it
  double sum = 0, most = 0;
  for (const int64_t v : load) sum += static_cast<double>(v), most = std::max(most, static_cast<double>(v));
  return (sum / static_cast<double>(load.size()) + kEpsilon) / (most + kEpsilon);
}

/// An import says itself what its trace did not have; of other runs it is seen from what they recorded.
std::vector<std::string> lacks_of(const SessionReader& session, const RunSummary& run, const RunLayout& layout, bool weighted) {
  std::vector<std::string> lacks;
  const nlohmann::json about = json_or_null(run.dataset);
  if (run_kind(run.kind) == RunKind::import && value_at(about, "lacks").is_array()) {
    for (const auto& fact : list_at(about, "lacks"))
      if (fact.is_string()) lacks.push_back(fact.get<std::string>());
    return lacks;
  }
  const auto decision = layout.routers.empty() ? std::nullopt : session.decision(run.id, 0, 0);
  const auto batch = session.batches(run.id, {0, 1});
  const bool sized = std::any_of(layout.routers.begin(), layout.routers.end(), [](const RouterInfo& r) { return r.branch_bytes > 0; });
  if (!session.has_decisions(run.id)) lacks.emplace_back("decisions");
  if (!weighted) lacks.emplace_back("weights");
  if (!decision || decision->residency.empty()) lacks.emplace_back("residency");
  if (!sized) lacks.emplace_back("branch_bytes");
  if (batch.empty() || batch[0].latency_ms <= 0) lacks.emplace_back("timings");
  return lacks;
}

}  // namespace

AnalyzeFigures analyze_session(const std::string& session, const Progress& progress) {
  const SessionPath path = parse_session_path(session);
  const SessionReader reader(path.file);
  const RunSummary run = choose_run(reader, path.run, has_batches, "holds no batch yet");
  const RunLayout layout = reader.layout(run.id);
  AnalyzeFigures figures;
  figures.session = path.file;
  figures.run = run.id;
  figures.status = std::string(to_text(run.status));
  figures.batches = run.batches;
  figures.model = reader.summary().model.name;
  bool weighted = false;
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    progress.report("analysing routers", static_cast<int64_t>(r), static_cast<int64_t>(layout.routers.size()));
    const RouterInfo& info = layout.routers[r];
    const RouterLoads loads = reader.total_loads(run.id, static_cast<int32_t>(r));
    weighted |= std::any_of(loads.weight.begin(), loads.weight.end(), [](double w) { return w != 0; });
    figures.branches = std::max<int64_t>(figures.branches, info.branches);
    figures.k = std::max<int64_t>(figures.k, info.fan_out);
    figures.routers.push_back({info.name, layer_of(info, static_cast<int64_t>(r)), loads.load, imbalance(loads.load),
                               balancedness(loads.load), entropy_bits(loads.load), gini(loads.load), touched(loads.load)});
    RouterAnalysis& router = figures.routers.back();
    const std::vector<int64_t>& real = router.load_real = loads.real();
    router.imbalance_real = imbalance(real);
    router.balancedness_real = balancedness(real);
    router.entropy_bits_real = entropy_bits(real);
    router.gini_real = gini(real);
    router.touched_real = touched(real);
  }
  figures.layers = static_cast<int64_t>(layout.routers.size());
  for (const Phase phase : reader.phases(run.id))
    figures.phases.emplace_back(phase == Phase::decode ? "decode" : phase == Phase::prefill ? "prefill" : "forward");
  figures.lacks = lacks_of(reader, run, layout, weighted);
  return figures;
}

std::string to_json(const AnalyzeFigures& f) {
  nlohmann::ordered_json json = json_of_verb("analyze");
  json["model"] = {{"name", f.model}, {"layers", f.layers}, {"branches", f.branches}, {"k", f.k}};
  if (std::find(f.lacks.begin(), f.lacks.end(), "k") != f.lacks.end()) json["model"]["k"] = nullptr;
  json["session"] = f.session;
  json["run"] = f.run;
  json["status"] = f.status;
  json["batches"] = f.batches;
  json["phases"] = f.phases;
  json["routers"] = nlohmann::ordered_json::array();
  for (const RouterAnalysis& r : f.routers)
    json["routers"].push_back(
        {{"router", r.router},
         {"layer", r.layer},
         {"load", r.load},
         {"imbalance", {{"max_over_mean_minus_1", r.imbalance}, {"sglang_balancedness", r.balancedness}}},
         {"entropy_bits", r.entropy_bits},
         {"gini", r.gini},
         {"touched", r.touched},
         {"load_real", r.load_real},
         {"imbalance_real", {{"max_over_mean_minus_1", r.imbalance_real}, {"sglang_balancedness", r.balancedness_real}}},
         {"entropy_bits_real", r.entropy_bits_real},
         {"gini_real", r.gini_real},
         {"touched_real", r.touched_real}});
  // Not yet computed.
  json["predictability"] = {{"temporal_lag1", nullptr},
                            {"static_in_sample", nullptr},
                            {"static_from_prompt", nullptr},
                            {"static_held_out", nullptr},
                            {"transition_held_out", nullptr}};
  json["cache"] = nullptr;
  json["lacks"] = f.lacks;
  return json_text(json);
}

}  // namespace stormcell
