#include "core/experiment/session_view.h"

#include <nlohmann/json.hpp>

#include "core/formats/json_file.h"
#include "core/profile/statistics.h"
#include "core/session/session_reader.h"

namespace stormcell {

SessionOverview open_session(const std::string& file) {
  const SessionReader reader(file);
  const SessionSummary& s = reader.summary();
  SessionOverview overview{file, s.id, s.created, s.model.name, s.model.family, {}};
  for (const RunSummary& r : reader.runs()) {
    RunLine line{r.id, r.kind, r.name, r.started, std::string(to_text(r.status)), r.batches, {}, r.summary};
    const nlohmann::json summary = json_or_null(r.summary);
    if (summary.is_object() && summary.contains("settings")) line.settings = summary["settings"].dump();
    overview.runs.push_back(std::move(line));
  }
  return overview;
}

std::shared_ptr<const RoutingLoads> read_loads(const std::string& file, int64_t run) {
  const SessionReader reader(file);
  const RunSummary summary = run > 0 ? reader.run(run) : reader.find_run("");
  auto result = std::make_shared<RoutingLoads>();
  result->run = summary.id;
  result->batches = summary.batches;
  const RunLayout layout = reader.layout(summary.id);
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    const RouterLoads loads = reader.total_loads(summary.id, static_cast<int32_t>(r));
    RoutingLoads::Row row;
    row.router = layout.routers[r].name;
    row.branches = layout.routers[r].branches;
    row.load = loads.load;
    row.dropped = loads.dropped;
    row.imbalance = imbalance(loads.load);
    row.entropy = entropy_bits(loads.load);
    result->rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace stormcell
