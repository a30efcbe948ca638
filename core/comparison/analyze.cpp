#include "core/comparison/analyze.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/base/run_kind.h"
#include "core/comparison/recording_drift.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/profile/cache_replay.h"
#include "core/profile/drift.h"
#include "core/profile/predictability.h"
#include "core/profile/reuse.h"
#include "core/profile/router_layer.h"
#include "core/profile/statistics.h"
#include "core/readings/lacks.h"
#include "core/readings/read_token_routes.h"
#include "core/readings/token_chance.h"
#include "core/session/session_reader.h"
#include "core/summary/summary_json.h"
#include "core/traces/slot_loads.h"

namespace stormcell {
namespace {

constexpr double kHotShare = 0.5, kColdPart = 0.1;

int64_t layer_of(const RouterInfo& router, int64_t otherwise) {
  const int32_t layer = router.layer >= 0 ? router.layer : layer_in_name(router.name);
  return layer >= 0 ? layer : otherwise;
}

double balancedness(const std::vector<int64_t>& load) {
  constexpr double kEpsilon = 1e-5;  // as the field's definition has it
  double sum = 0, most = 0;
  for (const int64_t v : load) sum += static_cast<double>(v), most = std::max(most, static_cast<double>(v));
  return (sum / static_cast<double>(load.size()) + kEpsilon) / (most + kEpsilon);
}

/// An import lists the facts that its trace lacks; for other runs they follow from what they recorded.
std::vector<std::string> lacks_of(const SessionReader& session, const RunSummary& run, const RunLayout& layout,
                                  bool weighted) {
  std::vector<std::string> lacks;
  const nlohmann::json about = json_or_null(run.dataset);
  if (run_kind(run.kind) == RunKind::import && value_at(about, "lacks").is_array()) return lacks_of_import(run);
  const auto decision = layout.routers.empty() ? std::nullopt : session.decision(run.id, 0, 0);
  const auto batch = session.batches(run.id, {0, 1});
  const bool sized =
      std::any_of(layout.routers.begin(), layout.routers.end(), [](const RouterInfo& r) { return r.branch_bytes > 0; });
  if (!session.has_decisions(run.id)) lacks.emplace_back("decisions");
  if (!weighted) lacks.emplace_back("weights");
  if (!decision || decision->residency.empty()) lacks.emplace_back("residency");
  if (!sized) lacks.emplace_back("branch_bytes");
  if (batch.empty() || batch[0].latency_ms <= 0) lacks.emplace_back("timings");
  return lacks;
}

CachePolicy policy_of(const AnalyzeOptions& options) {
  if (options.budget_bytes <= 0) bad_input("--budget", "is missing", "--cache " + options.cache + " --budget 4000MiB");
  const auto policy = cache_policy(options.cache);
  if (!policy)
    bad_input("--cache", in_quotes(options.cache) + " is not a policy",
              advice_on_word(options.cache, {std::begin(kCachePolicies), std::end(kCachePolicies)}));
  return *policy;
}

CacheFigures replay(const AnalyzeOptions& options, const TokenRoutes& routes, const Progress& progress) {
  const bool sized =
      std::all_of(routes.branch_bytes.begin(), routes.branch_bytes.end(), [](int64_t n) { return n > 0; });
  if (!sized)
    bad_input("--cache", "the data lacks branch_bytes: nobody knows what an expert takes",
              "import a trace that says it, route_trace v1");
  const CachePolicy policy = policy_of(options);
  const CacheReplay done = replay_cache(routes, policy, options.budget_bytes, progress);
  const auto figures = [](const CacheCount& c) { return CacheFigures::Count{c.hits, c.lookups, c.rate()}; };
  return {policy, options.budget_bytes, figures(done.all), figures(done.decode)};
}

/// Empty if there are no choices, or more than are read without being asked.
std::optional<TokenRoutes> read_choices(const AnalyzeOptions& options, const Recording& recording,
                                        const AnalyzeFigures& figures, const Progress& progress) {
  int64_t choices = 0;
  for (const RouterAnalysis& r : figures.routers)
    choices += std::accumulate(r.load_real.begin(), r.load_real.end(), int64_t{0});
  if (options.cache.empty() && (!recording.reader.has_decisions(recording.run.id) || choices > kMostChoicesUnasked))
    return {};
  return read_token_routes(recording.reader, recording.run, progress);
}

void look_at_choices(const AnalyzeOptions& options, const TokenRoutes& routes, AnalyzeFigures& figures,
                     const Progress& progress) {
  const Predictability p = predictability(routes);
  figures.predictability = {p.temporal_lag1, p.static_in_sample, p.static_from_prompt, p.static_held_out,
                            p.transition_held_out};
  const ReuseDistance reuse = reuse_distance(routes, progress);
  figures.reuse = {reuse.lookups, reuse.first_uses, reuse.p50, reuse.p90, reuse.p99};
  const std::vector<int32_t> branches(routes.layers, routes.branches);
  figures.drift = figures_of(drift_of(blocks_of(routes), branches, progress));
  if (!options.cache.empty()) figures.cache = replay(options, routes, progress);
}

/// Pairs were counted while the choices were recorded: a table of a router, or of an edge, is read at a time.
void look_at_pairs(const Recording& recording, AnalyzeFigures& figures, const Progress& progress) {
  const auto& [path, reader, run, layout] = recording;
  const int64_t all = layout.routers.size() + layout.edges.size();
  int64_t done = 0;
  std::vector<bool> keeps_all;
  std::vector<RouterCoactivation> together;
  AnalysisChance& chance = figures.chance;
  for (const RouterInfo& info : layout.routers) {
    progress.report("reading pairs of branches", done++, all);
    const size_t r = keeps_all.size();
    const PairTable pairs = reader.coactivation(run.id, static_cast<int32_t>(r));
    const std::vector<int64_t>& load = figures.routers[r].load_real;
    keeps_all.push_back(keeps_all_choices(pairs, load, info.fan_out));
    if (pairs.entries.empty()) continue;
    together.push_back({info.name, pairs.total(), strongest_together(pairs)});
    chance.coactivation.push_back(
        {largest_lift_by_chance(pairs.total(), info.branches, info.fan_out),
         coactivation_beside_chance(pairs, info.fan_out, chance.questions * std::ssize(layout.routers))});
  }
  std::vector<RouterTransitions> transitions;
  for (const LayoutEdge& edge : layout.edges) {
    progress.report("reading pairs of branches", done++, all);
    const PairTable pairs = reader.transitions(run.id, edge.from, edge.to);
    if (pairs.entries.empty()) continue;
    const auto from = static_cast<size_t>(edge.from), to = static_cast<size_t>(edge.to);
    const std::vector<int64_t> came =
        cells_that_came(pairs, figures.routers[from].load_real, layout.routers[to].fan_out, keeps_all[to]);
    transitions.push_back(
        {layout.routers[from].name, layout.routers[to].name, pairs.total(), transition_figures(pairs, came)});
    const int32_t k = layout.routers[to].fan_out;
    chance.transitions.push_back({likeliest_beside_chance(pairs, came, transitions.back().figures.likeliest, k),
                                  transitions_beside_chance(pairs, k, chance.questions * std::ssize(layout.edges))});
  }
  if (transitions.empty() && together.empty() && !reader.has_decisions(run.id)) return;
  figures.transitions = std::move(transitions), figures.coactivation = std::move(together);
}

/// Adds the balance of a server's slots, if its trace has them.
void look_at_slots(const RunSummary& run, AnalyzeFigures& figures) {
  const RecordedSlots slots = slots_at(json_or_null(run.dataset));
  if (slots.layers.size() != figures.routers.size()) return;
  double of_slots = 0, of_ranks = 0;
  int64_t loaded = 0, loaded_ranks = 0;
  for (size_t r = 0; r < slots.layers.size(); ++r) {
    const SlotLoads& layer = slots.layers[r];
    RouterAnalysis& router = figures.routers[r];
    std::vector<int64_t> held;
    for (size_t s = 0; s < layer.load.size(); ++s)
      if (layer.expert[s] >= 0) held.push_back(layer.load[s]);
    router.imbalance_of_slots = imbalance(held);
    const bool has_load = router.touched_real > 0;
    if (has_load) of_slots += *router.imbalance_of_slots, ++loaded;
    const size_t ranks = slots.ranks;
    if (ranks == 0 || layer.load.size() % ranks != 0) continue;
    std::vector<int64_t> rank_load(ranks);
    for (size_t s = 0; s < layer.load.size(); ++s) rank_load[s / (layer.load.size() / ranks)] += layer.load[s];
    router.imbalance_of_ranks = imbalance(rank_load);
    if (has_load) of_ranks += *router.imbalance_of_ranks, ++loaded_ranks;
  }
  if (loaded > 0) figures.imbalance_of_slots = of_slots / static_cast<double>(loaded);
  if (loaded_ranks > 0) figures.imbalance_of_ranks = of_ranks / static_cast<double>(loaded_ranks);
}

nlohmann::ordered_json json_of(const AgainstFigures& a) {
  nlohmann::ordered_json json = {
      {"session", a.session}, {"run", a.run}, {"status", to_text(a.status)}, {"drift", drift_json(a.drift)}};
  json["why_not"] = text_or_null(a.why_not), json["doubt"] = text_or_null(a.doubt);
  return json;
}

nlohmann::ordered_json json_of(const std::vector<RouterTransitions>& edges) {
  auto list = nlohmann::ordered_json::array();
  for (const RouterTransitions& e : edges) {
    auto strongest = nlohmann::ordered_json::array();
    for (const BranchTransition& t : e.figures.strongest)
      strongest.push_back({{"branch", t.from},
                           {"next_branch", t.to},
                           {"cells", t.cells},
                           {"of_cells", t.came},
                           {"probability", t.probability},
                           {"by_chance", t.by_chance},
                           {"lift", t.lift}});
    list.push_back({{"router", e.router},
                    {"next", e.next},
                    {"pairs", e.pairs},
                    {"likeliest", or_null(e.figures.likeliest)},
                    {"likeliest_by_load", or_null(e.figures.likeliest_by_load)},
                    {"strongest", std::move(strongest)}});
  }
  return list;
}

nlohmann::ordered_json json_of(const std::vector<RouterCoactivation>& routers) {
  auto list = nlohmann::ordered_json::array();
  for (const RouterCoactivation& r : routers) {
    auto strongest = nlohmann::ordered_json::array();
    for (const BranchesTogether& t : r.strongest)
      strongest.push_back({{"branches", {t.a, t.b}}, {"cells", t.cells}, {"by_chance", t.by_chance}, {"lift", t.lift}});
    list.push_back({{"router", r.router}, {"pairs", r.pairs}, {"strongest", std::move(strongest)}});
  }
  return list;
}

nlohmann::ordered_json json_of(const CacheFigures& c) {
  const auto count = [](const CacheFigures::Count& n) {
    return nlohmann::ordered_json{{"hits", n.hits}, {"lookups", n.lookups}, {"hit_rate", or_null(n.rate)}};
  };
  return {{"policy", to_text(c.policy)},
          {"budget_bytes", c.budget_bytes},
          {"all", count(c.all)},
          {"decode", count(c.decode)}};
}

}  // namespace

AnalyzeFigures analyze_session(const AnalyzeOptions& options, const Progress& progress) {
  if (!options.cache.empty()) policy_of(options);
  const Recording recording(options.session);
  const auto& [path, reader, run, layout] = recording;
  std::optional<Recording> other;
  std::string doubt;
  if (!options.against.empty()) doubt = check_same_routers(recording, other.emplace(options.against));
  AnalyzeFigures figures;
  figures.session = path.file;
  figures.run = run.id;
  figures.status = run.status;
  figures.batches = run.batches;
  figures.model = reader.summary().model.name;
  bool weighted = false;
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    progress.report("analysing routers", static_cast<int64_t>(r), std::ssize(layout.routers));
    const RouterInfo& info = layout.routers[r];
    const RouterLoads loads = reader.total_loads(run.id, static_cast<int32_t>(r));
    weighted |= std::any_of(loads.weight.begin(), loads.weight.end(), [](double w) { return w != 0; });
    figures.branches = std::max<int64_t>(figures.branches, info.branches);
    figures.k = std::max<int64_t>(figures.k, info.fan_out);
    figures.routers.push_back({info.name, layer_of(info, static_cast<int64_t>(r)), loads.load, imbalance(loads.load),
                               balancedness(loads.load), entropy_bits(loads.load), gini(loads.load),
                               touched(loads.load)});
    RouterAnalysis& router = figures.routers.back();
    const std::vector<int64_t>& real = router.load_real = loads.real();
    router.imbalance_real = imbalance(real);
    router.balancedness_real = balancedness(real);
    router.entropy_bits_real = entropy_bits(real);
    router.gini_real = gini(real);
    router.touched_real = touched(real);
    router.hot = hot_set(real, kHotShare), router.cold = cold_set(real, kColdPart);
  }
  figures.layers = std::ssize(layout.routers);
  for (const Phase phase : reader.phases(run.id)) figures.phases.emplace_back(to_text(phase));
  figures.lacks = lacks_of(reader, run, layout, weighted);
  for (const std::string& fact : figures.lacks) figures.lacks_how.push_back(how_to_get(run, fact));
  int64_t loaded = 0;
  for (const RouterAnalysis& r : figures.routers) {
    if (r.touched_real == 0) continue;
    figures.imbalance += r.imbalance_real, figures.balancedness += r.balancedness_real, ++loaded;
  }
  if (loaded > 0) figures.imbalance /= static_cast<double>(loaded), figures.balancedness /= static_cast<double>(loaded);
  const auto& lacking = figures.lacks;
  const bool ordered = std::find(lacking.begin(), lacking.end(), "order") == lacking.end();
  if (!reader.has_decisions(run.id) && ordered) figures.drift = drift_of_counts(recording, progress);
  look_at_slots(run, figures);
  std::vector<std::span<const int64_t>> loads;
  for (const RouterAnalysis& r : figures.routers) loads.emplace_back(r.load_real);
  figures.chance = judge_loads(layout, loads);
  look_at_pairs(recording, figures, progress);
  const std::optional<TokenRoutes> routes = read_choices(options, recording, figures, progress);
  if (routes) look_at_choices(options, *routes, figures, progress);
  figures.chance.tokens = judge_tokens(reader, run, routes ? &*routes : nullptr);
  if (other) {
    figures.against = drift_against(recording, routes ? &*routes : nullptr, *other, progress);
    figures.against->doubt = std::move(doubt);
  }
  return figures;
}

