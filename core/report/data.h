// Content of a report, read from a session.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/run_kind.h"
#include "core/exports/export_origin.h"
#include "core/readings/placements_view.h"
#include "core/readings/router_places.h"
#include "core/readings/session_view.h"
#include "core/report/routed_pictures.h"
#include "core/session/session_types.h"
#include "core/summary/parse.h"

namespace stormcell::report {

/// Flows of cells from the branches of one router to those of the next.
struct Flows {
  std::string from, to;
  PairTable pairs;
};
struct RouterProfile {
  std::string name, protocol;
  int32_t fan_out = 1;
  RouterLoads loads;
  std::vector<int64_t> real;          ///< cells each branch got, padding left out
  double imbalance = 0, entropy = 0;  ///< of these
  std::optional<LoadChance> chance;   ///< of these, too; empty: not judged
  std::vector<LabelLoads> labels;
  double label_bits = 0;  ///< mutual information of label and branch
};
struct GuardLine {
  std::string step, op;
  int64_t hits = 0, misses = 0;
};
struct ReportData {
  ExportOrigin origin;
  RunSummary run;
  bool checked = false;  ///< all of the session was read, and nothing of it is damaged
  bool has_summary = false;
  RunSummaryFigures figures;               ///< of the summary; empty values where the run has none
  std::optional<GenerateFigures> decoded;  ///< of generate
  std::vector<RouterProfile> routers;
  bool random_tokens = false;  ///< the recording looks like random tokens
  std::vector<Flows> flows;
  std::vector<GuardLine> guards;
  std::vector<NamedText> settings, machine, dataset;
  std::vector<PlacementOfRun> placements;  ///< oldest first
  std::shared_ptr<const RouterGraph> graph;
  RoutedPictures pictures;
  /// True for a run of another system: only its routing is known.
  bool imported() const { return run_kind(run.kind) == RunKind::import; }
  bool trusted() const { return figures.verified && figures.verified->passed; }
  /// "measured on DEVICE, DATE"
  std::string measured() const;
};
ReportData read_report_data(const std::string& session);

}  // namespace stormcell::report
