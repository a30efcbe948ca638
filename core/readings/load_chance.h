// Loads of a run's routers beside chance, as analyze, report and views show them. Not for views and commands, which see
// the judged rows (session_view.h).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/progress.h"
#include "core/chance/even_router.h"
#include "core/readings/session_view.h"
#include "core/session/session_types.h"

namespace stormcell {

/// Questions that may find something beyond chance: loads, and pairs that come more often and more rarely, of transitions
/// and of co-activation. Each gets its part of kFalseCalls, and within a question each router or pair of routers.
int64_t chance_questions(const RunLayout& layout);

struct JudgedLoads {
  int64_t questions = 1;  ///< chance_questions()
  std::vector<LoadsBesideChance> routers;
  std::vector<bool> beyond;  ///< [routers] called, with regard to their number
  /// For views and reports; empty for a router without load, or that was not judged.
  std::optional<LoadChance> shown(size_t router) const;
};

/// Draws that a page or a view waits for: at most a second of them.
inline constexpr int64_t kMostDrawnForPages = int64_t{1} << 24;

/// `loads`: of each router of the layout, without padding. Routers beyond `most_drawn` draws (EvenRouters) are not
/// judged.
JudgedLoads judge_run_loads(const RunLayout& layout, const std::vector<std::span<const int64_t>>& loads,
                            const Progress& progress = {}, int64_t most_drawn = INT64_MAX);

}  // namespace stormcell
