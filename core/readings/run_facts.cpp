#include "core/readings/run_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "core/base/blocking.h"
#include "core/base/run_kind.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/profile/statistics.h"
#include "core/readings/load_chance.h"
#include "core/readings/router_places.h"
#include "core/readings/session_lookup.h"
#include "core/readings/token_chance.h"
#include "core/summary/latency.h"

namespace stormcell {
namespace {

void add_times(const SessionReader& reader, const Progress& progress, RunFacts& facts) {
  constexpr int64_t kAtOnce = 4096;
  std::vector<double> times;
  for (int64_t first = 0; first < facts.line.batches; first += kAtOnce) {
    progress.report("reading times", first, facts.line.batches);
    for (const BatchSummary& batch : reader.batches(facts.line.id, {first, first + kAtOnce})) {
      if (batch.latency_ms > 0) times.push_back(batch.latency_ms);
      facts.guard_hits += batch.guard_hits, facts.guard_misses += batch.guard_misses;
    }
  }
  facts.latency_ms = latency_of(times);
}

/// Adds the cells that left at a test, and behind the last one those that it let go on.
void add_exit(const ExitRole& test, const std::vector<int64_t>& load, std::vector<int64_t>& cells_by_exit) {
  if (test.exit < 0) return;
  const bool known = load.size() == 2;
  const size_t leave = test.leave;
  cells_by_exit.push_back(known ? load[leave] : 0);
  if (test.last) cells_by_exit.push_back(known ? load[1 - leave] : 0);
}

void add_routers(const SessionReader& reader, const Progress& progress, RunFacts& facts) {
  const RunLayout layout = reader.layout(facts.line.id);
  std::vector<RouterLine> lines;
  for (const RouterInfo& router : layout.routers) lines.push_back(line_of(layout, router));
  const std::vector<ExitRole> exits = exit_roles(lines);
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    progress.report("reading loads", static_cast<int64_t>(r), std::ssize(layout.routers));
    const RouterLoads loads = reader.total_loads(facts.line.id, static_cast<int32_t>(r));
    // Padding is left out, as in heatmap, cells and transitions.
    const std::vector<int64_t> real = loads.real();
    facts.routers.push_back(
        {layout.routers[r].name, layout.routers[r].branches, real, loads.dropped, imbalance(real), entropy_bits(real)});
    facts.cells = std::max(facts.cells, loads.cells_without_padding(lines[r].fan_out));
    add_exit(exits[r], real, facts.cells_by_exit);
  }
  // A run that goes on is read again with every batch.
  if (facts.line.status == RunStatus::running) return;
  std::vector<std::span<const int64_t>> loads;
  for (const RoutingLoads::Row& row : facts.routers) loads.emplace_back(row.load);
  const JudgedLoads judged = judge_run_loads(layout, loads, progress, kMostDrawnForPages);
  for (size_t r = 0; r < facts.routers.size(); ++r) facts.routers[r].chance = judged.shown(r);
}

int64_t choices_of(const RunFacts& facts) {
  int64_t choices = 0;
  for (const RoutingLoads::Row& row : facts.routers)
    choices = std::accumulate(row.load.begin(), row.load.end(), choices);
  return choices;
}

}  // namespace

std::shared_ptr<const RunFacts> read_run_facts(const std::string& file, int64_t run, const Progress& progress) {
  may_block("read_run_facts");
  const SessionReader reader(file);
  const RunSummary summary = find_run(reader, run);
  auto facts = std::make_shared<RunFacts>();
  facts->line = line_of(reader, summary);
  facts->model = reader.summary().model.name;
  facts->family = reader.summary().model.family;
  facts->device = text_at(json_or_null(summary.machine), "name");
  facts->pictures = flag_at(json_or_null(summary.dataset), "pictures");
  const RecordedInputs inputs = recorded_inputs(reader, summary.id);
  facts->inputs = inputs.texts || inputs.tokens || reader.thumbnail_count(summary.id) > 0,
  facts->labels = inputs.labels;
  for (const RunSummary& other : reader.runs())
    if (!other.summary.empty() && run_kind(other.kind) != RunKind::import) facts->newest_result = other.id;
  if (summary.summary.empty()) add_times(reader, progress, *facts);
  add_routers(reader, progress, *facts);
  if (facts->line.status != RunStatus::running)
    facts->random_tokens = looks_like_random_tokens(reader, summary, choices_of(*facts));
  return facts;
}

}  // namespace stormcell
