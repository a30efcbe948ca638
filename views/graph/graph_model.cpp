#include "views/graph/graph_model.h"

#include <QStringList>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

#include "views/words/figure_text.h"
#include "views/words/router_names.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

/// The common first parts and the common last parts of all names, with the dots between; every name keeps at least one
/// part.
std::pair<QString, QString> ends_of(const std::vector<RouterPlace>& places) {
  if (places.size() < 2) return {};
  QString front = to_qstring(places.front().name), back = front;
  for (const RouterPlace& place : places) {
    const QString name = to_qstring(place.name);
    while (!name.startsWith(front)) front.chop(1);
    while (!name.endsWith(back)) back.remove(0, 1);
  }
  front = front.left(front.lastIndexOf('.') + 1);
  const qsizetype dot = back.indexOf('.');
  back = dot < 0 ? QString() : back.mid(dot);
  const bool apart = std::all_of(places.begin(), places.end(), [&](const RouterPlace& place) {
    return to_qstring(place.name).size() > front.size() + back.size();
  });
  return {front, apart ? back : QString()};
}

double ratio(int64_t part, int64_t all) { return all > 0 ? static_cast<double>(part) / all : 0; }

int64_t whole_of(const GraphPage& page, const GraphRouter& router) {
  return page.value == GraphValue::of_all ? page.graph.all_cells(router) : router.cells;
}

GraphRow make_graph_row(const GraphPage& page, int32_t index) {
  const GraphRouter& router = page.router(index);
  const int64_t all = whole_of(page, router);
  GraphRow row{index, {}, {}};
  for (const BranchSquare& square : squares_of(router, kMostSquares))
    row.squares.push_back({square, ratio(square.cells, all)});
  return row;
}

QString name_of(const GraphPage& page, int32_t router, int32_t branch) {
  return to_qstring(branch_name(page.exits[router], branch));
}

/// The routers without their loads, as in the graph.
std::vector<RouterLine> lines_of(const RouterGraph& graph) {
  std::vector<RouterLine> lines;
  for (const GraphRouter& router : graph.routers) lines.push_back(router.line);
  return lines;
}

QString share_text(int64_t cells, int64_t all) {
  return all > 0 ? percent_text(ratio(cells, all)) : QString::fromUtf8("–");
}

/// "within chance"; empty: the router was not judged.
QString beside_text(const GraphPage& page, int32_t router) {
  const LoadChance* chance = page.chance_of(router);
  return !chance ? QString() : chance->beyond ? tr("beyond chance") : tr("within chance");
}
/// The same for a description, with what even routers have.
QString chance_text(const GraphPage& page, int32_t router) {
  const LoadChance* chance = page.chance_of(router);
  if (!chance) return {};
  return tr("its loads are %1: 95 % of even routers have an imbalance of %2 to %3, drawn for the whole run")
      .arg(beside_text(page, router), number_text(chance->imbalance_low), number_text(chance->imbalance_high));
}

/// A line a branch, with its transitions, the strongest first.
QString by_branch(const GraphPage& page, const GraphEdge& e) {
  constexpr size_t kMostNamed = 6;
  std::vector<size_t> order(e.cells.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return e.cells[a] > e.cells[b]; });
  std::erase_if(order, [&](size_t b) { return e.cells[b] == 0; });
  QStringList named;
  for (size_t i = 0; i < order.size() && i < kMostNamed; ++i)
    named << name_of(page, e.from, static_cast<int32_t>(order[i])) + ": " + counted_text(e.cells[order[i]], "cell");
  if (order.size() > kMostNamed) named << tr("%1 more").arg(order.size() - kMostNamed);
  const QString way =
      to_qstring(page.router(e.from).line.name) + QString::fromUtf8(" → ") + to_qstring(page.router(e.to).line.name);
  return way.toHtmlEscaped() + "<br>&nbsp;&nbsp;" + (named.isEmpty() ? tr("no cell") : named.join(", "));
}

std::vector<int32_t> places_of_way(const GraphPage& page, const GraphWay& way) {
  const std::vector<RouterLine> lines = lines_of(page.graph);
  const auto choices = [&](size_t router) -> std::span<const int32_t> {
    const GraphWay::Stop* stop = way.at(static_cast<int32_t>(router));
    return stop ? std::span(stop->branches) : std::span<const int32_t>();
  };
  std::vector<int32_t> computing;
  for (size_t p = 0; p < page.layout.places.size(); ++p)
    if (places_computed(lines, {page.layout.places[p]}, choices) > 0) computing.push_back(static_cast<int32_t>(p));
  return computing;
}

}  // namespace

