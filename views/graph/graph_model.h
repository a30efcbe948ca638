// The routers of a run as a graph: which one feeds which, the cells that came to each, and the cells of each branch.
// Pure: no widget, no reading.
#pragma once
#include <QString>
#include <algorithm>
#include <optional>
#include <vector>

#include "core/readings/guards_view.h"
#include "core/readings/router_places.h"
#include "core/readings/session_view.h"
#include "views/drawing/branch_colors.h"
#include "views/frame/table.h"

namespace stormcell::views {

/// The quantity that a square's tone shows.
enum class GraphValue { of_all, of_router };
struct GraphValueText {
  QString name, definition;
};
GraphValueText text_of(GraphValue value);

/// Most squares of a router. If it has more branches, each square stands for several in succession.
inline constexpr int32_t kMostSquares = 64;
struct GraphSquare : BranchSquare {
  double value = 0;  ///< in the unit of GraphValue
};
struct GraphRow {
  int32_t router = 0;
  QString name;  ///< the part that distinguishes it from others of its place
  std::vector<GraphSquare> squares;
};
struct GraphCard {
  QString name, tight;  ///< shortest distinct name; and without the part that all share
  std::vector<GraphRow> rows;
};
struct GraphPage {
  RouterGraph graph;
  RouterPlaces layout;
  std::vector<ExitRole> exits;   ///< by router
  std::vector<GraphCard> cards;  ///< by place
  GuardsOfRun guards;            ///< of the whole run
  LoadChances chances;           ///< of the whole run, if it is on show; else empty
  QString begins, ends;          ///< the parts that all names share: "cells.", ".mlp"
  GraphValue value = GraphValue::of_all;
  BranchScheme scheme = BranchScheme::load;  ///< `load`: tones stand for the value; else colours for branches
  BranchKeys keys;                           ///< of the whole run, with that scheme
  double high = 1;                           ///< end of the scale
  int64_t most_cells = 0;                    ///< of an edge
  int32_t most_branches = 1;                 ///< that a square stands for
  bool tells_branches() const { return scheme != BranchScheme::load; }
  /// Null: the router was not judged.
  const LoadChance* chance_of(int32_t index) const {
    const auto at = chances.find(router(index).line.name);
    return at == chances.end() ? nullptr : &at->second;
  }
  /// Even routers can have such loads: its tones are grey.
  bool within_chance(int32_t index) const {
    const LoadChance* chance = chance_of(index);
    return chance && !chance->beyond;
  }
  bool has_grey() const;
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
    std::vector<int32_t> branches;  ///< its branches, ascending; none: it was refused or dropped
  };
  std::vector<Stop> stops;  ///< in the order in which the cell met them
  /// places that computed something for it; those where it only arrived or passed do not count
  std::vector<int32_t> places;
  /// edges of the layout that alone can have brought it to a place. If several could, none is listed, because it is not
  /// known which brought something.
  std::vector<int32_t> edges;
  const Stop* at(int32_t router) const;
  bool computes(int32_t place) const { return std::find(places.begin(), places.end(), place) != places.end(); }
  bool goes(int32_t edge) const { return std::find(edges.begin(), edges.end(), edge) != edges.end(); }
};
GraphWay find_way(const GraphPage& page, const CellTrail& trail);

/// "181 routers in 62 places, named without cells.; batches 0 to 1".
QString graph_caption(const GraphPage& page);
/// "branch 3", "branches 4 to 7"; for an exit "leaves" and "goes on".
QString branches_text(const GraphPage& page, int32_t router, const BranchSquare& square);
/// HTML about a place, a square, an edge.
QString describe_place(const GraphPage& page, size_t card);
QString describe_square(const GraphPage& page, int32_t router, const GraphSquare& square);
QString describe_edge(const GraphPage& page, const PlaceEdge& edge);
/// The same as a sentence without markup, for screen readers.
QString spoken(const GraphPage& page, int32_t router, int32_t branch);
Table make_branch_table(const GraphPage& page);
Table make_edge_table(const GraphPage& page);

}  // namespace stormcell::views
