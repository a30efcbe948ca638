#include "core/readings/router_places.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/cell/protocol_row.h"
#include "core/summary/exits_text.h"

namespace stormcell {
namespace {

/// "cells.1.0" of "cells.1.0.reached"; empty: the name has one part.
std::string part_of(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

bool are_of_one_part(const RouterLine& outer, const RouterLine& inner) {
  return outer.space == inner.space && !part_of(inner.name).empty() && part_of(outer.name) == part_of(inner.name);
}

/// The branch of the cells that a residual threshold refuses. If the session does not say it (before schema 8), the
/// first: the families that had such routers then used it.
size_t refused_by(const RouterLine& line) { return line.residual > 0 ? static_cast<size_t>(line.residual) : 0; }
bool is_residual(const RouterLine& line) { return line.protocol == to_text(ProtocolKind::residual_threshold); }

/// Cells that a router computes for.
int64_t computed(const GraphRouter& router) {
  return is_residual(router.line) ? std::max<int64_t>(0, router.sent() - router.load[refused_by(router.line)])
                                  : router.sent();
}

void collect(const std::vector<RouterLine>& routers, RouterPlaces& to) {
  size_t exits = 0;
  for (size_t r = 0; r < routers.size(); ++r) {
    const RouterLine& line = routers[r];
    const size_t parent = line.parent;
    if (line.parent >= 0 && parent < r && are_of_one_part(routers[parent], line)) {
      to.place_of.push_back(to.place_of[parent]);
      RouterPlace& place = to.places[to.place_of[r]];
      place.routers.push_back(static_cast<int32_t>(r));
      place.name = part_of(line.name);
      continue;
    }
    to.place_of.push_back(static_cast<int32_t>(to.places.size()));
    to.places.push_back({is_exit(line) ? exit_name(exits++) : line.name, {static_cast<int32_t>(r)}});
  }
}

void count_cells(const RouterGraph& graph, const std::vector<RouterLine>& routers, RouterPlaces& to) {
  for (RouterPlace& place : to.places) {
    const size_t outermost = place.routers.front();
    place.cells = computed(graph.routers[deciding_router(routers, outermost)]);
    const int64_t all = graph.all_cells(graph.routers[outermost]);
    place.share = all > 0 ? static_cast<double>(place.cells) / all : 0;
  }
}

void join(const RouterGraph& graph, RouterPlaces& to) {
  std::map<std::pair<int32_t, int32_t>, PlaceEdge> found;
  const auto edge = [&](int32_t from, int32_t target) -> PlaceEdge& {
    const std::pair places{to.place_of[from], to.place_of[target]};
    PlaceEdge& e = found[places];
    e.from = places.first, e.to = places.second;
    return e;
  };
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    const GraphEdge& e = graph.edges[i];
    if (to.place_of[e.from] == to.place_of[e.to]) continue;
    PlaceEdge& between = edge(e.from, e.to);
    between.edges.push_back(static_cast<int32_t>(i));
    between.cells += e.total();
  }
  for (size_t r = 0; r < graph.routers.size(); ++r)
    if (const int32_t parent = graph.routers[r].line.parent;
        parent >= 0 && static_cast<size_t>(parent) < r &&
        graph.routers[parent].line.space != graph.routers[r].line.space)
      edge(parent, static_cast<int32_t>(r));
  for (auto& [places, e] : found) to.edges.push_back(std::move(e));
}

/// Lane numbers by place: places that edges join have one lane, numbered in the order of their first places; -1: no
/// edge joins it with any.
std::vector<int32_t> find_lanes(const RouterPlaces& all) {
  std::vector<int32_t> root(all.places.size()), lane(all.places.size(), -1);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int32_t place) {
    while (root[place] != place) place = root[place];
    return place;
  };
  std::vector<bool> joined(all.places.size());
  for (const PlaceEdge& e : all.edges) {
    const int32_t a = find(e.from), b = find(e.to);
    root[std::max(a, b)] = std::min(a, b);
    joined[e.from] = joined[e.to] = true;
  }
  int32_t lanes = 0;
  for (size_t p = 0; p < lane.size(); ++p) {
    if (!joined[p]) continue;
    const size_t first = find(static_cast<int32_t>(p));
    lane[p] = first == p ? lanes++ : lane[first];
  }
  return lane;
}

/// Something that takes a row of a column: a place, or an edge on its way to a later column.
struct Stop {
  int32_t place = -1;   ///< -1: those of `source` that go on
  int32_t source = -1;  ///< the place that the edges come from
  int32_t row = 0;
  double key = -1;  ///< the median row of what leads to it; -1: nothing does
};

class Lane {
 public:
  Lane(RouterPlaces& all, const std::vector<int32_t>& lane_of, int32_t number)
      : all_(all), lane_of_(lane_of), number_(number) {}

