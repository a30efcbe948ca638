// The graph of routers: figures against those of single batches, and where its places lie.
#include "core/readings/router_graph.h"

#include <QTemporaryDir>
#include <array>
#include <map>
#include <set>
#include <span>

#include "core/readings/flow_view.h"
#include "core/readings/router_places.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

RouterGraph graph_of(std::vector<RouterLine> routers, const std::vector<std::pair<int32_t, int32_t>>& edges) {
  RouterGraph graph;
  for (RouterLine& line : routers) {
    GraphRouter router{std::move(line), 10, {}, {}};
    router.load.assign(static_cast<size_t>(router.line.branches), 1);
    router.dropped.assign(router.load.size(), 0);
    graph.routers.push_back(std::move(router));
  }
  for (const auto& [from, to] : edges)
    graph.edges.push_back(
        {from, to,
         std::vector<int64_t>(static_cast<size_t>(graph.routers[static_cast<size_t>(from)].line.branches), 2)});
  return graph;
}

RouterLine line(const std::string& name, int32_t branches = 2, int32_t parent = -1,
                const std::string& space = "token") {
  return {name, "stack", "top-k", space, branches, 1, parent, parent < 0 ? -1 : 0};
}

/// Every node feeds its own level and its neighbours' of the next layer, by two routers, one nested in the other.
RouterGraph levels_and_layers(int levels, int layers) {
  std::vector<RouterLine> routers;
  std::vector<std::pair<int32_t, int32_t>> edges;
  std::map<std::pair<int, int>, int32_t> at;
  for (int layer = 0; layer < layers; ++layer)
    for (int level = 0; level < std::min(levels, layer + 1); ++level) {
      const auto outer = static_cast<int32_t>(routers.size());
      at[{layer, level}] = outer;
      const std::string name = "cells." + std::to_string(layer) + "." + std::to_string(level);
      routers.push_back(line(name + ".compute"));
      routers.push_back(line(name + ".ways", 3, outer));
      edges.emplace_back(outer, outer + 1);
      for (int from = level - 1; from <= level + 1; ++from)
        if (const auto before = at.find({layer - 1, from}); before != at.end()) {
          edges.emplace_back(before->second, outer);
          edges.emplace_back(before->second + 1, outer);
        }
    }
  std::sort(edges.begin(), edges.end());
  return graph_of(std::move(routers), edges);
}

}  // namespace

class RouterGraphTest : public QObject {
  Q_OBJECT
 private slots:
  void figures_are_those_of_the_batches_one_by_one() {
    const QTemporaryDir folder;
    const std::string path = make_session(folder.filePath("graph.storm").toStdString(), 90);
    const SessionReader reader(path);
    const RunLayout layout = reader.layout(1);
    for (const auto& [first, end] :
         {std::pair<int64_t, int64_t>{0, -1}, {0, 90}, {3, 77}, {16, 32}, {80, 90}, {5, 6}, {7, 7}}) {
      const auto graph = read_router_graph(path, 1, {first, end});
      QVERIFY(graph->batches == 90 && graph->first_batch == first && graph->end_batch == (end < 0 ? 90 : end));
      QCOMPARE(graph->routers.size(), layout.routers.size());
      for (size_t r = 0; r < layout.routers.size(); ++r) {
        RouterLoads loads(layout.routers[r].branches);
        for (const RouterLoads& one :
             reader.loads(1, static_cast<int32_t>(r), 0, {graph->first_batch, graph->end_batch}))
          loads.add(one);
        QVERIFY(graph->routers[r].load == loads.real() && graph->routers[r].dropped == loads.dropped);
        QVERIFY(graph->routers[r].cells <= loads.cells);
      }
      QCOMPARE(graph->edges.size(), size_t{4});
      for (const GraphEdge& e : graph->edges) {
        std::vector<int64_t> cells(e.cells.size());
        for (int64_t b = graph->first_batch; b < graph->end_batch; ++b)
          for (const PairCount& pair : reader.transitions(1, e.from, e.to, {b, b + 1}).entries)
            cells[static_cast<size_t>(pair.from)] += pair.count;
        QVERIFY(e.cells == cells);
      }
    }
    // A nested router is met by the cells of one branch; those of the others go past it.
    const auto graph = read_router_graph(path, 1, {});
    QVERIFY(graph->edges[1].from == 2 && graph->edges[1].to == 3 && graph->edges[1].cells[1] > 0);
    QCOMPARE(graph->edges[1].total(), graph->edges[1].cells[1]);
    QVERIFY(graph->edges[2].cells[1] == 0 && graph->edges[2].total() > 0);
    QCOMPARE(graph->all_cells(graph->routers[3]), std::max(graph->routers[2].cells, graph->routers[4].cells));
  }