GraphValueText text_of(GraphValue value) {
  if (value == GraphValue::of_all)
    return {
        tr("Share of all cells"),
        tr("how many of all cells the branch got (all: those of the router that most came to); counted, no padding")};
  return {tr("Share of the router's cells"),
          tr("how many of the cells that came to its router the branch got; counted, no padding")};
}

bool GraphPage::has_grey() const {
  if (tells_branches()) return false;
  for (int32_t r = 0; r < std::ssize(graph.routers); ++r)
    if (within_chance(r)) return true;
  return false;
}

QColor square_color(const GraphPage& page, int32_t router, const GraphSquare& square, const Theme& theme) {
  if (!page.tells_branches()) {
    const QColor tone = theme.sequential(page.tone(square.value));
    return page.within_chance(router) ? in_grey(tone) : tone;
  }
  const BranchKey& key = key_of(page.keys, page.router(router).line.name);
  int32_t shown = square.first;
  for (int32_t b = square.first; b < square.first + square.branches; ++b) {
    // The one branch is seen among others of its square.
    if (page.scheme == BranchScheme::one && b == key.chosen) shown = b;
    if (page.scheme == BranchScheme::cluster && branch_group(b, key) != branch_group(shown, key)) return theme.grid;
  }
  return branch_color(shown, key, theme);
}

GraphPage make_graph_page(const RouterGraph& graph, GraphValue value) {
  GraphPage page;
  page.graph = graph, page.layout = place_routers(graph), page.exits = exit_roles(lines_of(graph)), page.value = value;
  std::vector<RouterLine> named;
  for (const RouterPlace& place : page.layout.places) {
    named.push_back(page.router(place.routers.front()).line);
    named.back().name = place.name;
  }
  const std::vector<QString> names = short_names(named);
  std::tie(page.begins, page.ends) = ends_of(page.layout.places);
  double most = 0;
  for (size_t p = 0; p < named.size(); ++p) {
    GraphCard card{names[p], to_qstring(page.place(p).name).mid(page.begins.size()), {}};
    card.tight.chop(page.ends.size());
    for (const int32_t r : page.place(p).routers) {
      GraphRow row = make_graph_row(page, r);
      const QString name = to_qstring(page.router(r).line.name);
      row.name = page.place(p).routers.size() > 1 ? name.mid(name.lastIndexOf('.') + 1) : QString();
      for (const GraphSquare& s : row.squares)
        most = std::max(most, s.value), page.most_branches = std::max(page.most_branches, s.branches);
      card.rows.push_back(std::move(row));
    }
    page.cards.push_back(std::move(card));
  }
  page.high = end_of_scale(most);
  for (const PlaceEdge& e : page.layout.edges) page.most_cells = std::max(page.most_cells, e.cells);
  return page;
}

std::optional<GuardLine> guards_of(const GraphPage& page, size_t card) {
  std::optional<GuardLine> sum;
  for (const GuardLine& guard : page.guards.guards) {
    if (guard.router < 0) continue;
    const std::string& name = page.guards.routers[guard.router];
    const auto is_its = [&](int32_t r) { return page.router(r).line.name == name; };
    if (std::ranges::none_of(page.place(card).routers, is_its)) continue;
    if (!sum) sum = GuardLine{guard.name, guard.router, 0, 0};
    sum->hits += guard.hits, sum->misses += guard.misses;
  }
  return sum;
}

const GraphWay::Stop* GraphWay::at(int32_t router) const {
  const auto found = std::find_if(stops.begin(), stops.end(), [&](const Stop& s) { return s.router == router; });
  return found == stops.end() ? nullptr : &*found;
}

GraphWay find_way(const GraphPage& page, const CellTrail& trail) {
  GraphWay way;
  std::vector<int32_t> router_of;  // by step, -1: not of this page
  for (const CellTrail::Step& step : trail.steps) {
    int32_t router = -1;
    for (size_t r = 0; r < page.graph.routers.size(); ++r)
      if (page.graph.routers[r].line.name == step.router) router = static_cast<int32_t>(r);
    router_of.push_back(router);
    if (router < 0) continue;
    GraphWay::Stop stop{router, {}};
    for (const int32_t branch : step.branches)
      if (branch >= 0) stop.branches.push_back(branch);
    std::sort(stop.branches.begin(), stop.branches.end());
    way.stops.push_back(std::move(stop));
  }
  const auto place_of = [&](int32_t router) { return page.layout.place_of[router]; };
  std::map<int32_t, std::set<int32_t>> before;  // by place: those that the cell was at before
  for (size_t s = 0; s < trail.steps.size(); ++s)
    for (const int32_t earlier : trail.steps[s].after) {
      const int32_t from = router_of[earlier], to = router_of[s];
      // A router that refused the cell let it go past.
      if (from < 0 || to < 0 || way.at(from)->branches.empty() || way.at(to)->branches.empty()) continue;
      if (place_of(from) != place_of(to)) before[place_of(to)].insert(place_of(from));
    }
  for (size_t e = 0; e < page.layout.edges.size(); ++e) {
    const auto from = before.find(page.layout.edges[e].to);
    if (from != before.end() && from->second == std::set{page.layout.edges[e].from})
      way.edges.push_back(static_cast<int32_t>(e));
  }
  way.places = places_of_way(page, way);
  return way;
}

