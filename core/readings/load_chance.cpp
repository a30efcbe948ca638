#include "core/readings/load_chance.h"

#include <algorithm>

#include "core/base/blocking.h"
#include "core/readings/session_lookup.h"

namespace stormcell {

int64_t chance_questions(const RunLayout& layout) {
  const bool several =
      std::any_of(layout.routers.begin(), layout.routers.end(), [](const RouterInfo& r) { return r.fan_out > 1; });
  return 1 + 2 * (!layout.edges.empty() + several);
}

JudgedLoads judge_run_loads(const RunLayout& layout, const std::vector<std::span<const int64_t>>& loads,
                            const Progress& progress, int64_t most_drawn) {
  JudgedLoads judged;
  judged.questions = chance_questions(layout);
  const int64_t verdicts = judged.questions * std::ssize(loads);
  EvenRouters even(verdicts, most_drawn);
  for (size_t r = 0; r < loads.size(); ++r) {
    progress.report("comparing with even routers", static_cast<int64_t>(r), std::ssize(loads));
    judged.routers.push_back(even.judge(loads[r], layout.routers[r].fan_out));
    judged.beyond.push_back(judged.routers.back().p_value * static_cast<double>(verdicts) <= kFalseCalls);
  }
  return judged;
}

std::optional<LoadChance> JudgedLoads::shown(size_t router) const {
  const LoadsBesideChance& of = routers[router];
  // The range is empty: nothing was drawn.
  if (of.entropy_bits.range.high <= 0) return {};
  return LoadChance{of.imbalance.range.low, of.imbalance.range.high, of.entropy_bits.range.low,
                    of.entropy_bits.range.high, beyond[router], of.imbalance.range.middle,
                    of.entropy_bits.range.middle};
}

LoadChances read_load_chances(const std::string& file, int64_t run, const Progress& progress) {
  may_block("read_load_chances");
  const OpenedRun opened(file, run);
  if (opened.summary.status == RunStatus::running) return {};
  std::vector<std::vector<int64_t>> real;
  for (int32_t r = 0; r < std::ssize(opened.layout.routers); ++r)
    real.push_back(opened.reader.total_loads(opened.summary.id, r).real());
  const std::vector<std::span<const int64_t>> loads(real.begin(), real.end());
  const JudgedLoads judged = judge_run_loads(opened.layout, loads, progress, kMostDrawnForPages);
  LoadChances chances;
  for (size_t r = 0; r < loads.size(); ++r)
    if (const std::optional<LoadChance> shown = judged.shown(r)) chances[opened.layout.routers[r].name] = *shown;
  return chances;
}

}  // namespace stormcell
