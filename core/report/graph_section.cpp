#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "core/report/html.h"
#include "core/report/palette.h"
#include "core/report/sections.h"

namespace stormcell::report {
namespace {

constexpr double kGraphWidth = 900, kLeastSlot = 64, kMostSlot = 300, kCardShare = 0.72, kHead = 16, kRow = 13,
                 kGap = 22;
constexpr int32_t kMostSquares = 16;
/// More cards than this are no picture, and a page of them no page.
constexpr size_t kMostPlaces = 400;

struct Slots {
  double width = kLeastSlot, card = 0;  ///< card: its height
  int32_t columns = 1;                  ///< of a line
  std::vector<double> tops;             ///< by lane
};

class GraphDrawing {
 public:
  explicit GraphDrawing(const RouterGraph& graph) : graph_(graph), places_(place_routers(graph)) {
    size_t rows = 1;
    int32_t columns = 1;
    for (const RouterPlace& p : places_.places) rows = std::max(rows, p.routers.size());
    for (const PlaceLane& lane : places_.lanes) columns = std::max(columns, lane.columns);
    slots_.card = kHead + static_cast<double>(rows) * kRow + 3;
    const int32_t fit = kGraphWidth / kLeastSlot;
    const int32_t lines = (columns + fit - 1) / fit;
    slots_.columns = (columns + lines - 1) / lines;
    slots_.width = std::min(kMostSlot, kGraphWidth / slots_.columns);
    for (const PlaceLane& lane : places_.lanes) {
      slots_.tops.push_back(height_);
      height_ += lane.rows * ((lane.columns + slots_.columns - 1) / slots_.columns) * (slots_.card + kGap);
    }
    for (const PlaceEdge& e : places_.edges) most_ = std::max(most_, e.cells);
    double largest = 0;
    for (const GraphRouter& r : graph.routers) {
      squares_.push_back(squares_of(r, kMostSquares));
      for (const BranchSquare& s : squares_.back())
        largest = std::max(largest, share(r, s)), most_branches_ = std::max(most_branches_, s.branches);
    }
    high_ = end_of_scale(largest);
  }

  std::string svg() const {
    std::string edges, cards;
    for (const PlaceEdge& e : places_.edges) edges += edge(e);
    for (const RouterPlace& p : places_.places) cards += card(p);
    return fmt::format(
               "<svg viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"Graph of "
               "routers: cards for "
               "places, "
               "squares for branches, lines for cells that went on; the tables below have the numbers\">\n",
               kGraphWidth, height_ + 30) +
           edges + cards + legend() + "</svg>\n";
  }
  size_t places() const { return places_.places.size(); }
  /// Most branches of a square.
  int32_t most_branches() const { return most_branches_; }

 private:
  double share(const GraphRouter& r, const BranchSquare& square) const {
    const int64_t all = graph_.all_cells(r);
    return all > 0 ? static_cast<double>(square.cells) / all : 0;
  }
  double x(int32_t column) const { return column % slots_.columns * slots_.width; }
  double y(int32_t column, int32_t row) const {
    const size_t lane = places_.lane_of(row);
    const PlaceLane& l = places_.lanes[lane];
    return slots_.tops[lane] + (column / slots_.columns * l.rows + row - l.first_row) * (slots_.card + kGap);
  }
  double card_width() const { return slots_.width * kCardShare; }

  std::string card(const RouterPlace& p) const {
    const double left = x(p.column), top = y(p.column, p.row), wide = card_width();
    const std::string step = std::to_string(step_of(p.share, 1));
    const std::string head = p.share > 0 ? "q" + step : "zero", on = p.share > 0 ? "on" + step : "soft";
    // Ends of names tell more than their beginnings.
    const size_t room = wide / 7;
    const std::string name = p.name.size() <= room
                                 ? escape(p.name)
                                 : "…" + escape(p.name.substr(p.name.size() - std::max<size_t>(1, room - 1)));
    std::string svg = fmt::format(
        "<g><title>{}: computed for {} of all cells</title><rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" "
        "width=\"{:.1f}\" "
        "height=\"{}\"/><text "
        "class=\"mid {}\" "
        "x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
        escape(p.name), percent(p.share), head, left, top, wide, kHead, on, left + wide / 2, top + 12, name);
    double row = top + kHead + 1;
    for (const int32_t r : p.routers) {
      const std::vector<BranchSquare>& squares = squares_[r];
      const double each = wide / static_cast<double>(squares.size());
      for (size_t s = 0; s < squares.size(); ++s) {
        const double value = share(graph_.routers[r], squares[s]);
        svg += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>",
                           value > 0 ? "q" + std::to_string(step_of(value, high_)) : "zero",
                           left + static_cast<double>(s) * each, row, std::max(0.5, each - 1), kRow - 1);
      }
      row += kRow;
    }
    return svg + "</g>\n";
  }

