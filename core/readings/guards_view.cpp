#include "core/readings/guards_view.h"

#include "core/base/blocking.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

/// "encoder.block.1.mlp.live" is a guard of the router "encoder.block.1.mlp".
int32_t router_of_guard(const std::string& guard, const std::vector<std::string>& routers) {
  for (size_t r = 0; r < routers.size(); ++r)
    if (guard.starts_with(routers[r] + ".")) return static_cast<int32_t>(r);
  return -1;
}

}  // namespace

int64_t GuardsOfRun::hits() const {
  int64_t sum = 0;
  for (const GuardLine& guard : guards) sum += guard.hits;
  return sum;
}

int64_t GuardsOfRun::misses() const {
  int64_t sum = 0;
  for (const GuardLine& guard : guards) sum += guard.misses;
  return sum;
}

std::shared_ptr<const GuardsOfRun> read_guards(const std::string& file, int64_t run, BatchRange range,
                                               const Progress& progress) {
  may_block("read_guards");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  auto result = std::make_shared<GuardsOfRun>();
  for (const RouterInfo& router : layout.routers) result->routers.push_back(router.name);
  for (const GuardTotal& guard : reader.guards(summary.id)) {
    const bool known = guard.step >= 0 && guard.step < std::ssize(layout.steps);
    GuardLine line{known ? layout.steps[guard.step].name : "step " + std::to_string(guard.step), -1, guard.hits,
                   guard.misses};
    line.router = router_of_guard(line.name, result->routers);
    result->guards.push_back(std::move(line));
  }
  if (result->guards.empty()) return result;
  progress.report("reading guards", 0, 1);
  for (const BatchSummary& batch : reader.batches(summary.id, opened.within(range)))
    if (batch.guard_hits + batch.guard_misses > 0)
      result->batches.push_back({batch.number, batch.guard_hits, batch.guard_misses});
  return result;
}

}  // namespace stormcell
