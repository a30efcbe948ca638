#include "app/cli/shared_text.h"

#include <algorithm>
#include <utility>

#include "core/base/counted.h"
#include "core/summary/items_text.h"
#include "core/summary/placement_text.h"
#include "core/summary/sheet_text.h"
#include "core/summary/weights_text.h"

namespace stormcell::cli {
namespace {

std::string data_text(const DatasetFigures& d) {
  return items_text(d, d.batches) + (d.by_length ? ", in batches of like length" : "") +
         (d.truncated > 0 ? ", " + counted(d.truncated, "sequence") + " truncated" : "");
}

}  // namespace

std::string stored_text(int64_t bytes) { return bytes_text(bytes) + " stored"; }

std::string subject_text(const ModelFigures& m, const DatasetFigures& d, const DeviceFigures& device) {
  Rows rows;
  rows.push_back({"model", m.name + ": " + m.family + ", " + parameters_text(m.parameters) + ", " +
                               stored_text(m.weight_bytes) + ", " + counted(m.routers, "router") + " with " +
                               counted(m.branches, "branch") + ", " + weights_text(m)});
  rows.push_back({"data", d.name + ": " + data_text(d)});
  if (!d.note.empty()) rows.push_back({"", d.note});
  std::string machine = device.name + " (" + device.backend + (device.isa.empty() ? "" : ", " + device.isa) + "), " +
                        counted(device.threads, "thread");
  if (const std::string cores = placement_text(device); !cores.empty()) machine += " on " + cores + ", not pinned";
  if (device.peak_gflops > 0)
    machine +=
        "; measured limits " + number_text(device.peak_gflops) + " GFLOP/s, " + number_text(device.read_gbps) + " GB/s";
  rows.push_back({"device", machine});
  return table_text(rows, {});
}

std::string routing_text(const std::vector<RouterFigures>& routing) {
  if (routing.empty()) return {};
  const bool labels = std::any_of(routing.begin(), routing.end(),
                                  [](const RouterFigures& r) { return r.label_information.has_value(); });
  Rows rows = {{"router", "branches", "without load", "imbalance", "entropy", "dropped"}};
  if (labels) rows[0].push_back("shared with label");
  for (const RouterFigures& r : routing) {
    rows.push_back({r.router, count_text(r.branches), count_text(std::count(r.load_real.begin(), r.load_real.end(), 0)),
                    number_text(r.imbalance_real), number_text(r.entropy_real) + " bit", count_text(r.dropped)});
    if (labels) rows.back().push_back(r.label_information ? number_text(*r.label_information) + " bit" : "-");
  }
  return "\n" + table_text(rows, {1, 2, 3, 4, 5, 6}) +
         "imbalance: largest load / mean load - 1; padding left out in all columns but dropped\n";
}

void add_budget(Rows& rows, const std::optional<BudgetFigures>& budget, const std::vector<ReadingPlan>& plans) {
  if (!budget) return;
  for (BudgetLine& line : budget_lines(*budget, plans)) rows.push_back({std::move(line.name), std::move(line.text)});
}

void add_session(Rows& rows, const std::string& file, int64_t run) {
  if (!file.empty()) rows.push_back({"session", file + (run > 0 ? "#" + std::to_string(run) : "")});
}

}  // namespace stormcell::cli
