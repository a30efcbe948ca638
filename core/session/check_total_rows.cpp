#include "core/session/check_run.h"
#include "core/session/schema.h"

namespace stormcell {
namespace {

using sqlite::Statement;

/// Rows (number, cells) of a router, ascending.
std::vector<std::pair<int64_t, int64_t>> total_rows(const CheckedRun& run, const char* query, int32_t router) {
  std::vector<std::pair<int64_t, int64_t>> rows;
  Statement find(run.state.db, query);
  for (find.bind(1, router_key(run.summary.id, router)); find.step();)
    rows.emplace_back(find.integer(0), find.integer(1));
  return rows;
}

constexpr const char *kLoadRows = "SELECT branch, cells FROM run_load WHERE router = ? ORDER BY branch",
                     *kMarginRows = "SELECT bin, cells FROM run_margin WHERE router = ? ORDER BY bin";

}  // namespace

void TotalRowsCheck::batch(const CheckedBatch& batch, int32_t router, const StoredDecision& d) {
  count_margins(d.record(router), d.branches, d.fan_out, batch.find_space(run_.router(router).space)->mask,
                margins_[router]);
}

void TotalRowsCheck::finish(const LoadsCheck& loads) const {
  const int32_t routers = run_.layout.routers.size();
  bool any_load = false, any_margin = false;
  for (int32_t r = 0; r < routers; ++r)
    any_load |= !total_rows(run_, kLoadRows, r).empty(), any_margin |= !total_rows(run_, kMarginRows, r).empty();
  // A run of an earlier schema has none, and so has one that did not end.
  if (!any_load && !any_margin) return;
  if (run_.is_running) return;
  if (!run_.has_ended) run_.damaged("there are totals in run_load, although it did not end");
  for (int32_t r = 0; r < routers; ++r) {
    check_loads(r, loads.total(r));
    check_margins(r, loads.total(r));
  }
}

void TotalRowsCheck::check_loads(int32_t router, const RouterLoads* total) const {
  const std::vector<int64_t> real =
      total ? total->real() : std::vector<int64_t>(static_cast<size_t>(run_.router(router).branches));
  std::vector<std::pair<int64_t, int64_t>> expected;
  for (size_t b = 0; b < real.size(); ++b)
    if (real[b] != 0 || real.size() <= kMostWithEmptyRows) expected.emplace_back(static_cast<int64_t>(b), real[b]);
  if (total_rows(run_, kLoadRows, router) != expected)
    run_.damaged("the cells of router " + run_.router(router).name + " in run_load are not its loads");
}

// Without decisions nothing else of the file says the margins: no more cells than came can have one.
void TotalRowsCheck::check_margins(int32_t router, const RouterLoads* total) const {
  const auto rows = total_rows(run_, kMarginRows, router);
  std::vector<std::pair<int64_t, int64_t>> counted;
  if (const auto at = margins_.find(router); at != margins_.end())
    for (int32_t i = 0; i < MarginBins::kBins; ++i)
      if (at->second.count[i] > 0) counted.emplace_back(MarginBins::number_of(i), at->second.count[i]);
  const std::string where = "the margins of router " + run_.router(router).name + " in run_margin are ";
  if (run_.decisions) {
    if (rows != counted) run_.damaged(where + "not those of its decisions");
    return;
  }
  int64_t left = total ? total->cells : 0;
  for (const auto& [bin, cells] : rows) {
    const bool is_bin = bin >= MarginBins::number_of(0) && bin < MarginBins::number_of(MarginBins::kBins);
    if (!is_bin || cells <= 0 || cells > left) run_.damaged(where + "not those of its cells");
    left -= cells;
  }
}

}  // namespace stormcell
