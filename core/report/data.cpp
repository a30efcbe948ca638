#include "core/report/data.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/profile/layout_edges.h"
#include "core/profile/statistics.h"
#include "core/readings/load_chance.h"
#include "core/readings/session_lookup.h"
#include "core/readings/token_chance.h"
#include "core/session/session_reader.h"

namespace stormcell::report {
namespace {

bool has_summary(const SessionReader&, const RunSummary& run) { return !run.summary.empty(); }

/// Without a selector, the newest run with figures; if there is none, the newest run.
RunSummary pick_run(const SessionReader& session, const std::string& selector) {
  if (!selector.empty()) return session.find_run(selector);
  if (std::optional<RunSummary> run = newest_run(session, has_summary)) return *std::move(run);
  return session.find_run("");
}

double shared_bits(const std::vector<LabelLoads>& labels, size_t branches) {
  std::vector<int64_t> table;
  int64_t rows = 0;
  for (const LabelLoads& l : labels) {
    if (l.label.empty() || l.load.size() != branches) continue;
    table.insert(table.end(), l.load.begin(), l.load.end());
    ++rows;
  }
  return rows > 1 ? mutual_information_bits(table, rows, static_cast<int64_t>(branches)) : 0;
}

StepInfo guard_step(const RunLayout& layout, int32_t step) {
  return step >= 0 && static_cast<size_t>(step) < layout.steps.size() ? layout.steps[step] : StepInfo{};
}

/// Judges the loads of all routers, also of those that no cell came to: as analyze does.
void judge_chance(const SessionReader& session, const RunLayout& layout, ReportData& data) {
  std::vector<std::vector<int64_t>> real;
  int64_t choices = 0;
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    real.push_back(session.total_loads(data.run.id, static_cast<int32_t>(r)).real());
    choices = std::accumulate(real.back().begin(), real.back().end(), choices);
  }
  const JudgedLoads judged =
      judge_run_loads(layout, std::vector<std::span<const int64_t>>(real.begin(), real.end()), {}, kMostDrawnForPages);
  for (RouterProfile& profile : data.routers)
    for (size_t r = 0; r < layout.routers.size(); ++r)
      if (layout.routers[r].name == profile.name) profile.chance = judged.shown(r);
  data.random_tokens = looks_like_random_tokens(session, data.run, choices);
}

void read_routing(const SessionReader& session, ReportData& data) {
  const int64_t run = data.run.id;
  const RunLayout layout = session.layout(run);
  for (size_t i = 0; i < layout.routers.size(); ++i) {
    const int32_t r = i;
    RouterProfile profile{layout.routers[i].name, layout.routers[i].protocol, layout.routers[i].fan_out,
                          session.total_loads(run, r)};
    if (profile.loads.cells == 0) continue;
    profile.real = profile.loads.real();
    profile.imbalance = stormcell::imbalance(profile.real);
    profile.entropy = entropy_bits(profile.real);
    profile.labels = session.label_loads(run, r);
    std::erase_if(profile.labels, [](const LabelLoads& l) { return l.label.empty(); });
    std::stable_sort(profile.labels.begin(), profile.labels.end(),
                     [](const LabelLoads& a, const LabelLoads& b) { return a.cells > b.cells; });
    profile.label_bits = shared_bits(profile.labels, profile.loads.load.size());
    data.routers.push_back(std::move(profile));
    for (const int32_t e : edges_from(layout, r)) {
      const int32_t next = layout.edges[e].to;
      PairTable pairs = session.transitions(run, r, next, {0, data.run.batches});
      if (!pairs.entries.empty())
        data.flows.push_back({layout.routers[i].name, layout.routers[next].name, std::move(pairs)});
    }
  }
  judge_chance(session, layout, data);
  for (const GuardTotal& g : session.guards(run)) {
    const StepInfo step = guard_step(layout, g.step);
    data.guards.push_back(
        {step.name.empty() ? "step " + std::to_string(g.step) : step.name, step.op, g.hits, g.misses});
  }
}

}  // namespace

std::string ReportData::measured() const {
  if (run_kind(run.kind) == RunKind::import)
    return "Recorded by another system, imported " + origin.date.substr(0, 10) + ".";
  return "Measured on " + origin.device + ", " + origin.date.substr(0, 10) + ".";
}

ReportData read_report_data(const std::string& session) {
  const SessionPath path = parse_session_path(session);
  const SessionReader reader(path.file);
  ReportData data;
  data.run = pick_run(reader, path.run);
  data.checked = reader.check_if_small();  // a page that others read must not show figures of a damaged file
  data.origin = origin_of(reader, data.run);
  if (const auto summary = parse_summary(data.run.summary)) {
    data.has_summary = true;
    data.figures = summary->figures;
    data.decoded = summary->generated;
  }
  if (data.figures.verb.empty()) data.figures.verb = data.run.kind;
  if (data.figures.model.name.empty()) data.figures.model.name = reader.summary().model.name;
  if (data.figures.model.family.empty()) data.figures.model.family = reader.summary().model.family;
  read_routing(reader, data);
  data.graph = read_router_graph(path.file, data.run.id, {});
  data.pictures = read_routed_pictures(path.file, data.run.id, data.figures.quality ? &*data.figures.quality : nullptr);
  for (const StoredPlacement& stored : reader.placements()) {
    if (stored.run != data.run.id) continue;
    PlacementOfRun& placement = data.placements.emplace_back(parse_place_summary(stored.summary));
    placement.id = stored.id, placement.run = stored.run, placement.name = stored.name;
    placement.solver = stored.solver, placement.created = stored.created;
  }
  data.settings = flat_json(data.figures.settings);
  data.machine = flat_json(data.run.machine);
  data.dataset = flat_json(data.run.dataset);
  // The dataset's JSON repeats the settings, for interrupted runs: they are shown only once, as settings.
  constexpr std::string_view kSettings = "settings.";
  std::vector<NamedText> given;
  std::erase_if(data.dataset, [&](const NamedText& line) {
    if (!line.first.starts_with(kSettings)) return false;
    given.emplace_back(line.first.substr(kSettings.size()), line.second);
    return true;
  });
  if (data.settings.empty()) data.settings = std::move(given);
  return data;
}

}  // namespace stormcell::report
