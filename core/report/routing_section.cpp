#include <fmt/format.h>

#include <algorithm>

#include "core/base/counted.h"
#include "core/report/heatmap.h"
#include "core/report/html.h"
#include "core/report/sections.h"

namespace stormcell::report {
namespace {

constexpr int64_t kMostColumns = 64;
constexpr size_t kMostLabels = 20, kMostLabelMaps = 12, kMostRouters = 64;

int64_t sum(const std::vector<int64_t>& values) {
  int64_t total = 0;
  for (const int64_t v : values) total += v;
  return total;
}

enum class Evenness : uint8_t { imbalance, entropy };
/// "0.0812 (0.0405 to 0.163)": the median of even routers, and 95 % of them.
std::string by_chance_text(const std::optional<LoadChance>& chance, Evenness figure) {
  if (!chance) return "–";
  const LoadChance& c = *chance;
  const bool is_entropy = figure == Evenness::entropy;
  return number(is_entropy ? c.entropy_middle : c.imbalance_middle) + " (" +
         number(is_entropy ? c.entropy_low : c.imbalance_low) + " to " +
         number(is_entropy ? c.entropy_high : c.imbalance_high) + ")";
}

Table load_table(const ReportData& d, size_t branches, bool several) {
  std::vector<std::string> head = {"router",           "cells",         several ? "choices" : "kept",
                                   "of these padding", "dropped",       "imbalance",
                                   "by chance",        "entropy, bits", "by chance",
                                   "beyond chance"};
  for (size_t b = 0; b < branches; ++b) head.push_back(std::to_string(b));
  Table table("Cells by router and branch", head);
  for (const RouterProfile& r : d.routers) {
    std::vector<std::string> row = {"<code>" + escape(r.name) + "</code>",
                                    count(r.loads.cells),
                                    count(sum(r.loads.load)),
                                    count(sum(r.loads.padding)),
                                    count(sum(r.loads.dropped)),
                                    number(r.imbalance),
                                    by_chance_text(r.chance, Evenness::imbalance),
                                    number(r.entropy),
                                    by_chance_text(r.chance, Evenness::entropy),
                                    r.chance ? (r.chance->beyond ? "yes" : "no") : "–"};
    for (const int64_t v : r.loads.load) row.push_back(count(v));
    table.row(row);
  }
  return table;
}

/// "Only 1 of 210 batches: ...". Empty: all batches of the data are recorded, or the session does not say how many there
/// are.
std::string part_of_data_text(const ReportData& d) {
  const int64_t all = d.figures.dataset.batches;
  if (d.decoded || d.imported() || d.run.batches <= 0 || d.run.batches >= all) return {};
  return "Only " + with_commas(d.run.batches) + " of " + counted(all, "batch") +
         ": a branch that is empty here may have cells in the others.";
}

}  // namespace

std::string chance_sentences(const ReportData& d) {
  const auto judged =
      std::count_if(d.routers.begin(), d.routers.end(), [](const auto& r) { return r.chance.has_value(); });
  if (judged == 0) return {};
  const auto beyond =
      std::count_if(d.routers.begin(), d.routers.end(), [](const auto& r) { return r.chance && r.chance->beyond; });
  std::string text = beyond == 0
                         ? "The loads are within chance: even routers with as many cells have such loads, too."
                         : "The loads of " + count(beyond) + " of " + counted(judged, "router") +
                               " are beyond chance: even routers with as many cells hardly ever have such loads.";
  if (d.random_tokens)
    text +=
        " <strong class=\"bad\">This recording looks like random tokens</strong>, which overstate the skew of "
        "routing: record real text.";
  return text;
}

std::string loads_section(const ReportData& d) {
  if (d.routers.empty()) return {};
  const bool several =
      std::any_of(d.routers.begin(), d.routers.end(), [](const RouterProfile& r) { return r.fan_out > 1; });
  Heatmap map;
  map.label = "Heatmap of loads: routers in rows, branches in columns; the table below has every number";
  map.unit = "times the even share";
  map.mark = part_of_data_text(d);
  size_t branches = 0;
  const bool padded =
      std::any_of(d.routers.begin(), d.routers.end(), [](const RouterProfile& r) { return sum(r.loads.padding) > 0; });
  for (const RouterProfile& r : d.routers) {
    if (map.rows.size() < kMostRouters) {
      map.rows.push_back(r.name);
      map.grey.push_back(r.chance && !r.chance->beyond);
      const double mean = static_cast<double>(sum(r.real)) / (std::max<size_t>(r.real.size(), 1));
      std::vector<double> row;
      for (const int64_t v : r.real) row.push_back(mean > 0 ? static_cast<double>(v) / mean : 0);
      map.values.push_back(std::move(row));
    }
    branches = std::max(branches, r.loads.load.size());
  }
  const std::string chance = chance_sentences(d);
  std::string body = chance.empty() ? std::string() : paragraph(chance);
  body += paragraph(
      "Each row is a router, each column one of its branches. 1 is the even share: all branches of a router with "
      "equally many cells." +
      std::string(several ? " Where a router gives a cell several branches, each of these choices counts." : ""));
  body += figure(
      draw(map),
      std::string("Cells each branch got, as a multiple of the even share; an outlined field got none.") +
          (std::find(map.grey.begin(), map.grey.end(), true) != map.grey.end() ? " Grey rows are within chance." : ""),
      d.measured() + " Every decision of " + count(d.run.batches) +
          (d.decoded            ? " passes counted, one for the input of a batch and one for each turn"
           : d.run.batches == 1 ? " batch counted"
                                : " batches counted") +
          (padded ? "; padding left out, the table has it apart." : "."));
  body += paragraph(
      std::string(
          "Imbalance = largest load ÷ mean load − 1: 0 when even. Entropy = −Σ p log₂ p over the shares p of the "
          "branches, in bits: log₂ of the number of branches when even, 0 when one branch gets all. By chance: the "
          "median of even routers with as many cells, and where 95 % of them lie, both by drawing; beyond chance "
          "regards the number of routers, too.") +
          (padded ? " Both leave padding out; the loads in the table include it." : ""),
      "note");
  return section("loads", "Where the cells went", body + load_table(d, branches, several).details());
}

std::string labels_section(const ReportData& d) {
  const bool any =
      std::any_of(d.routers.begin(), d.routers.end(), [](const RouterProfile& r) { return r.labels.size() > 1; });
  if (!any) return {};
  std::string body = paragraph(
      "What the branches specialise in: of the cells with one label, the share that each branch got. Shared "
      "information = mutual "
      "information of label and "
      "branch, I = Σ p(l,b) log₂ (p(l,b) ÷ p(l) p(b)): 0 bits when the label says nothing about the branch.");
  Table bits("Information that label and branch share",
             {"router", "labels", "shared bits", "entropy of the branches, bits"});
  std::vector<const RouterProfile*> shown;
  for (const RouterProfile& r : d.routers) {
    if (r.labels.size() < 2) continue;
    bits.row(
        {"<code>" + escape(r.name) + "</code>", count(std::ssize(r.labels)), number(r.label_bits), number(r.entropy)});
    shown.push_back(&r);
  }
  std::stable_sort(shown.begin(), shown.end(),
                   [](const auto* a, const auto* b) { return a->label_bits > b->label_bits; });
  if (shown.size() > kMostLabelMaps) {
    body += paragraph("The " + std::to_string(kMostLabelMaps) +
                          " routers with the most shared information are drawn, the table has all.",
                      "note");
    shown.resize(kMostLabelMaps);
  }
  std::sort(shown.begin(), shown.end());
  for (const RouterProfile* r : shown) {
    Heatmap map;
    const int64_t each = grouping(std::ssize(r->loads.load), kMostColumns);
    map.label = "Heatmap of loads by label of router " + r->name + "; the table below has the numbers";
    map.unit = "of the label's cells";
    map.mark = part_of_data_text(d);
    map.shares = true;
    map.top = 1;
    map.columns = each > 1 ? "from branch" : "branch";
    map.columns_each = each;
    std::vector<std::string> head = {"label", "cells"};
    for (size_t b = 0; b < r->loads.load.size(); b += static_cast<size_t>(each))
      head.push_back(each > 1
                         ? fmt::format("{}–{}", b, std::min(b + static_cast<size_t>(each), r->loads.load.size()) - 1)
                         : std::to_string(b));
    Table table("Cells by label and branch of " + escape(r->name), head);
    for (size_t i = 0; i < r->labels.size() && i < kMostLabels; ++i) {
      const LabelLoads& l = r->labels[i];
      const std::vector<int64_t> loads = grouped(l.load, each);
      const double total = std::max<double>(1, static_cast<double>(sum(loads)));
      std::vector<double> row;
      std::vector<std::string> cells = {shortened(l.label, 60), count(l.cells)};
      for (const int64_t v : loads) row.push_back(static_cast<double>(v) / total), cells.push_back(count(v));
      map.rows.push_back(l.label);
      map.values.push_back(std::move(row));
      table.row(cells);
    }
    std::string caption = "Label and branch share " + number(r->label_bits) + " bits.";
    if (r->labels.size() > kMostLabels)
      caption +=
          " The " + std::to_string(kMostLabels) + " most frequent of " + std::to_string(r->labels.size()) + " labels.";
    body += "<h3><code>" + escape(r->name) + "</code></h3>\n" +
            figure(draw(map), caption, d.measured() + " Padding left out.") + table.details();
  }
  return section("labels", "Loads by label", body + bits.details());
}

}  // namespace stormcell::report
