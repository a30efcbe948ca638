#include <algorithm>

#include "core/base/counted.h"
#include "core/report/html.h"
#include "core/report/sections.h"

namespace stormcell::report {
namespace {

/// Older ones stand in the session.
constexpr size_t kMostPlacements = 6;

std::string known(const std::optional<double>& value) { return value ? number(*value) : "–"; }

/// A figure as fitted, and as it is of what was held out.
void add(const PlacementLayoutLine& line, std::vector<std::string>& row, std::optional<double> PlacementFigures::*figure) {
  row.push_back(known(line.fit.*figure));
  row.push_back(line.held_out ? known((*line.held_out).*figure) : "–");
}

Table layouts_table(const std::string& caption, const std::vector<PlacementLayoutLine>& layouts) {
  Table table(caption, {"layout", "imbalance, fitted", "held out", "cross pairs, fitted", "held out", "GPUs a token, fitted", "held out",
                        "ms a step, fitted", "held out"});
  for (const PlacementLayoutLine& line : layouts) {
    std::vector<std::string> row = {shortened(line.name, 60), number(line.fit.imbalance),
                                    line.held_out ? number(line.held_out->imbalance) : "–"};
    add(line, row, &PlacementFigures::cross_pairs);
    add(line, row, &PlacementFigures::ranks_per_token);
    add(line, row, &PlacementFigures::objective_ms);
    table.row(row);
  }
  return table;
}

std::string one_placement(const PlacementOfRun& p) {
  const std::string title = "#" + std::to_string(p.id) + " " + shortened(p.name, 60);
  std::string html = paragraph("<b>" + title + "</b>, " + escape(p.created) + ": " +
                               (p.solver == "hand" ? "made by hand" : escape("by " + p.solver)) + " for " + shortened(p.cluster, 60) +
                               ", " + counted(p.ranks, "GPU") + " in " + counted(p.nodes, "node") + ", " + counted(p.slot_count, "slot") +
                               " a layer; moves " + counted(p.moved_slots, "slot") + ". Advice: " + escape(p.advice) + ".");
  if (!p.layouts.empty()) html += layouts_table("Layouts of " + title, p.layouts).html();
  if (p.front.size() > 1) html += layouts_table("Less traffic for less balance: the front of " + title, p.front).details();
  return html;
}

}  // namespace

std::string placements_section(const ReportData& d) {
  std::string html;
  const size_t shown = std::min(d.placements.size(), kMostPlacements);
  for (size_t i = 0; i < shown; ++i) html += one_placement(d.placements[d.placements.size() - 1 - i]);
  if (html.empty()) return {};
  if (shown < d.placements.size())
    html += paragraph("The newest " + count(static_cast<int64_t>(shown)) + " of " + count(static_cast<int64_t>(d.placements.size())) + ".",
                      "note");
  return section("placements", "Placements",
                 html + paragraph("Imbalance: largest / mean load of a GPU - 1, mean over layers; cross pairs: of a token's experts at "
                                  "consecutive layers, the share of pairs on two GPUs; GPUs a token: that it goes to at a layer. Counted. "
                                  "ms a step: predicted from rates of data sheets, without start-up times, queues and overlap.",
                                  "note"));
}

}  // namespace stormcell::report
