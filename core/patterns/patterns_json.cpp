#include <nlohmann/json.hpp>
#include <utility>

#include "core/patterns/patterns.h"
#include "core/readings/chance_json.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

using PatternJson = nlohmann::ordered_json;

PatternJson json_with_method(PatternJson json, ChanceMethod method) {
  json["method"] = to_text(method);
  return json;
}
template <class Judged>
PatternJson closed_form_or_null(const std::optional<Judged>& judged) {
  return judged ? json_with_method(chance_json(*judged), ChanceMethod::closed_form) : PatternJson();
}

PatternJson json_of_loads_chance(const LoadsBesideChance& judged) {
  // The range is empty: nothing was drawn.
  if (judged.entropy_bits.range.high <= 0) return nullptr;
  return {{"method", to_text(ChanceMethod::draws)},
          {"imbalance", chance_json(judged.imbalance)},
          {"entropy_bits", chance_json(judged.entropy_bits)},
          {"gini", chance_json(judged.gini)},
          {"p_value", judged.p_value}};
}

PatternJson json_of_margins(const MarginFigures& m) {
  PatternJson below = PatternJson::array();
  for (const MarginsBelow& b : m.below)
    below.push_back({{"margin", b.margin},
                     {"cells", b.cells},
                     {"share", static_cast<double>(b.cells) / static_cast<double>(m.cells)}});
  return {
      {"cells", m.cells},          {"quarter", m.quarter}, {"median", m.median}, {"three_quarters", m.three_quarters},
      {"below", std::move(below)}, {"edges", m.edges},     {"counts", m.bins}};
}

PatternJson json_of_label(const LabelFigures& l) {
  return {{"label", l.label},
          {"cells", l.cells},
          {"load", l.load},
          {"imbalance", l.imbalance},
          {"entropy_bits", l.entropy_bits},
          {"gini", l.gini},
          {"chance", json_of_loads_chance(l.chance)},
          {"beyond", l.beyond}};
}

PatternJson json_of_together(const TogetherFigures& t) {
  PatternJson strongest = PatternJson::array();
  for (const BranchesTogether& b : t.strongest)
    strongest.push_back({{"branches", {b.a, b.b}},
                         {"cells", b.cells},
                         {"by_chance", b.by_chance},
                         {"lift", b.lift},
                         {"beyond_chance", t.chance.is_beyond(b.a, b.b)}});
  return {{"pairs", t.all.total()},
          {"pairs_of_rank_neighbours", t.neighbours.total()},
          {"strongest", std::move(strongest)},
          {"lift_chance", closed_form_or_null(t.largest_lift)},
          {"pairs_tested", t.chance.tested},
          {"pairs_beyond", std::ssize(t.chance.beyond)}};
}

PatternJson json_of_vocabulary(const PatternVocabulary& v) {
  PatternJson branches = PatternJson::array();
  for (const BranchVocabulary& b : v.figures.branches) {
    PatternJson tokens = PatternJson::array();
    for (const BranchToken& t : b.strongest)
      tokens.push_back({{"token", t.token}, {"cells", t.cells}, {"share", t.share}});
    branches.push_back(
        {{"tokens", b.tokens}, {"specialization", or_null(b.specialization)}, {"strongest", std::move(tokens)}});
  }
  PatternJson json = {{"tokens", v.figures.tokens},
                      {"cells", v.figures.cells},
                      {"tokens_left_out", v.figures.tokens_left_out},
                      {"specialization", or_null(v.figures.specialization)},
                      {"chance", nullptr},
                      {"beyond", v.beyond},
                      {"branches", std::move(branches)}};
  if (v.figures.specialization) json["chance"] = json_with_method(chance_json(v.chance), ChanceMethod::draws);
  return json;
}

PatternJson json_of_pattern_router(const PatternRouter& r) {
  PatternJson json = {{"router", r.router},       {"layer", r.layer < 0 ? PatternJson() : PatternJson(r.layer)},
                      {"branches", r.branches},   {"k", r.k},
                      {"cells", r.cells},         {"load", r.load},
                      {"imbalance", r.imbalance}, {"entropy_bits", r.entropy_bits},
                      {"gini", r.gini},           {"chance", json_of_loads_chance(r.chance)},
                      {"beyond", r.beyond},       {"margins", {{"cut", nullptr}, {"first", nullptr}}}};
  for (const MarginFigures& m : r.margins) json["margins"][std::string(to_text(m.kind))] = json_of_margins(m);
  json["coactivation"] = r.together ? json_of_together(*r.together) : PatternJson();
  json["uniform"] = static_cast<double>(r.k) / r.branches;
  json["labels"] = list_of(r.labels, json_of_label);
  json["label_bits"] = or_null(r.label_bits);
  json["label_bits_chance"] = closed_form_or_null(r.label_chance);
  json["vocabulary"] = r.vocabulary ? json_of_vocabulary(*r.vocabulary) : PatternJson();
  return json;
}

PatternJson json_of_gap(const GapFigures& g, const PatternFigures& f) {
  PatternJson strongest = PatternJson::array();
  for (const BranchTransition& t : g.figures.strongest)
    strongest.push_back({{"branch", t.from},
                         {"next_branch", t.to},
                         {"cells", t.cells},
                         {"of_cells", t.came},
                         {"probability", t.probability},
                         {"by_chance", t.by_chance},
                         {"lift", t.lift},
                         {"beyond_chance", g.chance.is_beyond(t.from, t.to)}});
  return {{"router", f.routers[g.from].router},
          {"next", f.routers[g.to].router},
          {"pairs", g.all.total()},
          {"pairs_of_equal_rank", g.equal_ranks.total()},
          {"likeliest", or_null(g.figures.likeliest)},
          {"likeliest_by_load", or_null(g.figures.likeliest_by_load)},
          {"likeliest_chance", closed_form_or_null(g.likeliest)},
          {"likeliest_of_equal_rank", or_null(g.published.likeliest)},
          {"likeliest_of_equal_rank_chance", closed_form_or_null(g.likeliest_published)},
          {"strongest", std::move(strongest)},
          {"pairs_tested", g.chance.tested},
          {"pairs_beyond", std::ssize(g.chance.beyond)}};
}

}  // namespace

std::string to_json(const PatternFigures& f) {
  PatternJson json = json_of_verb("patterns");
  json["recordings"] = f.recordings;
  json["model"] = text_or_null(f.model);
  json["cells"] = f.cells;
  json["first_choices"] = f.first_choices > 0 ? PatternJson(f.first_choices) : PatternJson();
  json["fewest_cells"] = f.fewest_cells;
  json["labels"] = f.label_names;
  json["cells_without_label"] = f.cells_without_label;
  json["questions"] = f.questions;
  json["routers"] = list_of(f.routers, json_of_pattern_router);
  json["transitions"] = PatternJson::array();
  for (const GapFigures& gap : f.gaps) json["transitions"].push_back(json_of_gap(gap, f));
  json["pieces"] = PatternJson::object();
  for (const auto& [token, text] : f.pieces) json["pieces"][std::to_string(token)] = text;
  json["lacks"] = f.lacks;
  json["warnings"] = f.warnings;
  return json_text(json);
}

}  // namespace stormcell