  void a_place_computes_for_what_its_router_does_not_refuse() {
    RouterLine gate = line("cells.0.compute");
    gate.protocol = "residual-threshold";
    for (const int32_t residual : {kResidualUnknown, 0, 1}) {
      gate.residual = residual;
      const int32_t refused = residual == 1 ? 1 : 0;  // of a session that does not say it the first
      QVERIFY(!computes({gate}, 0, refused) && computes({gate}, 0, 1 - refused));
      RouterGraph graph = graph_of({gate}, {});
      graph.routers[0].load = {3, 7}, graph.routers[0].cells = 10;
      QCOMPARE(place_routers(graph).places[0].cells, int64_t{refused == 1 ? 3 : 7});
    }
  }

  void layers_are_columns_and_levels_rows() {
    const RouterPlaces places = place_routers(levels_and_layers(4, 17));
    QCOMPARE(places.places.size(), size_t{62});
    QVERIFY(places.lanes.size() == 1 && places.lanes[0].rows == 4 && places.lanes[0].columns == 17);
    for (const RouterPlace& p : places.places) {
      QCOMPARE(p.name, "cells." + std::to_string(p.column) + "." + std::to_string(p.row));
      QCOMPARE(p.routers.size(), size_t{2});
    }
    for (const PlaceEdge& e : places.edges) {
      QVERIFY(e.detour.empty() && e.edges.size() == 2);
      QCOMPARE(e.cells, int64_t{2 * 2 + 3 * 2});
    }
  }

  void a_place_counts_the_cells_that_it_computes_for() {
    // As DynamicRouting has it: what arrived, whether to compute (branch 1) or only pass (0), and the ways on.
    std::vector<RouterLine> lines = {line("cells.1.0.reached", 1), line("cells.1.0.compute", 2, 0),
                                     line("cells.1.0.ways", 3, 1), line("cells.2.0.gate", 1)};
    lines[1].protocol = "residual-threshold";
    RouterGraph graph = graph_of(lines, {{0, 1}, {1, 2}, {2, 3}});
    graph.routers[0].load = {10}, graph.routers[1].load = {7, 3}, graph.routers[2].load = {3, 1, 0},
    graph.routers[3].load = {6};
    const RouterPlaces places = place_routers(graph);
    QCOMPARE(places.places.size(), size_t{2});
    QCOMPARE(places.places[0].cells, int64_t{3});
    QCOMPARE(places.places[0].share, 0.3);
    QCOMPARE(places.places[1].cells, int64_t{6});
    QVERIFY(!computes(lines, 0, 0) && !computes(lines, 1, 0) && computes(lines, 1, 1) && computes(lines, 2, 0));
    // A router of one branch in which none is nested is a gate before something.
    QVERIFY(computes(lines, 3, 0));
    QCOMPARE(deciding_router(lines, 0), size_t{1});
    QCOMPARE(deciding_router(lines, 3), size_t{3});
    // One cell is computed at both places, passes the first, and comes to none.
    const std::vector<RouterPlace> alone = places_of(lines);
    QVERIFY(alone.size() == 2 && alone[0].name == "cells.1.0" && alone[1].routers == std::vector<int32_t>{3});
    const auto computed = [&](const std::array<int32_t, 4>& choices) {
      return places_computed(lines, alone,
                             [&](size_t router) { return std::span<const int32_t>(choices).subspan(router, 1); });
    };
    QCOMPARE(computed({0, 1, 2, 0}), int64_t{2});
    QCOMPARE(computed({0, 0, -1, 0}), int64_t{1});
    QCOMPARE(computed({-1, -1, -1, -1}), int64_t{0});
  }

  void exits_are_a_chain_and_stacks_lie_below_each_other() {
    RouterGraph chain = graph_of({line("exits.0.router"), line("exits.1.router", 2, 0), line("exits.2.router", 2, 1)},
                                 {{0, 1}, {1, 2}});
    for (GraphRouter& router : chain.routers) router.line.protocol = "exit-threshold";
    const RouterPlaces exits = place_routers(chain);
    QVERIFY(exits.lanes.size() == 1 && exits.lanes[0].rows == 1 && exits.lanes[0].columns == 3);
    for (size_t p = 0; p < 3; ++p) {
      QVERIFY(exits.places[p].column == static_cast<int32_t>(p) && exits.places[p].routers.size() == 1);
      QCOMPARE(exits.places[p].name, "exit " + std::to_string(p + 1));
    }
    const RouterPlaces stacks =
        place_routers(graph_of({line("encoder.0.mlp"), line("encoder.1.mlp"), line("decoder.0.mlp"),
                                line("decoder.1.mlp"), line("alone"), line("other")},
                               {{0, 1}, {2, 3}}));
    QCOMPARE(stacks.lanes.size(), size_t{3});
    QVERIFY(stacks.places[3].row == 1 && stacks.places[3].column == 1);
    // Routers that no edge joins are side by side.
    QVERIFY(stacks.places[4].row == 2 && stacks.places[5].row == 2 && stacks.places[5].column == 1);
    QVERIFY(place_routers({}).places.empty());
  }