  std::string edge(const PlaceEdge& e) const {
    const RouterPlace &from = places_.places[e.from], &to = places_.places[e.to];
    const double width = most_ > 0 ? 1 + 5 * static_cast<double>(e.cells) / most_ : 1, middle = slots_.card / 2;
    std::string path = fmt::format("M{:.1f} {:.1f}", x(from.column) + card_width(), y(from.column, from.row) + middle);
    double at_x = x(from.column) + card_width(), at_y = y(from.column, from.row) + middle;
    const auto curve = [&](double to_x, double to_y) {
      const double bend = std::max(5.0, std::abs(to_x - at_x) / 2);
      path +=
          fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", at_x + bend, at_y, to_x - bend, to_y, to_x, to_y);
      at_x = to_x, at_y = to_y;
    };
    int32_t column = from.column;
    // If the next column is in another line, the edge leaves at the right and enters again at the left.
    const auto go = [&](int32_t row) {
      const double to_x = x(column + 1), to_y = y(column + 1, row) + middle;
      if ((column + 1) % slots_.columns == 0) {
        path += fmt::format("h{:.1f}M{:.1f} {:.1f}", slots_.width * 0.2, to_x - 8, to_y);
        at_x = to_x - 8, at_y = to_y;
      }
      curve(to_x, to_y);
      ++column;
    };
    if (to.column > from.column) {
      for (const int32_t row : e.detour) {
        go(row);
        path += fmt::format("h{:.1f}", card_width());
        at_x += card_width();
      }
      go(to.row);
    } else {
      curve(x(to.column), y(to.column, to.row) + middle);
    }
    const char* dash = e.edges.empty() ? " stroke-dasharray=\"6 4\"" : e.cells == 0 ? " stroke-dasharray=\"2 4\"" : "";
    return fmt::format("<path class=\"way\" stroke-width=\"{:.1f}\"{} d=\"{}\"><title>{} → {}: {}</title></path>\n",
                       width, dash, path, escape(from.name), escape(to.name),
                       e.edges.empty() ? "not counted" : counted(e.cells, "transition"));
  }

  std::string legend() const {
    std::string svg;
    for (int32_t i = 0; i < kScaleSteps; ++i)
      svg +=
          fmt::format("<rect class=\"q{}\" x=\"{}\" y=\"{:.1f}\" width=\"26\" height=\"10\"/>", i, i * 26, height_ + 2);
    return svg + fmt::format(
                     "<text class=\"soft\" x=\"0\" y=\"{0:.1f}\">0</text><text class=\"soft end\" x=\"{1}\" "
                     "y=\"{0:.1f}\">{2}</text><text "
                     "class=\"soft\" x=\"{3}\" y=\"{4:.1f}\">square: share of all cells; head: share computed for, 0 "
                     "to 100 %</text>\n",
                     height_ + 25, kScaleSteps * 26, percent(high_), kScaleSteps * 26 + 12, height_ + 11);
  }

  const RouterGraph& graph_;
  RouterPlaces places_;
  Slots slots_;
  std::vector<std::vector<BranchSquare>> squares_;  ///< by router
  int32_t most_branches_ = 1;
  double height_ = 0, high_ = 0;
  int64_t most_ = 0;
};

}  // namespace

std::string graph_section(const ReportData& d) {
  // A single router has no edges; its loads show everything.
  if (!d.graph || d.graph->edges.empty()) return {};
  const GraphDrawing page(*d.graph);
  if (page.places() > kMostPlaces)
    return section(
        "graph", "Which router feeds which",
        paragraph(
            fmt::format("{} places are more than this page draws; the Studio's view <i>graph</i> does.", page.places()),
            "note"));
  Table table("Places of the graph, by router", {"router", "cells that came", "sent on", "share of all"});
  for (const GraphRouter& r : d.graph->routers) {
    const int64_t all = d.graph->all_cells(r);
    table.row({"<code>" + escape(r.line.name) + "</code>", count(r.cells), count(r.sent()),
               all > 0 ? percent(static_cast<double>(r.sent()) / all) : "–"});
  }
  return section(
      "graph", "Which router feeds which",
      paragraph(
          "Each card is a router, or several that are nested in one another; deeper ones stand further right. Its head "
          "says for what "
          "share of all cells something was computed there (cells that only passed do not count), each square is " +
          (page.most_branches() == 1 ? std::string("a branch")
                                     : fmt::format("up to {} branches", page.most_branches())) +
          ". The wider a line, the more cells met the one and then the other.") +
          figure(page.svg(),
                 "Routers by share of cells; where several ways join, a cell counts on each that it could have taken.",
                 d.measured() + " Counted, padding left out.") +
          table.details());
}

}  // namespace stormcell::report
