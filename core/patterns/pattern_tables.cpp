#include "core/patterns/pattern_tables.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "core/base/error.h"
#include "core/exports/csv_row.h"
#include "core/exports/text_output.h"

namespace stormcell {
namespace {

std::string layer_cell(const PatternRouter& r) { return r.layer < 0 ? std::string() : std::to_string(r.layer); }
std::string number_or_empty(const std::optional<double>& value) { return value ? csv_cell(*value) : std::string(); }

const MarginFigures* margins_of(const PatternRouter& r, MarginKind kind) {
  for (const MarginFigures& m : r.margins)
    if (m.kind == kind) return &m;
  return nullptr;
}
std::string median_cell(const PatternRouter& r, MarginKind kind) {
  const MarginFigures* m = margins_of(r, kind);
  return m ? csv_cell(m->median) : std::string();
}

std::string layers_rows(const PatternFigures& f) {
  std::string text;
  for (const PatternRouter& r : f.routers) {
    const LoadsBesideChance& c = r.chance;
    text += csv_row(r.router, layer_cell(r), r.branches, r.k, r.cells, r.imbalance, c.imbalance.range.low,
                    c.imbalance.range.high, r.entropy_bits, c.entropy_bits.range.low, c.entropy_bits.range.high, r.gini,
                    c.gini.range.low, c.gini.range.high, int32_t{r.beyond}, median_cell(r, MarginKind::cut),
                    median_cell(r, MarginKind::first));
    const bool words = r.vocabulary && r.vocabulary->figures.specialization;
    text += words ? "," +
                        csv_row(*r.vocabulary->figures.specialization, r.vocabulary->chance.range.low,
                                r.vocabulary->chance.range.high) +
                        "\n"
                  : ",,,\n";
  }
  return text;
}

std::string margins_rows(const PatternFigures& f) {
  std::string text;
  for (const PatternRouter& r : f.routers)
    for (const MarginFigures& m : r.margins)
      for (size_t i = 0; i < m.bins.size(); ++i)
        text += csv_row(r.router, layer_cell(r), to_text(m.kind), m.edges[i], m.bins[i]) + "\n";
  return text;
}

/// Counts of the second table beside those of the first, which has all of its pairs.
std::map<std::pair<int32_t, int32_t>, int64_t> counts_by_pair(const PairTable& table) {
  std::map<std::pair<int32_t, int32_t>, int64_t> counts;
  for (const PairCount& p : table.entries) counts[{p.from, p.to}] = p.count;
  return counts;
}
int64_t count_of(const std::map<std::pair<int32_t, int32_t>, int64_t>& counts, const PairCount& pair) {
  const auto at = counts.find({pair.from, pair.to});
  return at == counts.end() ? 0 : at->second;
}

std::string coactivation_rows(const PatternFigures& f) {
  std::string text;
  for (const PatternRouter& r : f.routers) {
    if (!r.together) continue;
    const auto neighbours = counts_by_pair(r.together->neighbours);
    for (const PairCount& p : r.together->all.entries)
      text += csv_row(r.router, layer_cell(r), p.from, p.to, p.count, count_of(neighbours, p)) + "\n";
  }
  return text;
}

std::string transitions_rows(const PatternFigures& f) {
  std::string text;
  for (const GapFigures& g : f.gaps) {
    const auto equal = counts_by_pair(g.equal_ranks);
    for (const PairCount& p : g.all.entries)
      text +=
          csv_row(f.routers[g.from].router, p.from, f.routers[g.to].router, p.to, p.count, count_of(equal, p)) + "\n";
  }
  return text;
}

std::string labels_rows(const PatternFigures& f) {
  std::string text;
  for (const PatternRouter& r : f.routers)
    for (const LabelFigures& l : r.labels)
      for (int32_t b = 0; b < std::ssize(l.load); ++b) {
        const ChanceRange& even = l.shares[b].range;
        text +=
            csv_row(r.router, layer_cell(r), l.label, b, l.load[b], l.cells,
                    static_cast<double>(l.load[b]) / static_cast<double>(l.cells), even.middle, even.low, even.high) +
            "\n";
      }
  return text;
}

std::string vocabulary_rows(const PatternFigures& f) {
  std::string text;
  const std::map<int32_t, std::string> pieces(f.pieces.begin(), f.pieces.end());
  for (const PatternRouter& r : f.routers) {
    if (!r.vocabulary) continue;
    const std::vector<BranchVocabulary>& branches = r.vocabulary->figures.branches;
    for (int32_t b = 0; b < std::ssize(branches); ++b)
      for (const BranchToken& t : branches[b].strongest) {
        const auto at = pieces.find(t.token);
        text += csv_row(r.router, layer_cell(r), b, branches[b].tokens, number_or_empty(branches[b].specialization),
                        t.token, at == pieces.end() ? std::string() : at->second, t.cells, t.share) +
                "\n";
      }
  }
  return text;
}

struct TableRows {
  PatternTable about;
  std::string_view columns;
  std::string (*rows)(const PatternFigures&);
};
constexpr std::array kRows = {
    TableRows{{"layers", "figures of each layer, beside chance"},
              "router,layer,branches,k,cells,imbalance,imbalance_low,imbalance_high,entropy_bits,entropy_bits_low,"
              "entropy_bits_high,gini,gini_low,gini_high,beyond_chance,median_margin_at_cut,median_margin_of_first,"
              "vocabulary_specialization,vocabulary_low,vocabulary_high",
              layers_rows},
    TableRows{{"margins", "cells of each layer by their margin"}, "router,layer,margin,from,cells", margins_rows},
    TableRows{{"coactivation", "cells that got both of two branches, all pairs and rank neighbours alone"},
              "router,layer,branch,other_branch,cells,of_rank_neighbours",
              coactivation_rows},
    TableRows{{"transitions", "cells from branch to branch of a later layer, all pairs and equal ranks alone"},
              "router,branch,next_router,next_branch,cells,of_equal_rank",
              transitions_rows},
    TableRows{{"labels", "share of each label's cells at each branch, beside the uniform line"},
              "router,layer,label,branch,cells,cells_of_label,share,uniform,uniform_low,uniform_high",
              labels_rows},
    TableRows{{"vocabulary", "the tokens that go to each branch most"},
              "router,layer,branch,tokens_of_branch,specialization,token,text,cells,share",
              vocabulary_rows},
};

constexpr auto kPatternTables = [] {
  std::array<PatternTable, kRows.size()> list{};
  for (size_t i = 0; i < list.size(); ++i) list[i] = kRows[i].about;
  return list;
}();

}  // namespace

std::span<const PatternTable> pattern_tables() { return kPatternTables; }

std::string pattern_table_text(std::string_view name, const PatternFigures& f) {
  for (const TableRows& table : kRows) {
    if (table.about.name != name) continue;
    const std::string rows = table.rows(f);
    if (rows.empty()) return {};
    return "# stormcell " STORMCELL_VERSION "; " + f.origin + "; " + std::string(name) + "\n" +
           std::string(table.columns) + "\n" + rows;
  }
  return {};
}

std::vector<std::string> write_pattern_tables(const PatternFigures& figures, const std::string& folder) {
  make_table_folder(folder);
  std::vector<std::string> written;
  for (const PatternTable& table : kPatternTables) {
    const std::string text = pattern_table_text(table.name, figures);
    if (text.empty()) continue;
    TextOutput out((std::filesystem::path(folder) / (std::string(table.name) + ".csv")).string());
    out.write(text);
    out.finish();
    written.push_back(std::string(table.name) + ".csv");
  }
  return written;
}

void make_table_folder(const std::string& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error))
    bad_input(folder, "is a file, and not a folder for tables", "name a folder");
  std::filesystem::create_directories(folder, error);
  if (error) bad_input(folder, "cannot be made: " + error.message(), "name a folder that can be written to");
}

}  // namespace stormcell