std::string to_json(const AnalyzeFigures& f) {
  nlohmann::ordered_json json = json_of_verb("analyze");
  json["model"] = {{"name", f.model}, {"layers", f.layers}, {"branches", f.branches}, {"k", f.k}};
  if (std::find(f.lacks.begin(), f.lacks.end(), "k") != f.lacks.end()) json["model"]["k"] = nullptr;
  json["session"] = f.session;
  json["run"] = f.run;
  json["status"] = to_text(f.status);
  json["batches"] = f.batches;
  json["phases"] = f.phases;
  json["routers"] = nlohmann::ordered_json::array();
  for (const RouterAnalysis& r : f.routers)
    json["routers"].push_back(
        {{"router", r.router},
         {"layer", r.layer},
         {"load", r.load},
         {"imbalance",
          {{"max_over_mean_minus_1", r.imbalance},
           {"sglang_balancedness", r.balancedness},
           {"trtllm_by_slot", or_null(r.imbalance_of_slots)},
           {"trtllm_by_rank", or_null(r.imbalance_of_ranks)}}},
         {"entropy_bits", r.entropy_bits},
         {"gini", r.gini},
         {"touched", r.touched},
         {"load_real", r.load_real},
         {"imbalance_real",
          {{"max_over_mean_minus_1", r.imbalance_real}, {"sglang_balancedness", r.balancedness_real}}},
         {"entropy_bits_real", r.entropy_bits_real},
         {"gini_real", r.gini_real},
         {"touched_real", r.touched_real},
         {"hot", r.hot},
         {"cold", r.cold}});
  json["imbalance"] = {{"max_over_mean_minus_1", f.imbalance},
                       {"sglang_balancedness", f.balancedness},
                       {"trtllm_by_slot", or_null(f.imbalance_of_slots)},
                       {"trtllm_by_rank", or_null(f.imbalance_of_ranks)}};
  json["transitions"] = f.transitions ? json_of(*f.transitions) : nlohmann::ordered_json();
  json["coactivation"] = f.coactivation ? json_of(*f.coactivation) : nlohmann::ordered_json();
  const PredictabilityFigures& p = f.predictability;
  json["predictability"] = {{"temporal_lag1", or_null(p.temporal_lag1)},
                            {"static_in_sample", or_null(p.static_in_sample)},
                            {"static_from_prompt", or_null(p.static_from_prompt)},
                            {"static_held_out", or_null(p.static_held_out)},
                            {"transition_held_out", or_null(p.transition_held_out)}};
  json["reuse_distance"] = nullptr;
  if (f.reuse)
    json["reuse_distance"] = {{"lookups", f.reuse->lookups},
                              {"first_uses", f.reuse->first_uses},
                              {"p50", or_null(f.reuse->p50)},
                              {"p90", or_null(f.reuse->p90)},
                              {"p99", or_null(f.reuse->p99)}};
  json["drift"] = drift_json(f.drift);
  json["against"] = f.against ? json_of(*f.against) : nlohmann::ordered_json();
  json["cache"] = f.cache ? json_of(*f.cache) : nlohmann::ordered_json();
  add_chance(f.chance, json);
  json["lacks"] = f.lacks;
  json["lacks_how"] = nlohmann::ordered_json::object();
  for (size_t i = 0; i < f.lacks.size(); ++i)
    if (!f.lacks_how[i].empty()) json["lacks_how"][f.lacks[i]] = f.lacks_how[i];
  return json_text(json);
}

}  // namespace stormcell
