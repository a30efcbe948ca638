// Regions of routers: where they begin and end, what hangs together, what speaks against touching them.
#include "core/passes/region.h"

#include "core/graph/operator.h"
#include "tests/core/passes/mixture_case.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

std::vector<Region> regions_of(const Graph& graph, std::string_view router) {
  std::vector<Region> all;
  for (const BlockPlace place : blocks_of(graph, Fallbacks::included))
    for (const ValueId decision : decisions_of(graph, place))
      if (router_name(graph, decision) == router)
        for (Region& region : find_regions(graph, place, decision)) all.push_back(std::move(region));
  return all;
}

}  // namespace

class RegionTest : public QObject {
  Q_OBJECT
 private slots:
  void a_mixture_is_one_region_from_its_scatters_to_its_gather() {
    MixtureBuilder b(1);
    const ValueId x = b.tokens(2, 3, 8);
    Mixture shape;
    shape.skip = true;
    b.output("y", b.mixture(x, b.labelled(b.space_of(x), 4, "moe"), shape, "moe"));
    const RandomCase from = b.take("mixture");
    const std::vector<Region> regions = regions_of(from.graph, "moe");
    QCOMPARE(regions.size(), size_t{1});
    const Region& region = regions[0];
    QCOMPARE(region.obstacle, std::string());
    QCOMPARE(region.branches, (std::vector<int32_t>{0, 1, 2, 3}));
    // Two scatters, up, activation, down and the added skip of four branches, the gather; not the norm, not the residual.
    QCOMPARE(region.nodes.size(), size_t{2 + 4 * 4 + 1});
    QCOMPARE(region.gathers.size(), size_t{1});
    QCOMPARE(region.gathers[0], region.nodes.back());
    for (const NodeId id : region.nodes) {
      const std::vector<int32_t> branches = branches_of_node(from.graph, region, id);
      const std::string_view op = from.graph.node(id).op->name;
      QCOMPARE(branches.size(), size_t{op == "scatter" || op == "gather" ? 4u : 1u});
    }
  }

  void flows_that_never_meet_are_regions_of_their_own() {
    MixtureBuilder b(2);
    const ValueId x = b.tokens(2, 3, 8);
    const ValueId decision = b.labelled(b.space_of(x), 2, "moe");
    const std::vector<ValueId> one = b.scatter(x, decision, {0, 1}),
                               two = b.scatter(b.value("scale", {x}, {{"factor", 2.0}}, "twice"), decision, {1});
    b.output("one", b.gather({b.product(one[0], 8, "a"), b.product(one[1], 8, "b")}, b.space_of(x), "sum"));
    b.output("two", b.gather({b.product(two[0], 8, "c")}, b.space_of(x), "sum"));
    const RandomCase from = b.take("flows");
    const std::vector<Region> regions = regions_of(from.graph, "moe");
    QCOMPARE(regions.size(), size_t{2});
    QCOMPARE(regions[0].branches, (std::vector<int32_t>{0, 1}));
    QCOMPARE(regions[1].branches, (std::vector<int32_t>{1}));
  }

  void an_exit_chain_closes_where_its_first_exit_does() {
    const Graph graph = exit_chain_toy().graph;
    const std::vector<Region> first = regions_of(graph, "block.0.exit"), second = regions_of(graph, "block.1.exit");
    QCOMPARE(first.size(), size_t{1});
    QCOMPARE(first[0].obstacle, std::string());
    QCOMPARE(first[0].gathers.size(), size_t{2});
    QVERIFY(!second.empty());
    for (const Region& region : second) QVERIFY(region.obstacle.find("joins rows of other routers too") != std::string::npos);
  }

  void outer_routers_come_before_those_within() {
    const Graph graph = iterated_router_toy().graph;
    for (const BlockPlace place : blocks_of(graph, Fallbacks::included)) {
      const std::vector<ValueId> decisions = decisions_of(graph, place);
      if (decisions.empty()) continue;
      QCOMPARE(router_name(graph, decisions[0]), std::string("loop.exit"));
      QCOMPARE(router_name(graph, decisions[1]), std::string("loop.experts"));
      // Rows and counts go round side by side: they never meet.
      QCOMPARE(find_regions(graph, place, decisions[0]).size(), size_t{2});
    }
  }

  void what_leaves_without_a_gather_is_said() {
    MixtureBuilder b(3);
    const ValueId x = b.tokens(2, 3, 8);
    const ValueId decision = b.labelled(b.space_of(x), 2, "moe");
    const ValueId y = b.product(b.scatter(x, decision, {1})[0], 8, "a");
    b.output("open", y);
    const std::vector<Region> regions = regions_of(b.graph(), "moe");
    QCOMPARE(regions.size(), size_t{1});
    QCOMPARE(regions[0].obstacle, std::string("no gather joins its branches"));

    b.output("y", b.gather({y}, b.space_of(x), "sum"));
    QCOMPARE(regions_of(b.graph(), "moe")[0].obstacle, std::string("%a leaves its branches without a gather"));
  }

  void a_state_that_a_branch_writes_is_said() {
    MixtureBuilder b(4);
    const ValueId x = b.tokens(2, 3, 8);
    const ValueId decision = b.labelled(b.space_of(x), 2, "moe");
    const ValueId part = b.scatter(x, decision, {1})[0], state = b.state("memory", DType::f32, b.space_of(part), {8});
    b.GraphBuilder::add("state_write", {state, part}, {}, "keep");
    b.output("y", b.gather({b.product(part, 8, "a")}, b.space_of(x), "sum"));
    QCOMPARE(regions_of(b.graph(), "moe")[0].obstacle, std::string("state_write \"keep\" writes the state memory"));
  }
};
STORMCELL_TEST(RegionTest)
#include "region_test.moc"
