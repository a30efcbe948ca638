// The table twins of the view patterns.
#include <algorithm>
#include <map>

#include "views/patterns/patterns_model.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {


Value value_or_none(const std::optional<double>& value) { return value ? Value(*value) : Value(); }
Value layer_value(const PatternRouter& r) { return r.layer < 0 ? Value() : Value(qlonglong{r.layer}); }
QString chance_word(bool beyond) { return beyond ? tr("beyond chance") : tr("within chance"); }

Table::Column router_column() { return {tr("router"), tr("The name of the router")}; }
Table::Column layer_column() { return {tr("layer"), tr("The model's number of the layer; empty: not known")}; }

Table layers_table(const PatternFigures& f) {
  const QString low = tr("The lower end of where 95 % of even routers with as many choices are");
  const QString high = tr("The upper end of where 95 % of even routers with as many choices are");
  Table t{{router_column(),
           layer_column(),
           {tr("cells"), tr("Cells without padding that met the router")},
           {tr("entropy"), tr("Entropy of the loads in bits; log2 of the experts is even")},
           {tr("entropy low"), low},
           {tr("entropy high"), high},
           {tr("gini"), tr("Gini coefficient of the loads: 0 is even")},
           {tr("gini low"), low},
           {tr("gini high"), high},
           {tr("imbalance"), tr("Largest load / mean load - 1")},
           {tr("imbalance low"), low},
           {tr("imbalance high"), high},
           {tr("chance"), tr("Whether the loads are beyond chance, with regard to the number of layers")},
           {tr("margin at the cut"), tr("Median distance of the last chosen and the first not chosen score")},
           {tr("margin of the first"), tr("Median distance of the first and the second choice")},
           {tr("specialization"), tr("Mean over tokens of the largest share of their cells that one expert got")}},
          {}};
  for (const PatternRouter& r : f.routers) {
    std::optional<double> cut, first;
    for (const MarginFigures& m : r.margins) (m.kind == MarginKind::cut ? cut : first) = m.median;
    const LoadsBesideChance& c = r.chance;
    t.rows.push_back({to_qstring(r.router), layer_value(r), qlonglong{r.cells}, r.entropy_bits,
                      c.entropy_bits.range.low, c.entropy_bits.range.high, r.gini, c.gini.range.low, c.gini.range.high,
                      r.imbalance, c.imbalance.range.low, c.imbalance.range.high, chance_word(r.beyond),
                      value_or_none(cut), value_or_none(first),
                      r.vocabulary ? value_or_none(r.vocabulary->figures.specialization) : Value()});
  }
  return t;
}

Table labels_table(const PatternFigures& f) {
  Table t{{router_column(),
           layer_column(),
           {tr("label"), tr("The label of the requests")},
           {tr("expert"), tr("The number of the expert")},
           {tr("cells"), tr("Cells of the label that the expert got")},
           {tr("share"), tr("Of the label's cells")},
           {tr("uniform"), tr("The share if all experts got equally many: k / experts")},
           {tr("even low"), tr("The lower end of where 95 % of even routers are")},
           {tr("even high"), tr("The upper end of where 95 % of even routers are")}},
          {}};
  for (const PatternRouter& r : f.routers)
    for (const LabelFigures& l : r.labels)
      for (size_t b = 0; b < l.load.size(); ++b) {
        const ChanceRange& even = l.shares[b].range;
        t.rows.push_back({to_qstring(r.router), layer_value(r), to_qstring(l.label), static_cast<qlonglong>(b),
                          qlonglong{l.load[b]}, static_cast<double>(l.load[b]) / static_cast<double>(l.cells),
                          even.middle, even.low, even.high});
      }
  return t;
}

/// Counts of a second table by pair.
std::map<std::pair<int32_t, int32_t>, int64_t> counts_of_pairs(const PairTable& table) {
  std::map<std::pair<int32_t, int32_t>, int64_t> counts;
  for (const PairCount& p : table.entries) counts[{p.from, p.to}] = p.count;
  return counts;
}
qlonglong count_beside(const std::map<std::pair<int32_t, int32_t>, int64_t>& counts, const PairCount& pair) {
  const auto at = counts.find({pair.from, pair.to});
  return at == counts.end() ? 0 : at->second;
}

Table transitions_table(const PatternFigures& f) {
  Table t{{{tr("from"), tr("The router that the cells met first")},
           {tr("expert"), tr("The expert there")},
           {tr("to"), tr("The later router")},
           {tr("next expert"), tr("The expert there")},
           {tr("cells"), tr("Cells that got both experts")},
           {tr("of equal rank"), tr("Of these, cells in whose choices both have the same rank")}},
          {}};
  for (const GapFigures& g : f.gaps) {
    const auto equal = counts_of_pairs(g.equal_ranks);
    for (const PairCount& p : g.all.entries)
      t.rows.push_back({to_qstring(f.routers[g.from].router), qlonglong{p.from}, to_qstring(f.routers[g.to].router),
                        qlonglong{p.to}, qlonglong{p.count}, count_beside(equal, p)});
  }
  return t;
}

