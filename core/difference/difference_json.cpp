#include <nlohmann/json.hpp>

#include "core/difference/difference.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

using DiffJson = nlohmann::ordered_json;

DiffJson json_of_layer(const DiffLayer& l) {
  DiffJson branches = DiffJson::array(), cells = DiffJson::array(), differing = DiffJson::array(),
           intervals = DiffJson::array();
  for (const DiffBranch& b : l.branches)
    branches.push_back({{"branch", b.branch}, {"gained", b.gained}, {"lost", b.lost}});
  for (const DiffGroup& g : l.positions) {
    cells.push_back(g.cells), differing.push_back(g.differing);
    intervals.push_back(g.share_ci95 ? DiffJson(*g.share_ci95) : DiffJson());
  }
  return {{"router", l.router},
          {"router_b", l.router_b},
          {"layer", l.layer < 0 ? DiffJson() : DiffJson(l.layer)},
          {"cells", l.cells},
          {"differing", l.differing},
          {"share", or_null(l.share)},
          {"share_ci95", or_null(l.share_ci95)},
          {"first_here", l.first_here},
          {"near_ties", or_null(l.near_ties)},
          {"agreement", or_null(l.agreement)},
          {"reordered", l.reordered},
          {"met_once", l.met_once},
          {"margin", or_null(l.margin)},
          {"margin_first", or_null(l.margin_first)},
          {"branches", std::move(branches)},
          {"positions",
           {{"cells", std::move(cells)}, {"differing", std::move(differing)}, {"share_ci95", std::move(intervals)}}}};
}

DiffJson json_of_verdict(const DiffVerdict& v) {
  DiffJson also = DiffJson::array();
  for (const DiffCauseFigures& c : v.also)
    also.push_back({{"cause", c.cause}, {"confidence", c.explained}, {"evidence", c.evidence}, {"next", c.next}});
  return {{"cause", text_or_null(v.cause)},  {"confidence", or_null(v.confidence)},
          {"evidence", v.evidence},          {"next", v.next},
          {"also", std::move(also)},         {"cannot_be_told", v.cannot_be_told},
          {"record", text_or_null(v.record)}};
}

}  // namespace

std::string to_json(const DifferenceFigures& f) {
  DiffJson json = json_of_verb("diff");
  json["a"] = f.a;
  json["b"] = f.b;
  json["verdict"] = json_of_verdict(f.verdict);
  json["requests"] = {{"matched", f.matched_requests}, {"by_tokens", f.by_tokens}, {"renumbered", f.renumbered},
                      {"exchanged", f.exchanged},      {"shifted", f.shifted},     {"only_a", f.requests_only_a},
                      {"only_b", f.requests_only_b}};
  json["matched_cells"] = f.matched_cells;
  json["differing_cells"] = f.differing_cells;
  json["cells_alone"] = {{"only_a", f.cells_only_a}, {"only_b", f.cells_only_b}, {"of_padding", f.cells_of_padding}};
  json["compared"] = f.compared;
  json["differing"] = f.differing;
  json["explained"] = {{"near_ties", or_null(f.near_ties)}, {"consequences", f.consequences}, {"origins", f.origins}};
  json["position_width"] = f.position_width;
  json["layers"] = list_of(f.layers, json_of_layer);
  json["sequences_differing"] = f.sequences_differing;
  json["sequences"] = DiffJson::array();
  for (const DiffSequence& s : f.sequences)
    json["sequences"].push_back({{"request", s.request}, {"first_position", s.position}, {"first_router", s.router}});
  json["margins"] = nullptr;
  if (f.margins) json["margins"] = {{"edges", f.margins->edges}, {"all", f.margins->all}, {"first", f.margins->first}};
  json["weights"] = nullptr;
  if (f.weights)
    json["weights"] = {{"compared", f.weights->compared},
                       {"mean_sum_a", f.weights->mean_sum_a},
                       {"mean_sum_b", f.weights->mean_sum_b},
                       {"median_difference", f.weights->median_difference},
                       {"median_unexplained", f.weights->median_unexplained}};
  json["sampled_cells"] = f.sampled_cells;
  json["warnings"] = f.warnings;
  return json_text(json);
}

}  // namespace stormcell