QString graph_caption(const GraphPage& page) {
  const auto routers = static_cast<qint64>(page.graph.routers.size()), places = static_cast<qint64>(page.cards.size());
  QString text = places == routers ? counted_text(routers, "router")
                                   : tr("%1 in %2").arg(counted_text(routers, "router"), counted_text(places, "place"));
  if (QStringList left{page.begins, page.ends}; !left.join("").isEmpty()) {
    left.removeAll(QString());
    text += tr(", named without %1").arg(left.join(tr(" and ")));
  }
  if (page.graph.first_batch > 0 || page.graph.end_batch < page.graph.batches)
    text += tr("; batches %1 to %2").arg(page.graph.first_batch).arg(page.graph.end_batch - 1);
  if (page.most_branches > 1) text += tr("; a square is up to %1 branches").arg(page.most_branches);
  if (!page.graph.tells_edges()) text += tr("; no edges between them are recorded");
  return text;
}

QString branches_text(const GraphPage& page, int32_t router, const BranchSquare& s) {
  return s.branches == 1 ? name_of(page, router, s.first)
                         : tr("branches %1 to %2").arg(s.first).arg(s.first + s.branches - 1);
}

QString describe_place(const GraphPage& page, size_t card) {
  const RouterPlace& place = page.place(card);
  const GraphRouter& outer = page.router(place.routers.front());
  QString text =
      "<b>" + to_qstring(place.name).toHtmlEscaped() + "</b><br>" +
      tr("for %1 of %2 of the cell space %3 something was computed here: %4; counted")
          .arg(count_text(place.cells), counted_text(page.graph.all_cells(outer), "cell"),
               to_qstring(outer.line.space).toHtmlEscaped(), share_text(place.cells, page.graph.all_cells(outer)));
  for (const int32_t r : place.routers) {
    const GraphRouter& router = page.router(r);
    text += "<br>" + tr("%1 (%2): %3 of %4 came, %5")
                         .arg(to_qstring(router.line.name).toHtmlEscaped(),
                              to_qstring(router.line.protocol).toHtmlEscaped(), count_text(router.cells),
                              count_text(page.graph.all_cells(router)),
                              counted_text(router.line.branches, "branch", "branches"));
    if (const QString chance = chance_text(page, r); !chance.isEmpty()) text += "; " + chance;
  }
  if (const auto guards = guards_of(page, card))
    text +=
        "<br>" + tr("guards over the whole run: %1 held, %2 missed; after a miss the fallback computed what was left "
                    "out")
                     .arg(count_text(guards->hits), count_text(guards->misses));
  return text;
}

QString describe_square(const GraphPage& page, int32_t index, const GraphSquare& s) {
  const GraphRouter& router = page.router(index);
  QString text =
      tr("<b>%1, %2</b><br>%3: %4 of the %5 that came to the router, %6 of all of the cell space %7; counted")
          .arg(to_qstring(router.line.name).toHtmlEscaped(), branches_text(page, index, s),
               counted_text(s.cells, "cell"), share_text(s.cells, router.cells), count_text(router.cells),
               share_text(s.cells, page.graph.all_cells(router)), to_qstring(router.line.space).toHtmlEscaped());
  if (const QString chance = chance_text(page, index); !chance.isEmpty()) text += "<br>" + chance;
  if (s.dropped > 0)
    text += "<br>" + tr("%1 more chose it and were dropped by its capacity").arg(counted_text(s.dropped, "cell"));
  QStringList on;
  for (const GraphEdge& e : page.graph.edges) {
    if (e.from != index) continue;
    int64_t cells = 0;
    for (int32_t b = s.first; b < s.first + s.branches; ++b) cells += e.cells[b];
    if (cells > 0) on << tr("%1 to %2").arg(count_text(cells), to_qstring(page.router(e.to).line.name).toHtmlEscaped());
  }
  if (!on.isEmpty()) text += "<br>" + tr("went on: %1").arg(on.join(", "));
  return text;
}

