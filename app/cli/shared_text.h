// The words that pages of runs, generated texts, sessions and models share.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/numbers_text.h"
#include "core/summary/budget_text.h"
#include "core/summary/results.h"

namespace stormcell::cli {

/// In files: kernels lay weights out as they read them, and that takes more or less.
std::string stored_text(int64_t bytes);
/// Model, data and machine of a run.
std::string subject_text(const ModelFigures& model, const DatasetFigures& data, const DeviceFigures& device);
/// A table of the routers; empty: there are none.
std::string routing_text(const std::vector<RouterFigures>& routing);
/// Nothing without a budget.
void add_budget(Rows& rows, const std::optional<BudgetFigures>& budget, const std::vector<ReadingPlan>& plans);
/// The session that keeps the run; nothing if none does.
void add_session(Rows& rows, const std::string& file, int64_t run);

}  // namespace stormcell::cli
