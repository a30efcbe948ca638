// The routers of a run as a graph: which feeds which, how many cells came to each, what each branch got. Pure: no
// widget, no reading.
#pragma once
#include <QString>
#include <algorithm>
#include <optional>
#include <vector>

#include "core/readings/guards_view.h"
#include "core/readings/router_places.h"
#include "views/drawing/branch_colors.h"
#include "views/frame/table.h"

namespace stormcell::views {

/// What a square's tone stands for.
enum class GraphValue { of_all, of_router };
struct GraphValueText {
  QString name, definition;
};
GraphValueText text_of(GraphValue value);

/// Squares of a router. Where it has more branches, each stands for several that follow one another.
inline constexpr int32_t kMostSquares = 64;
struct GraphSquare : BranchSquare {
  double value = 0;  ///< in the unit of GraphValue
};
struct GraphRow {
  int32_t router = 0;
  QString name;  ///< what tells it from the others of its place
  std::vector<GraphSquare> squares;
};
struct GraphCard {
  QString name, tight;  ///< as short as they can be told apart, and without what all have in common
  std::vector<GraphRow> rows;
};
struct GraphPage {
  RouterGraph graph;
  RouterPlaces layout;
  std::vector<ExitRole> exits;   ///< by router
  std::vector<GraphCard> cards;  ///< by place
  GuardsOfRun guards;            ///< of the whole run
  QString begins, ends;          ///< what their names have in common: "cells.", ".mlp"
  GraphValue value = GraphValue::of_all;
  BranchScheme scheme = BranchScheme::load;  ///< `load`: tones stand for the value; else colours for branches
  BranchKeys keys;                           ///< of the whole run, with that scheme
  double high = 1;                           ///< end of the scale
  int64_t most_cells = 0;                    ///< of an edge
  int32_t most_branches = 1;                 ///< that a square stands for
  bool tells_branches() const { return scheme != BranchScheme::load; }
  double tone(double of) const { return std::clamp(of / high, 0.0, 1.0); }
  const RouterPlace& place(size_t card) const { return layout.places[card]; }
  const GraphRouter& router(int32_t index) const { return graph.routers[index]; }
};
GraphPage make_graph_page(const RouterGraph& graph, GraphValue value);
/// The fill of a square: the tone of its value, or the colour of its branches. Branches of several groups have none.
QColor square_color(const GraphPage& page, int32_t router, const GraphSquare& square, const Theme& theme);
/// Outcomes of the guards of a place's routers; nothing: it has none that were tested.
std::optional<GuardLine> guards_of(const GraphPage& page, size_t card);

/// The way of one cell, found in a page.
struct GraphWay {
  struct Stop {
    int32_t router = 0;
    std::vector<int32_t> branches;  ///< that it got, ascending; none: it was refused or dropped
  };
  std::vector<Stop> stops;  ///< in the order in which the cell met them
  /// at which something was computed for it: what only arrived there, or passed, does not count
  std::vector<int32_t> places;
  /// Of the layout: those by which alone it can have come to a place. Where there are several, nothing tells which
  /// brought something.
  std::vector<int32_t> edges;
  const Stop* at(int32_t router) const;
  bool computes(int32_t place) const { return std::find(places.begin(), places.end(), place) != places.end(); }
  bool goes(int32_t edge) const { return std::find(edges.begin(), edges.end(), edge) != edges.end(); }
};
GraphWay find_way(const GraphPage& page, const CellTrail& trail);

/// "181 routers in 62 places, named without cells.; batches 0 to 1".
QString graph_caption(const GraphPage& page);
/// "branch 3", "branches 4 to 7"; of an exit "leaves" and "goes on".
QString branches_text(const GraphPage& page, int32_t router, const BranchSquare& square);
/// HTML about a place, a square, an edge.
QString describe_place(const GraphPage& page, size_t card);
QString describe_square(const GraphPage& page, int32_t router, const GraphSquare& square);
QString describe_edge(const GraphPage& page, const PlaceEdge& edge);
/// The same in a sentence without markup, for who cannot see the picture.
QString spoken(const GraphPage& page, int32_t router, int32_t branch);
Table make_branch_table(const GraphPage& page);
Table make_edge_table(const GraphPage& page);

}  // namespace stormcell::views