  PlaceLane lay_out(int32_t first_row) {
    set_columns();
    for (int32_t c = 0; c < static_cast<int32_t>(stops_.size()); ++c) set_rows(c);
    PlaceLane lane{first_row, 1, static_cast<int32_t>(stops_.size())};
    for (const auto& column : stops_)
      for (const Stop& s : column) {
        lane.rows = std::max(lane.rows, s.row + 1);
        if (s.place >= 0) all_.places[s.place].row = first_row + s.row;
      }
    for (PlaceEdge& e : all_.edges) {
      if (!leads_forward(e)) continue;
      for (int32_t c = column(e.from) + 1; c < column(e.to); ++c) e.detour.push_back(first_row + row_of(c, -1, e.from));
    }
    return lane;
  }

 private:
  bool has(int32_t place) const { return lane_of_[place] == number_; }
  int32_t& column(int32_t place) { return all_.places[place].column; }
  /// Places are in running order, so these form no cycle. If routers of one place are before and behind another's, the
  /// way back is drawn, and does not place anything.
  bool leads_forward(const PlaceEdge& e) const { return has(e.from) && e.from < e.to; }

  /// A place is as deep as the longest way to it.
  void set_columns() {
    // Edges in the order of (from, to): all that leads to a place comes before what leaves it only if places are gone
    // through in their order.
    for (int32_t p = 0; p < static_cast<int32_t>(all_.places.size()); ++p)
      for (const PlaceEdge& e : all_.edges)
        if (e.from == p && leads_forward(e)) column(e.to) = std::max(column(e.to), column(p) + 1);
    for (int32_t p = 0; p < static_cast<int32_t>(all_.places.size()); ++p) {
      if (!has(p)) continue;
      at(column(p)).push_back({p, -1});
    }
    for (const PlaceEdge& e : all_.edges) {
      if (!leads_forward(e)) continue;
      for (int32_t c = column(e.from) + 1; c < column(e.to); ++c) {
        const auto same = [&](const Stop& s) { return s.source == e.from; };
        if (std::none_of(at(c).begin(), at(c).end(), same)) at(c).push_back({-1, e.from});
      }
    }
  }

  std::vector<Stop>& at(int32_t column) {
    if (static_cast<size_t>(column) >= stops_.size()) stops_.resize(column + 1);
    return stops_[column];
  }
  int32_t row_of(int32_t column, int32_t place, int32_t source) {
    for (const Stop& s : at(column))
      if (s.place == place && s.source == source) return s.row;
    return 0;
  }

  /// Puts each place in the median row of those that lead to it, below places that belong further up; edges that only
  /// pass go round.
  void set_rows(int32_t c) {
    std::vector<Stop>& here = at(c);
    for (Stop& s : here) {
      std::vector<int32_t> rows;
      for (const PlaceEdge& e : all_.edges) {
        if (!leads_forward(e) || (s.place >= 0 ? e.to != s.place : e.from != s.source)) continue;
        rows.push_back(column(e.from) == c - 1 ? row_of(c - 1, e.from, -1) : row_of(c - 1, -1, e.from));
      }
      std::sort(rows.begin(), rows.end());
      if (!rows.empty()) s.key = rows[(rows.size() - 1) / 2];
    }
    std::stable_sort(here.begin(), here.end(), [](const Stop& a, const Stop& b) {
      return std::pair(a.key, a.place < 0) < std::pair(b.key, b.place < 0);
    });
    int32_t free = 0;
    for (Stop& s : here) free = 1 + (s.row = std::max(free, static_cast<int32_t>(s.key)));
  }

  RouterPlaces& all_;
  const std::vector<int32_t>& lane_of_;
  int32_t number_;
  std::vector<std::vector<Stop>> stops_;  ///< by column
};

}  // namespace

size_t RouterPlaces::lane_of(int32_t row) const {
  size_t lane = 0;
  while (lane + 1 < lanes.size() && lanes[lane + 1].first_row <= row) ++lane;
  return lane;
}

