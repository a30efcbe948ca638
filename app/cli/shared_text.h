// Parts that texts of runs, generation, sessions and models share.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/numbers_text.h"
#include "core/summary/budget_text.h"
#include "core/summary/results.h"

namespace stormcell::cli {

/// Bytes in files; kernels lay weights out in their own way, which takes more or less.
std::string stored_text(int64_t bytes);
/// Model, data and machine of a run.
std::string subject_text(const ModelFigures& model, const DatasetFigures& data, const DeviceFigures& device);
/// A table of the routers; empty: there are none.
std::string routing_text(const std::vector<RouterFigures>& routing);
/// Adds nothing without a budget.
void add_budget(Rows& rows, const std::optional<BudgetFigures>& budget, const std::vector<ReadingPlan>& plans);
/// Adds the session and the run's number; nothing if the run is not kept.
void add_session(Rows& rows, const std::string& file, int64_t run);

}  // namespace stormcell::cli