  void an_edge_that_passes_places_goes_round_them() {
    // 0 leads to 1, 2 and 3, which lie one after the other.
    const RouterPlaces places =
        place_routers(graph_of({line("a"), line("b"), line("c"), line("d")}, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}}));
    QVERIFY(places.lanes[0].rows == 2 && places.lanes[0].columns == 4);
    for (const PlaceEdge& e : places.edges)
      QCOMPARE(e.detour, std::vector<int32_t>(static_cast<size_t>(e.to - e.from - 1), 1));
    for (const RouterPlace& p : places.places) QCOMPARE(p.row, 0);
  }

  void a_router_of_sequences_leads_to_those_of_their_tokens() {
    const RouterPlaces places = place_routers(graph_of(
        {line("choose", 2, -1, "sequence"), line("choose.mlp", 4, 0, "token"), line("choose.other", 4, 0, "token")},
        {{1, 2}}));
    QCOMPARE(places.places.size(), size_t{3});
    QCOMPARE(places.edges.size(), size_t{3});
    QVERIFY(places.edges[0].edges.empty() && places.edges[0].to == 1 && places.places[1].column == 1 &&
            places.places[2].column == 2);
  }

  void places_of_random_graphs_never_overlap() {
    testing::Drawn<std::mt19937> random(11);
    for (int round = 0; round < 200; ++round) {
      const auto count = static_cast<int32_t>(1 + random() % 30);
      std::vector<RouterLine> routers;
      std::vector<std::pair<int32_t, int32_t>> edges;
      for (int32_t r = 0; r < count; ++r) {
        // Names of few parts, so that places of several routers come to lie before and behind others.
        const int32_t parent =
            r > 0 && random() % 3 == 0 ? static_cast<int32_t>(random() % static_cast<uint32_t>(r)) : -1;
        routers.push_back(line("part" + std::to_string(random() % 4) + ".r" + std::to_string(r), 2, parent,
                               random() % 5 == 0 ? "other" : "token"));
        for (int32_t from = 0; from < r; ++from)
          if (random() % static_cast<uint32_t>(count) < 2) edges.emplace_back(from, r);
      }
      std::sort(edges.begin(), edges.end());
      const RouterPlaces places = place_routers(graph_of(std::move(routers), edges));
      std::set<std::pair<int32_t, int32_t>> taken;
      size_t listed = 0;
      for (const RouterPlace& p : places.places) {
        QVERIFY(taken.emplace(p.row, p.column).second);
        listed += p.routers.size();
        const auto lane = std::find_if(places.lanes.begin(), places.lanes.end(), [&](const PlaceLane& l) {
          return p.row >= l.first_row && p.row < l.first_row + l.rows;
        });
        QVERIFY(lane != places.lanes.end() && p.column < lane->columns);
      }
      QCOMPARE(listed, static_cast<size_t>(count));
      for (const PlaceEdge& e : places.edges) {
        const RouterPlace &from = places.places[static_cast<size_t>(e.from)],
                          &to = places.places[static_cast<size_t>(e.to)];
        if (e.from < e.to)
          QVERIFY(from.column < to.column && e.detour.size() == static_cast<size_t>(to.column - from.column - 1));
        for (size_t d = 0; d < e.detour.size(); ++d)
          QVERIFY(!taken.contains({e.detour[d], from.column + 1 + static_cast<int32_t>(d)}));
      }
    }
  }

  void it_reads_a_phase_and_says_what_is_lacking() {
    const QTemporaryDir folder;
    const std::string path = make_session(folder.filePath("graph.storm").toStdString(), 6);
    const auto all = read_router_graph(path, 1, {}), forward = read_router_graph(path, 1, {}, "forward"),
               none = read_router_graph(path, 1, {}, "decode");
    for (size_t r = 0; r < all->routers.size(); ++r) {
      QVERIFY(forward->routers[r].load == all->routers[r].load);
      QCOMPARE(none->routers[r].sent(), int64_t{0});
    }
    QVERIFY(all->tells_edges());
    RunLayout apart = two_stacks();
    apart.edges.clear();
    const std::string lacking = make_session(folder.filePath("apart.storm").toStdString(), 3, some_run("apart", apart));
    QVERIFY(!read_router_graph(lacking, 1, {})->tells_edges());
  }
};
STORMCELL_TEST(RouterGraphTest)
#include "router_graph_test.moc"