std::vector<BranchSquare> squares_of(const GraphRouter& router, int32_t most) {
  const int32_t branches = router.line.branches, each = std::max(1, (branches + most - 1) / most);
  std::vector<BranchSquare> squares;
  for (int32_t first = 0; first < branches; first += each) {
    BranchSquare& square = squares.emplace_back(BranchSquare{first, std::min(each, branches - first)});
    for (size_t b = first; b < static_cast<size_t>(first + square.branches); ++b)
      square.cells += router.load[b], square.dropped += router.dropped[b];
  }
  return squares;
}

bool is_exit(const RouterLine& router) { return router.protocol == to_text(ProtocolKind::exit_threshold); }

/// A session of before schema 8 does not say by which branch items leave. They go on by the branch that holds the next
/// router; if a router has no next, they leave by its first branch.
std::vector<ExitRole> exit_roles(const std::vector<RouterLine>& routers) {
  std::vector<ExitRole> tests(routers.size());
  int32_t exits = 0, other = 0;
  for (size_t r = 0; r < routers.size(); ++r) {
    if (!is_exit(routers[r])) continue;
    const int32_t at = routers[r].parent_branch;
    if (exits > 0 && (at == 0 || at == 1)) other = 1 - at;
    tests[r].exit = exits++;
  }
  for (size_t r = 0; r < routers.size(); ++r) {
    const int32_t residual = routers[r].residual;
    tests[r].leave = residual == 0 || residual == 1 ? residual : other;
    tests[r].last = exits > 0 && tests[r].exit == exits - 1;
  }
  return tests;
}

std::string branch_name(const ExitRole& test, int32_t branch) {
  if (test.exit < 0) return "branch " + std::to_string(branch);
  return branch == test.leave ? "leaves" : "goes on";
}

double end_of_scale(double largest_share) { return largest_share <= 0 || largest_share > 0.5 ? 1 : largest_share; }

size_t deciding_router(const std::vector<RouterLine>& routers, size_t outermost) {
  for (size_t r = outermost; r < routers.size(); ++r)
    if (is_residual(routers[r]) && (r == outermost || are_of_one_part(routers[outermost], routers[r]))) return r;
  return outermost;
}

bool computes(const std::vector<RouterLine>& routers, size_t router, int32_t branch) {
  const RouterLine& line = routers[router];
  if (is_residual(line)) return branch != static_cast<int32_t>(refused_by(line));
  const auto is_within = [&](const RouterLine& other) {
    return &other != &line && other.parent >= 0 && other.parent_branch == 0 && are_of_one_part(line, other);
  };
  return line.branches > 1 || std::none_of(routers.begin(), routers.end(), is_within);
}

int64_t places_computed(const std::vector<RouterLine>& routers, const std::vector<RouterPlace>& places,
                        const std::function<std::span<const int32_t>(size_t router)>& choices) {
  return std::count_if(places.begin(), places.end(), [&](const RouterPlace& place) {
    const size_t router = deciding_router(routers, static_cast<size_t>(place.routers.front()));
    const std::span<const int32_t> taken = choices(router);
    return std::any_of(taken.begin(), taken.end(),
                       [&](int32_t branch) { return branch >= 0 && computes(routers, router, branch); });
  });
}

std::vector<RouterPlace> places_of(const std::vector<RouterLine>& routers) {
  RouterPlaces all;
  collect(routers, all);
  return std::move(all.places);
}

RouterPlaces place_routers(const RouterGraph& graph) {
  std::vector<RouterLine> routers;
  for (const GraphRouter& router : graph.routers) routers.push_back(router.line);
  RouterPlaces all;
  collect(routers, all);
  count_cells(graph, routers, all);
  join(graph, all);
  const std::vector<int32_t> lane_of = find_lanes(all);
  int32_t row = 0;
  for (int32_t number = 0; std::find(lane_of.begin(), lane_of.end(), number) != lane_of.end(); ++number) {
    all.lanes.push_back(Lane(all, lane_of, number).lay_out(row));
    row += all.lanes.back().rows;
  }
  // Nothing says where the others belong: side by side, in running order.
  PlaceLane alone{row, 1, 0};
  for (size_t p = 0; p < all.places.size(); ++p)
    if (lane_of[p] < 0) all.places[p].column = alone.columns++, all.places[p].row = row;
  if (alone.columns > 0) all.lanes.push_back(alone);
  return all;
}

}  // namespace stormcell
