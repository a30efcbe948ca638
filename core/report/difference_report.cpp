#include "core/report/difference_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/exports/text_output.h"
#include "core/report/heatmap.h"
#include "core/report/html.h"
#include "core/report/page.h"

namespace stormcell {

namespace {
using namespace report;

constexpr size_t kSequencesListed = 20, kExpertsListed = 24, kSamplesListed = 40;

double part_of(int64_t part, int64_t of) { return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0; }

/// A text of the core begins small and has no full stop.
std::string as_sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text.empty() ? text : escape(text) + ".";
}

std::string router_text(const DiffLayer& layer) {
  return "<code>" + escape(layer.router) + "</code>" +
         (layer.router_b == layer.router ? "" : " / <code>" + escape(layer.router_b) + "</code>");
}

std::string token_text(int32_t token, const std::string& text) {
  if (!text.empty()) return "“" + shortened(text, 40) + "”";
  return token < 0 ? "–" : "#" + std::to_string(token);
}

std::string tile(const char* name, const std::string& value, const std::string& below) {
  return "<div><dt>" + std::string(name) + "</dt><dd>" + value + "<small>" + below + "</small></dd></div>\n";
}

std::string verdict_headline(const DifferenceFigures& f) {
  const DiffVerdict& v = f.verdict;
  const std::string matched = counted(f.matched_requests, "request") + ", " + counted(f.matched_cells, "cell");
  std::string html = "<header>\n" + paragraph("The same tokens in two recordings: " + matched + " in both.", "kicker") +
                     "<h1>Verdict: " + (v.cause.empty() ? "cannot be told" : escape(v.cause)) + "</h1>\n" +
                     paragraph(as_sentence(v.evidence), "lead");
  const bool all_agree = f.differing == 0 && v.cause == "agree";
  if (!v.next.empty() && !all_agree) html += paragraph("<strong>Check next:</strong> " + escape(v.next) + ".");
  for (const DiffCauseFigures& also : v.also)
    html += paragraph(
        "Also " + escape(also.cause) + ": " + escape(also.evidence) + ". Check " + escape(also.next) + ".", "note");
  if (!v.cannot_be_told.empty())
    html += paragraph(
        "The recordings lack data to tell " + escape(joined(v.cannot_be_told)) + ": " + escape(v.record) + ".", "note");
  std::string tiles = tile("choices that differ", percent(part_of(f.differing, f.compared)),
                           count(f.differing) + " of " + count(f.compared) + " choices of cells");
  tiles += tile("where a difference begins", count(f.origins), "all earlier routers of the cell agree");
  tiles += tile("near ties", f.near_ties ? count(*f.near_ties) : "not known", "of those where a difference begins");
  tiles += tile("consequences", count(f.consequences), "an earlier router of the cell differs");
  return html + "<dl class=\"tiles\">\n" + tiles + "</dl>\n" +
         paragraph("a: <code>" + escape(f.a) + "</code><br/>b: <code>" + escape(f.b) + "</code>") + "</header>\n";
}

std::string map_section(const DifferenceFigures& f) {
  Heatmap map;
  map.label = "Share of cells whose choices differ, by router and position; the table below has each router";
  map.unit = "of the cells differ";
  map.columns = "position";
  map.columns_each = f.position_width;
  map.shares = true;
  map.gaps = "no cell in both";
  Table table("Routers", {"router", "cells", "differ", "95 % interval", "begins here", "near ties", "median margin",
                          "where it begins"});
  for (const DiffLayer& layer : f.layers) {
    map.rows.push_back(layer.router);
    map.values.emplace_back();
    for (const DiffGroup& group : layer.positions)
      map.values.back().push_back(group.cells == 0 ? -1 : part_of(group.differing, group.cells));
    const std::string interval =
        layer.share_ci95 ? percent((*layer.share_ci95)[0]) + " to " + percent((*layer.share_ci95)[1]) : "–";
    table.row({router_text(layer), count(layer.cells), layer.share ? percent(*layer.share) : "–", interval,
               count(layer.first_here), layer.near_ties ? count(*layer.near_ties) : "–", number(layer.margin),
               number(layer.margin_first)});
  }
  if (map.rows.empty()) return {};
  const std::string width =
      f.position_width > 1 ? " A column is " + std::to_string(f.position_width) + " positions." : "";
  return section("map", "Where choices differ",
                 figure(draw(map),
                        "Routers in the order in which cells meet them. A tone is the share of the cells at these "
                        "positions whose sets of choices differ." +
                            width,
                        "Counted over all matched cells.") +
                     table.details());
}

std::string sequences_section(const DifferenceFigures& f) {
  if (f.sequences.empty()) return {};
  Table table("First differences", {"request of a", "position", "token", "router"});
  for (size_t i = 0; i < std::min(kSequencesListed, f.sequences.size()); ++i) {
    const DiffSequence& s = f.sequences[i];
    table.row({std::to_string(s.request), std::to_string(s.position), token_text(s.token, s.text),
               "<code>" + escape(s.router) + "</code>"});
  }
  const std::string rest =
      f.sequences_differing > static_cast<int64_t>(kSequencesListed)
          ? paragraph(counted(f.sequences_differing, "request") + " differ; the first " + count(kSequencesListed) +
                          " are listed, and <code>diff --json</code> has more.",
                      "note")
          : std::string();
  return section("sequences", "First difference of each request",
                 paragraph(counted(f.sequences_differing, "request") + " of " + count(f.matched_requests) +
                           " matched ones differ.") +
                     table.html() + rest);
}

/// Bars of a histogram stand side by side: all cells, and those where a difference begins.
std::string margins_picture(const DiffMargins& m) {
  constexpr double kLeft = 60, kBottom = 190, kHigh = 160, kRight = 880;
  int64_t all = 0, first = 0;
  double top = 0;
  for (size_t i = 0; i < m.edges.size(); ++i) all += m.all[i], first += m.first[i];
  for (size_t i = 0; i < m.edges.size(); ++i) top = std::max({top, part_of(m.all[i], all), part_of(m.first[i], first)});
  if (!(top > 0)) return {};
  const double wide = std::min(40.0, (kRight - kLeft) / static_cast<double>(m.edges.size()));
  std::string svg =
      "<svg viewBox=\"0 0 900 230\" width=\"900\" height=\"230\" role=\"img\" aria-label=\"Margins at the cut; the "
      "table "
      "below has the numbers\">\n<rect class=\"bar\" x=\"60\" y=\"2\" width=\"12\" height=\"10\"/><text x=\"78\" "
      "y=\"12\">all cells</text><rect class=\"bar2\" x=\"170\" y=\"2\" width=\"12\" height=\"10\"/><text x=\"188\" "
      "y=\"12\">where a difference begins</text>\n";
  for (const double share : {0.0, .5, 1.0})
    svg += fmt::format(
        "<path class=\"axis\" d=\"M{} {:.1f}H{}\"/><text class=\"soft end\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", kLeft,
        kBottom - share * kHigh, kRight, kLeft - 8, kBottom - share * kHigh + 4, percent(share * top));
  const size_t every = std::max<size_t>(1, static_cast<size_t>(std::ceil(70 / wide)));
  for (size_t i = 0; i < m.edges.size(); ++i) {
    const double x = kLeft + static_cast<double>(i) * wide, half = wide / 2;
    const double of_all = part_of(m.all[i], all) / top * kHigh, of_first = part_of(m.first[i], first) / top * kHigh;
    svg += fmt::format(
        "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/><rect class=\"bar2\" "
        "x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
        x, kBottom - of_all, half * .9, of_all, x + half, kBottom - of_first, half * .9, of_first);
    if (i % every == 0)
      svg += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", x, kBottom + 18, rough(m.edges[i]));
  }
  return svg + "\n</svg>\n";
}

std::string margins_section(const DifferenceFigures& f) {
  if (!f.margins)
    return section("margins", "Margins at the cut",
                   paragraph("No margins are recorded, so near ties cannot be told from other differences. " +
                             as_sentence(f.record_margins)));
  Table table("Margins", {"from", "cells of routers", "where a difference begins"}, 0);
  for (size_t i = 0; i < f.margins->edges.size(); ++i)
    table.row({rough(f.margins->edges[i]), count(f.margins->all[i]), count(f.margins->first[i])});
  const std::string ties = f.near_ties ? count(*f.near_ties) + " of the " + counted(f.origins, "cell") +
                                             " where a difference begins are near ties. "
                                       : std::string();
  return section("margins", "Margins at the cut",
                 figure(margins_picture(*f.margins),
                        ties + "A margin is the distance of the last chosen score from the first one that was not "
                               "chosen. A near tie has at most a quarter of its router's median margin.",
                        "Recorded, in four bins for each power of two, as shares of each kind of cells.") +
                     table.details());
}

std::string experts_section(const DifferenceFigures& f) {
  struct Moved {
    const DiffLayer* layer;
    DiffBranch branch;
    int64_t net() const { return branch.gained - branch.lost; }
  };
  std::vector<Moved> moved;
  for (const DiffLayer& layer : f.layers)
    for (const DiffBranch& branch : layer.branches) moved.push_back({&layer, branch});
  if (moved.empty()) return {};
  std::stable_sort(moved.begin(), moved.end(),
                   [](const Moved& x, const Moved& y) { return std::abs(x.net()) > std::abs(y.net()); });
  const auto fill = [&](Table& table, size_t most) {
    for (size_t i = 0; i < std::min(most, moved.size()); ++i) {
      const Moved& m = moved[i];
      table.row({"<code>" + escape(m.layer->router) + "</code>", std::to_string(m.branch.branch),
                 count(m.branch.gained), count(m.branch.lost), (m.net() > 0 ? "+" : "") + count(m.net())});
    }
  };
  const std::vector<std::string> head = {"router", "expert", "cells in b alone", "cells in a alone", "net"};
  Table most("Experts that gain or lose most in b", head), all("Up to eight experts of each router", head);
  fill(most, kExpertsListed), fill(all, moved.size());
  return section("experts", "Experts that gain and lose",
                 most.html() + (moved.size() > kExpertsListed ? all.details() : std::string()));
}

/// "3 (1.25), 17 (0.98)"; without scores the branches alone. `scores`: of DiffSample::either().
std::string choice_text(const DiffSample& sample, const std::vector<int32_t>& branches,
                        const std::vector<float>& scores) {
  const std::vector<int32_t> either = sample.either();
  std::string text;
  for (const int32_t branch : branches) {
    const auto at = std::find(either.begin(), either.end(), branch) - either.begin();
    add_to_list(text, std::to_string(branch) +
                          (at < std::ssize(scores) ? " (" + number(static_cast<double>(scores[at])) + ")" : ""));
  }
  return text;
}

std::string samples_section(const DifferenceFigures& f) {
  std::vector<const DiffSample*> shown;
  for (const DiffSample& sample : f.samples)
    if (!sample.consequence) shown.push_back(&sample);
  if (shown.empty()) return {};
  // Evenly chosen, so that all routers have a part.
  const size_t each = (shown.size() + kSamplesListed - 1) / kSamplesListed;
  Table table("Cells where a difference begins",
              {"router", "request of a", "position", "token", "choices of a", "choices of b", "margin"});
  for (size_t i = 0; i < shown.size(); i += each) {
    const DiffSample& s = *shown[i];
    table.row({"<code>" + escape(f.layers[s.layer].router) + "</code>", std::to_string(s.request),
               std::to_string(s.position), token_text(s.token, s.text), choice_text(s, s.a, s.scores_a),
               choice_text(s, s.b, s.scores_b), number(s.margin)});
  }
  return section(
      "cells", "Both choices of some cells",
      paragraph("Some of the cells where a difference begins, in brackets the score of each choice where it is "
                "recorded. The view diff of the Studio lists those of any router and position.") +
          table.html());
}

std::string warnings_section(const DifferenceFigures& f) {
  std::string html;
  for (const std::string& warning : f.warnings) html += "<li>" + escape(warning) + "</li>\n";
  return html.empty() ? html : section("warnings", "Warnings", "<ul>\n" + html + "</ul>\n");
}

}  // namespace

void write_difference_report(const DifferenceFigures& figures, const std::string& output) {
  TextOutput out(output);
  std::string body;
  for (const auto& part : {verdict_headline, map_section, sequences_section, margins_section, experts_section,
                           samples_section, warnings_section})
    body += part(figures);
  out.write(
      page("Stormcell diff: " + shortened(figures.verdict.cause.empty() ? "cannot be told" : figures.verdict.cause, 80),
           STORMCELL_VERSION, body,
           paragraph("stormcell " STORMCELL_VERSION "; the same tokens in " + escape(figures.a) + " and " +
                     escape(figures.b) + ". Nothing but these two recordings was read.")));
  out.finish();
}

}  // namespace stormcell
