#include "core/report/patterns_report.h"

#include <algorithm>
#include <map>

#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/exports/text_output.h"
#include "core/report/heatmap.h"
#include "core/report/html.h"
#include "core/report/page.h"

namespace stormcell {

namespace {
using namespace report;

constexpr int64_t kMostColumnsOfPatterns = 128;
constexpr size_t kMostRowsOfPatternMap = 200;  ///< of labels; the table below the map has all

std::string router_code(const std::string& router) { return "<code>" + escape(router) + "</code>"; }
std::string plain_number(double value) { return number(value); }
/// "0.21 (0.15 to 0.32)": a figure with the range that holds 95 % of even routers.
std::string with_even_range(double value, const ChanceRange& range, std::string (*text)(double)) {
  return text(value) + " (" + text(range.low) + " to " + text(range.high) + ")";
}
std::string percent_or_dash(const std::optional<double>& share) { return share ? percent(*share) : "–"; }
std::string beside_chance_words(bool beyond) { return beyond ? "beyond chance" : "within chance"; }
std::string of_tested(const PairsBesideChance& chance) {
  return count(std::ssize(chance.beyond)) + " of " + count(chance.tested);
}
std::string pattern_tile(const char* name, const std::string& value, const std::string& below) {
  return "<div><dt>" + std::string(name) + "</dt><dd>" + value + "<small>" + below + "</small></dd></div>\n";
}

/// Loads in columns that fit the page, as multiples of what each branch would get of an even router.
void add_load_row(Heatmap& map, const std::string& name, const std::vector<int64_t>& load, double even, bool beyond) {
  map.rows.push_back(name);
  map.grey.push_back(!beyond);
  map.values.emplace_back();
  const std::vector<int64_t> columns = grouped(load, map.columns_each);
  for (size_t c = 0; c < columns.size(); ++c) {
    const int64_t first = static_cast<int64_t>(c) * map.columns_each;
    const auto branches = static_cast<double>(std::min(map.columns_each, std::ssize(load) - first));
    map.values.back().push_back(even > 0 ? static_cast<double>(columns[c]) / (even * branches) : 0);
  }
}
Heatmap load_map(const PatternFigures& f, const std::string& label) {
  Heatmap map;
  map.label = label;
  map.unit = "times the even share";
  int64_t most = 1;
  for (const PatternRouter& r : f.routers) most = std::max<int64_t>(most, r.branches);
  map.columns_each = grouping(most, kMostColumnsOfPatterns);
  return map;
}
double even_load(const PatternRouter& r, int64_t cells) {
  return static_cast<double>(cells) * r.k / std::max(r.branches, 1);
}

std::string patterns_headline(const PatternFigures& f, const std::string& command) {
  const auto beyond =
      std::count_if(f.routers.begin(), f.routers.end(), [](const PatternRouter& r) { return r.beyond; });
  std::string recordings;
  for (const std::string& name : f.recordings) add_to_list(recordings, "<code>" + escape(name) + "</code>", "<br/>");
  std::string tiles = pattern_tile("routers", count(std::ssize(f.routers)), counted(f.cells, "cell") + " counted");
  tiles += pattern_tile("loads beyond chance", count(beyond), "of " + count(std::ssize(f.routers)) + " routers");
  if (!f.gaps.empty()) {
    const auto gaps =
        std::count_if(f.gaps.begin(), f.gaps.end(), [](const GapFigures& g) { return !g.chance.beyond.empty(); });
    tiles +=
        pattern_tile("transitions beyond chance", count(gaps), "of " + count(std::ssize(f.gaps)) + " pairs of layers");
  }
  std::string html = "<header>\n" + paragraph("Routing figures as papers publish them, beside chance.", "kicker") +
                     "<h1>Patterns of " + (f.model.empty() ? "a recording" : escape(f.model)) + "</h1>\n";
  html += "<dl class=\"tiles\">\n" + tiles + "</dl>\n" + paragraph(recordings) +
          paragraph("Made by <code>" + escape(command) + "</code>");
  html += paragraph(
      "In brackets: the range that holds 95 % of even routers with as many cells. What lies within it says "
      "nothing about the model, and is grey in maps.",
      "note");
  if (f.first_choices > 0)
    html += paragraph("Only the first " + counted(f.first_choices, "choice") + " of each cell count.", "note");
  if (f.cells_without_label > 0)
    html += paragraph(counted(f.cells_without_label, "cell") + " without a label.", "note");
  return html + "</header>\n";
}

std::string pattern_layers(const PatternFigures& f) {
  Table table("Curves over layers", {"router", "cells", "imbalance", "entropy in bits", "Gini", "loads"});
  Heatmap map = load_map(f, "Load of each branch by router; the table below has the figures of each router");
  for (const PatternRouter& r : f.routers) {
    if (r.cells == 0) continue;
    table.row({router_code(r.router), count(r.cells),
               with_even_range(r.imbalance, r.chance.imbalance.range, plain_number),
               with_even_range(r.entropy_bits, r.chance.entropy_bits.range, plain_number),
               with_even_range(r.gini, r.chance.gini.range, plain_number), beside_chance_words(r.beyond)});
    add_load_row(map, r.router, r.load, even_load(r, r.cells), r.beyond);
  }
  if (table.empty()) return {};
  return section("layers", "Layers",
                 figure(draw(map), "Load of each branch. A row is grey where its loads are within chance.",
                        "Counted over all cells without padding.") +
                     table.html());
}

std::string pattern_labels(const PatternFigures& f) {
  Table table("Labels", {"router", "label", "cells", "busiest branch", "its share", "uniform", "Gini", "loads"}, 2);
  Heatmap map = load_map(f, "Share of each label's cells by branch; the table below has each label");
  std::string bits;
  for (const PatternRouter& r : f.routers) {
    for (const LabelFigures& l : r.labels) {
      if (l.load.empty() || l.cells == 0) continue;
      const auto most = std::max_element(l.load.begin(), l.load.end()) - l.load.begin();
      table.row({router_code(r.router), escape(l.label), count(l.cells), std::to_string(most),
                 with_even_range(static_cast<double>(l.load[most]) / static_cast<double>(l.cells), l.shares[most].range,
                                 percent),
                 percent(static_cast<double>(r.k) / r.branches),
                 with_even_range(l.gini, l.chance.gini.range, plain_number), beside_chance_words(l.beyond)});
      if (map.rows.size() < kMostRowsOfPatternMap)
        add_load_row(map, r.router + " " + l.label, l.load, even_load(r, l.cells), l.beyond);
    }
    if (r.label_bits && r.label_chance)
      add_to_list(bits,
                  router_code(r.router) + " " + with_even_range(*r.label_bits, r.label_chance->range, plain_number));
  }
  if (table.empty()) return {};
  return section(
      "labels", "Label x expert",
      figure(draw(map),
             "Shares of a label beside the uniform line k / experts. A row is grey where it is within chance.",
             "Counted over the cells of each label.") +
          table.html() +
          (bits.empty() ? "" : paragraph("Bits that label and branch share, by router: " + bits + ".", "note")));
}

std::string pattern_transitions(const PatternFigures& f) {
  Table table("Transitions",
              {"from", "to", "pairs", "likeliest", "by load", "by chance", "of equal rank", "pairs beyond chance",
               "pairs too rare"},
              2);
  Table pairs("Likeliest transitions", {"from", "branch", "to", "branch", "cells", "share", "by load", "lift", "pair"},
              3);
  for (const GapFigures& g : f.gaps) {
    const std::string from = router_code(f.routers[g.from].router), to = router_code(f.routers[g.to].router);
    table.row({from, to, count(g.all.total()), percent_or_dash(g.figures.likeliest),
               percent_or_dash(g.figures.likeliest_by_load),
               g.likeliest ? percent(g.likeliest->range.low) + " to " + percent(g.likeliest->range.high) : "–",
               percent_or_dash(g.published.likeliest), of_tested(g.chance), count(std::ssize(g.chance.rarer))});
    for (const BranchTransition& t : g.figures.strongest)
      pairs.row({from, std::to_string(t.from), to, std::to_string(t.to), count(t.cells), percent(t.probability),
                 percent(t.by_chance), times(t.lift), beside_chance_words(g.chance.is_beyond(t.from, t.to))});
  }
  if (table.empty()) return {};
  return section("transitions", "Transitions",
                 paragraph("Likeliest is the mean over cells of the largest share of a branch's cells that go to one "
                           "later branch. Published matrices may pair choices of equal rank alone.") +
                     table.html() + (pairs.empty() ? "" : pairs.details()) +
                     paragraph("All pairs are in <code>transitions.csv</code> of <code>--tables</code>.", "note"));
}

std::string pattern_together(const PatternFigures& f) {
  Table table("Co-activation", {"router", "pairs", "of rank neighbours", "largest lift", "by chance",
                                "pairs beyond chance", "pairs too rare"});
  Table pairs("Strongest pairs", {"router", "branch", "other branch", "cells", "by load", "lift", "pair"});
  for (const PatternRouter& r : f.routers) {
    if (!r.together) continue;
    const TogetherFigures& t = *r.together;
    table.row({router_code(r.router), count(t.all.total()), count(t.neighbours.total()),
               t.strongest.empty() ? "–" : times(t.strongest[0].lift),
               t.largest_lift ? times(t.largest_lift->low) + " to " + times(t.largest_lift->high) : "–",
               of_tested(t.chance), count(std::ssize(t.chance.rarer))});
    for (const BranchesTogether& b : t.strongest)
      pairs.row({router_code(r.router), std::to_string(b.a), std::to_string(b.b), count(b.cells), number(b.by_chance),
                 times(b.lift), beside_chance_words(t.chance.is_beyond(b.a, b.b))});
  }
  if (table.empty()) return {};
  return section("coactivation", "Co-activation of all pairs",
                 paragraph("Published matrices may count pairs of neighbouring rank alone.") + table.html() +
                     (pairs.empty() ? "" : pairs.details()) +
                     paragraph("All pairs are in <code>coactivation.csv</code> of <code>--tables</code>.", "note"));
}

std::string pattern_vocabulary(const PatternFigures& f) {
  const std::map<int32_t, std::string> pieces(f.pieces.begin(), f.pieces.end());
  Table table("Vocabulary", {"router", "tokens", "left out", "specialization", "vocabulary"});
  Table branches("Tokens of each branch", {"router", "branch", "tokens", "specialization", "its strongest tokens"});
  for (const PatternRouter& r : f.routers) {
    if (!r.vocabulary || !r.vocabulary->figures.specialization) continue;
    const PatternVocabulary& v = *r.vocabulary;
    table.row({router_code(r.router), count(v.figures.tokens), count(v.figures.tokens_left_out),
               with_even_range(*v.figures.specialization, v.chance.range, percent), beside_chance_words(v.beyond)});
    for (size_t b = 0; b < v.figures.branches.size(); ++b) {
      const BranchVocabulary& branch = v.figures.branches[b];
      std::string tokens;
      for (const BranchToken& t : branch.strongest) {
        const auto at = pieces.find(t.token);
        add_to_list(tokens,
                    (at == pieces.end() ? "#" + std::to_string(t.token) : "“" + shortened(at->second, 24) + "”") + " " +
                        percent(t.share));
      }
      branches.row({router_code(r.router), std::to_string(b), count(branch.tokens),
                    percent_or_dash(branch.specialization), tokens.empty() ? "–" : tokens});
    }
  }
  if (table.empty()) return {};
  return section("vocabulary", "Vocabulary by expert",
                 paragraph("The mean over tokens with " + counted(f.fewest_cells, "cell") +
                           " or more of the largest share of one branch.") +
                     table.html() + branches.details());
}

std::string pattern_margins(const PatternFigures& f) {
  std::vector<std::string> head = {"router", "margin", "cells", "a quarter", "median", "three quarters"};
  std::optional<Table> table;
  Table bins("Histograms of margins", {"router", "margin", "from", "cells"}, 2);
  for (const PatternRouter& r : f.routers)
    for (const MarginFigures& m : r.margins) {
      if (!table) {
        for (const MarginsBelow& b : m.below) head.push_back("below " + rough(b.margin));
        table.emplace("Margins", head, 2);
      }
      std::vector<std::string> row = {router_code(r.router), std::string(to_text(m.kind)),
                                      count(m.cells),        number(m.quarter),
                                      number(m.median),      number(m.three_quarters)};
      for (const MarginsBelow& b : m.below)
        row.push_back(m.cells > 0 ? percent(static_cast<double>(b.cells) / static_cast<double>(m.cells)) : "–");
      table->row(row);
      for (size_t i = 0; i < m.bins.size(); ++i)
        bins.row({router_code(r.router), std::string(to_text(m.kind)), rough(m.edges[i]), count(m.bins[i])});
    }
  if (!table) return {};
  return section("margins", "Margins",
                 paragraph("The margin at the cut is the last chosen score above the first not chosen one, that of the "
                           "first is the first above the second choice. Even routers have no margins, so there is no "
                           "chance beside them.") +
                     table->html() + bins.details());
}

std::string sentences_section(const char* id, const char* title, const std::vector<std::string>& sentences) {
  std::string html;
  for (const std::string& sentence : sentences) html += "<li>" + escape(sentence) + "</li>\n";
  return html.empty() ? html : section(id, title, "<ul>\n" + html + "</ul>\n");
}

std::string saturation_point_row(const SaturationPoint& p) {
  return p.share ? percent(*p.share) + (p.beyond ? "" : " (within chance)") : "–";
}

std::string saturation_body(const SaturationFigures& f, const std::string& command) {
  Table all("All routers together",
            {"checkpoint", "recording", "cells", "share", "first choice", "by load", "by chance"}, 2);
  for (size_t i = 0; i < f.all.size(); ++i) {
    const SaturationPoint& p = f.all[i];
    all.row({escape(f.names[i]), "<code>" + escape(f.recordings[i]) + "</code>", count(p.cells),
             percent_or_dash(p.share), percent_or_dash(p.first_share), percent_or_dash(p.by_load),
             p.share ? percent(p.chance.range.low) + " to " + percent(p.chance.range.high) : "–"});
  }
  std::vector<std::string> head = {"router"};
  for (size_t i = 0; i + 1 < f.names.size(); ++i) head.push_back(escape(f.names[i]));
  Table routers("Share by router", head), even("Even routers by router", head);
  Heatmap map;
  map.label = "Share of the last checkpoint's choices by router and checkpoint; the table below has them";
  map.unit = "of the last one's choices", map.columns = "checkpoint", map.shares = true, map.gaps = "no cells";
  for (const SaturationRouter& r : f.routers) {
    std::vector<std::string> shares = {router_code(r.router)}, ranges = shares;
    map.rows.push_back(r.router);
    map.values.emplace_back();
    for (const SaturationPoint& p : r.points) {
      shares.push_back(saturation_point_row(p));
      ranges.push_back(p.share ? percent(p.chance.range.low) + " to " + percent(p.chance.range.high) : "–");
      map.values.back().push_back(p.share.value_or(-1));
    }
    map.grey.push_back(std::none_of(r.points.begin(), r.points.end(), [](const auto& p) { return p.beyond; }));
    routers.row(shares), even.row(ranges);
  }
  const std::string last = f.names.empty() ? std::string() : escape(f.names.back());
  std::string html = "<header>\n" + paragraph("Which choices of the last checkpoint earlier ones make.", "kicker") +
                     "<h1>Saturation towards " + last + "</h1>\n" +
                     paragraph(counted(f.cells, "cell") + " of " + counted(std::ssize(f.routers), "router") +
                               (f.by_tokens ? "; their token ids agree." : "; token ids are not in all recordings.")) +
                     paragraph("Made by <code>" + escape(command) + "</code>") + "</header>\n" +
                     section("checkpoints", "Checkpoints", all.html());
  if (map.rows.empty()) return html;
  return html + section("routers", "Routers",
                        figure(draw(map),
                               "A column is a checkpoint, the first one first. A row is grey where all of its shares "
                               "are within chance.",
                               "Counted over all choices of a router.") +
                            routers.html() + even.details());
}

std::string footer_of_patterns(const std::string& origin) {
  return paragraph("stormcell " STORMCELL_VERSION "; " + escape(origin) + ". Nothing but these recordings was read.");
}

}  // namespace

void write_patterns_report(const PatternFigures& figures, const std::string& command, const std::string& output) {
  TextOutput out(output);
  std::string body = patterns_headline(figures, command);
  for (const auto& part :
       {pattern_layers, pattern_labels, pattern_transitions, pattern_together, pattern_vocabulary, pattern_margins})
    body += part(figures);
  body += sentences_section("lacks", "What the recording lacks", figures.lacks) +
          sentences_section("pattern-warnings", "Warnings", figures.warnings);
  out.write(page("Stormcell patterns", STORMCELL_VERSION, body, footer_of_patterns(figures.origin)));
  out.finish();
}

void write_saturation_report(const SaturationFigures& figures, const std::string& command, const std::string& output) {
  TextOutput out(output);
  const std::string body =
      saturation_body(figures, command) + sentences_section("pattern-warnings", "Warnings", figures.warnings);
  out.write(page("Stormcell saturation", STORMCELL_VERSION, body, footer_of_patterns(figures.origin)));
  out.finish();
}

}  // namespace stormcell