QString describe_edge(const GraphPage& page, const PlaceEdge& edge) {
  const auto name = [&](int32_t place) {
    return to_qstring(page.place(static_cast<size_t>(place)).name).toHtmlEscaped();
  };
  QString text = "<b>" + name(edge.from) + QString::fromUtf8(" → ") + name(edge.to) + "</b><br>";
  if (edge.edges.empty())
    return text + tr("The one decides about cells that the other's are members of: whole sequences or pictures. How "
                     "many went on is not counted.");
  text += tr("%1 met the one and then the other, with no router between; with several branches a cell, each pair "
             "counts. Counted.")
              .arg(counted_text(edge.cells, "transition"));
  for (const int32_t e : edge.edges) text += "<br>" + by_branch(page, page.graph.edges[e]);
  return text;
}

QString spoken(const GraphPage& page, int32_t index, int32_t branch) {
  const GraphRouter& router = page.router(index);
  if (branch < 0 || branch >= router.line.branches)
    return tr("%1: %2 of %3 came")
        .arg(to_qstring(router.line.name), count_text(router.cells),
             counted_text(page.graph.all_cells(router), "cell"));
  const int64_t cells = router.load[branch];
  return tr("%1, %2: %3, %4 of the router's")
      .arg(to_qstring(router.line.name), name_of(page, index, branch), counted_text(cells, "cell"),
           share_text(cells, router.cells));
}

Table make_branch_table(const GraphPage& page) {
  Table table;
  table.columns = {
      {tr("Place"), tr("The part of the model that the router is of; routers nested in one another share it")},
      {tr("Column"), tr("How deep: the longest way of routers to it, counted from 0")},
      {tr("Row"), tr("Its row in the graph, counted from 0 at the top")},
      {tr("Router"), tr("By its name in the model")},
      {tr("Branch"), tr("Numbered from 0")},
      {tr("Cells"), tr("That it got, padding left out; counted")},
      {tr("Dropped"), tr("Cells that chose it and were kept out by its capacity; counted")},
      {tr("Of the router"), tr("Cells / cells that came to the router; from counted cells")},
      {tr("Of all"), tr("Cells / cells of the router that most came to, of the same cell space; from counted cells")},
      {tr("Beside chance"), tr("The router's loads over the whole run beside those of even routers, with regard to the "
                               "number of routers; drawn. Empty: not judged")},
      {tr("Guards held"), tr("Guards of the place that held over the whole run; counted. Empty: none was tested")},
      {tr("Guards missed"), tr("After a miss the fallback computed what the plan had left out; counted")}};
  for (size_t p = 0; p < page.layout.places.size(); ++p) {
    const RouterPlace& place = page.place(p);
    const auto guards = guards_of(page, p);
    const Value held = guards ? Value(static_cast<qlonglong>(guards->hits)) : Value(),
                missed = guards ? Value(static_cast<qlonglong>(guards->misses)) : Value();
    for (const int32_t r : place.routers) {
      const GraphRouter& router = page.router(r);
      const int64_t all = page.graph.all_cells(router);
      for (int32_t b = 0; b < router.line.branches; ++b) {
        const size_t at = b;
        table.rows.push_back({to_qstring(place.name), qlonglong{place.column}, qlonglong{place.row},
                              to_qstring(router.line.name), qlonglong{b}, static_cast<qlonglong>(router.load[at]),
                              static_cast<qlonglong>(router.dropped[at]), ratio(router.load[at], router.cells),
                              ratio(router.load[at], all),
                              page.chance_of(r) ? Value(beside_text(page, r)) : Value(), held, missed});
      }
    }
  }
  return table;
}

Table make_edge_table(const GraphPage& page) {
  Table table;
  table.columns = {
      {tr("From router"), tr("That the cells met first")},
      {tr("Branch"), tr("That they got there, numbered from 0")},
      {tr("To router"), tr("The router that the cells met next, with no router between")},
      {tr("Transitions"), tr("Pairs of a kept branch here and a kept branch there; padding left out, counted")},
      {tr("Share"), tr("Transitions / all transitions of the branch; from counted cells")}};
  std::vector<std::vector<int64_t>> leaving;
  for (const GraphRouter& r : page.graph.routers) leaving.emplace_back(static_cast<size_t>(r.line.branches));
  for (const GraphEdge& e : page.graph.edges)
    for (size_t b = 0; b < e.cells.size(); ++b) leaving[e.from][b] += e.cells[b];
  for (const GraphEdge& e : page.graph.edges)
    for (size_t b = 0; b < e.cells.size(); ++b)
      if (e.cells[b] > 0)
        table.rows.push_back({to_qstring(page.router(e.from).line.name), static_cast<qlonglong>(b),
                              to_qstring(page.router(e.to).line.name), static_cast<qlonglong>(e.cells[b]),
                              ratio(e.cells[b], leaving[e.from][b])});
  return table;
}

}  // namespace stormcell::views