Table coactivation_table(const PatternFigures& f) {
  Table t{{router_column(),
           {tr("expert"), tr("The first expert of the pair")},
           {tr("other expert"), tr("The second expert of the pair")},
           {tr("cells"), tr("Cells that got both experts")},
           {tr("of rank neighbours"), tr("Of these, cells in whose choices one follows the other by rank")}},
          {}};
  for (const PatternRouter& r : f.routers) {
    if (!r.together) continue;
    const auto neighbours = counts_of_pairs(r.together->neighbours);
    for (const PairCount& p : r.together->all.entries)
      t.rows.push_back(
          {to_qstring(r.router), qlonglong{p.from}, qlonglong{p.to}, qlonglong{p.count}, count_beside(neighbours, p)});
  }
  return t;
}

Table vocabulary_table(const PatternFigures& f) {
  Table t{{router_column(),
           {tr("expert"), tr("The number of the expert")},
           {tr("tokens"), tr("Tokens that the expert gets most of")},
           {tr("specialization"), tr("Mean share of the cells of these tokens that the expert gets")},
           {tr("token"), tr("The id of a token, the most special ones")},
           {tr("text"), tr("The token's text; empty: not recorded")},
           {tr("cells"), tr("Cells of the token")},
           {tr("share"), tr("Of these, cells that the expert gets")}},
          {}};
  const std::map<int32_t, std::string> pieces(f.pieces.begin(), f.pieces.end());
  for (const PatternRouter& r : f.routers) {
    if (!r.vocabulary) continue;
    const auto& branches = r.vocabulary->figures.branches;
    for (size_t b = 0; b < branches.size(); ++b)
      for (const BranchToken& token : branches[b].strongest) {
        const auto at = pieces.find(token.token);
        t.rows.push_back({to_qstring(r.router), static_cast<qlonglong>(b), qlonglong{branches[b].tokens},
                          value_or_none(branches[b].specialization), qlonglong{token.token},
                          at == pieces.end() ? QString() : to_qstring(at->second), qlonglong{token.cells},
                          token.share});
      }
  }
  return t;
}

Table margins_table(const PatternFigures& f) {
  Table t{{router_column(),
           {tr("margin"), tr("cut: last chosen above first not chosen; first: first above second choice")},
           {tr("from"), tr("The lower end of a bin, a fourth of a power of two wide")},
           {tr("cells"), tr("Cells whose margin is in the bin")}},
          {}};
  for (const PatternRouter& r : f.routers)
    for (const MarginFigures& m : r.margins)
      for (size_t i = 0; i < m.bins.size(); ++i)
        t.rows.push_back({to_qstring(r.router), to_qstring(to_text(m.kind)), m.edges[i], qlonglong{m.bins[i]}});
  return t;
}

Table saturation_table(const SaturationFigures* s) {
  Table t{{router_column(),
           {tr("run"), tr("The earlier run")},
           {tr("share"), tr("Share of the last run's choices that the earlier one made")},
           {tr("first choice"), tr("Share of the cells whose first choices are equal")},
           {tr("by load"), tr("The share that the loads of both runs alone would give")},
           {tr("even low"), tr("The lower end of where 95 % of even routers are")},
           {tr("even high"), tr("The upper end of where 95 % of even routers are")},
           {tr("chance"), tr("Whether the share is beyond chance, with regard to the number of layers and runs")}},
          {}};
  if (!s) return t;
  for (const SaturationRouter& r : s->routers)
    for (size_t i = 0; i < r.points.size(); ++i) {
      const SaturationPoint& p = r.points[i];
      t.rows.push_back({to_qstring(r.router), to_qstring(s->names[i]), value_or_none(p.share),
                        value_or_none(p.first_share), value_or_none(p.by_load), p.chance.range.low, p.chance.range.high,
                        chance_word(p.beyond)});
    }
  return t;
}

}  // namespace

Table make_pattern_table(const PatternValues& values, const PatternChoice& choice) {
  static const PatternFigures kNothing;
  const PatternFigures& f = values.patterns ? *values.patterns : kNothing;
  switch (choice.form) {
    case PatternForm::labels:
      return labels_table(f);
    case PatternForm::transitions:
      return transitions_table(f);
    case PatternForm::coactivation:
      return coactivation_table(f);
    case PatternForm::vocabulary:
      return vocabulary_table(f);
    case PatternForm::margins:
      return margins_table(f);
    case PatternForm::saturation:
      return saturation_table(values.saturation.get());
    case PatternForm::layers:
      break;
  }
  return layers_table(f);
}

}  // namespace stormcell::views
