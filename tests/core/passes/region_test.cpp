// Regions of routers: where they begin and end, what hangs together, what speaks against touching them.
#include "core/passes/region.h"

#include <algorithm>
#include <set>

#include "core/graph/operator.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/random_graph.h"
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

std::vector<std::string> names(const Graph& graph, const Region& region) {
  std::vector<std::string> all;
  for (const ValueId d : region.decisions) all.push_back(router_name(graph, d));
  return all;
}
bool holds(const Region& region, NodeId node) {
  return std::find(region.nodes.begin(), region.nodes.end(), node) != region.nodes.end();
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
    QCOMPARE(region.branches.at(region.decisions[0]), (std::vector<int32_t>{0, 1, 2, 3}));
    // Two scatters, up, activation, down and the added skip of four branches, the gather; not the norm, not the
    // residual.
    QCOMPARE(region.nodes.size(), size_t{2 + 4 * 4 + 1});
    QCOMPARE(region.gathers.size(), size_t{1});
    QCOMPARE(region.gathers[0], region.nodes.back());
    for (const NodeId id : region.nodes) {
      const std::vector<int32_t> branches = branches_of_node(from.graph, region.decisions[0], id);
      const std::string_view op = from.graph.node(id).op->name;
      QCOMPARE(branches.size(), size_t{op == "scatter" || op == "gather" ? 4u : 1u});
    }
  }

  void a_gather_that_multiplies_what_it_joins_is_left_alone() {
    MixtureBuilder b(9);
    const ValueId x = b.tokens(2, 3, 8);
    const ValueId decision = b.labelled(b.space_of(x), 2, "moe");
    std::vector<ValueId> inputs = b.scatter(x, decision, {0, 1});
    inputs.push_back(b.scatter(b.floats("factor", b.space_of(x), {}), decision, {1})[0]);
    const Attributes attributes{
        {"space", int64_t{b.space_of(x)}}, {"mode", std::string("sum")}, {"factors", std::vector<int64_t>{1}}};
    b.output("y", b.value("gather", inputs, attributes, "joined"));
    const RandomCase from = b.take("factors");
    const std::vector<Region> regions = regions_of(from.graph, "moe");
    QCOMPARE(regions.size(), size_t{1});
    QCOMPARE(regions[0].obstacle, std::string("gather \"joined\" multiplies the rows that it joins"));
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
    QCOMPARE(regions[0].branches.at(decision), (std::vector<int32_t>{0, 1}));
    QCOMPARE(regions[1].branches.at(decision), (std::vector<int32_t>{1}));
  }

  void an_exit_chain_is_one_region() {
    const Graph graph = exit_chain_toy().graph;
    const std::vector<Region> first = regions_of(graph, "block.0.exit"), second = regions_of(graph, "block.1.exit");
    QCOMPARE(first.size(), size_t{1});
    QCOMPARE(first[0].obstacle, std::string());
    QCOMPARE(first[0].gathers.size(), size_t{2});
    QCOMPARE(names(graph, first[0]), (std::vector<std::string>{"block.0.exit", "block.1.exit"}));
    QCOMPARE(second.size(), size_t{1});
    QCOMPARE(second[0].nodes, first[0].nodes);
    // The mixture within a block opens and closes there.
    const std::vector<Region> within = regions_of(graph, "block.1.moe");
    QCOMPARE(within.size(), size_t{1});
    QCOMPARE(names(graph, within[0]), (std::vector<std::string>{"block.1.moe"}));
    QVERIFY(within[0].nodes.size() < first[0].nodes.size());
    for (const NodeId id : within[0].nodes) QVERIFY(holds(first[0], id));

    // Behind the second exit lie its scatters and the gathers, but not its route nor what the first exit lets leave.
    const std::vector<ValueId> exit{second[0].decisions[1]};
    const Region part = part_behind(graph, second[0], exit);
    QCOMPARE(part.gathers, first[0].gathers);
    QVERIFY(!holds(part, graph.value(exit[0]).producer));
    for (const NodeId id : part.nodes) QVERIFY(holds(first[0], id) && graph.node(id).name != "block.0.leaving");
  }

  void routers_whose_rows_are_summed_are_one_region() {
    MixtureBuilder b(2);
    const ValueId x = b.tokens(2, 3, 8);
    std::vector<ValueId> decisions, results;
    for (const char* name : {"a", "b", "c"}) {
      decisions.push_back(b.labelled(b.space_of(x), 2, name));
      for (const ValueId part : b.scatter(x, decisions.back(), {0, 1})) results.push_back(b.product(part, 8, name));
    }
    b.output("y", b.gather(std::move(results), b.space_of(x), "sum", kNone, "joined"));
    const RandomCase from = b.take("three routers");
    for (const char* name : {"a", "b", "c"}) {
      const std::vector<Region> regions = regions_of(from.graph, name);
      QCOMPARE(regions.size(), size_t{1});
      QCOMPARE(regions[0].obstacle, std::string());
      QCOMPARE(regions[0].decisions, decisions);
      QCOMPARE(regions[0].nodes.size(), size_t{3 * 3 + 1});
      for (const ValueId d : decisions) QCOMPARE(regions[0].branches.at(d), (std::vector<int32_t>{0, 1}));
    }
    // One router's scatter, its two products, the gather.
    QCOMPARE(part_behind(from.graph, regions_of(from.graph, "b")[0], std::span(&decisions[1], 1)).nodes.size(),
             size_t{4});
  }

  /// In every block: regions lie apart or within one another, and what is computed for branches opened there belongs to
  /// one, the innermost that holds it.
  void regions_nest_and_cover_what_is_routed() {
    std::vector<RandomCase> all;
    for (const Toy& toy : toys()) all.push_back(toy.make(1));
    for (uint64_t seed = 0; seed < 120; ++seed) all.push_back(make_random_case(seed));
    size_t tied = 0, nested = 0, covered = 0;
    for (const RandomCase& from : all)
      for (const BlockPlace place : blocks_of(from.graph, Fallbacks::included)) {
        const std::vector<ValueId> opened = decisions_of(from.graph, place);
        std::set<std::vector<NodeId>> regions;
        for (const ValueId d : opened)
          for (const Region& region : find_regions(from.graph, place, d)) {
            tied += region.decisions.size() > 1;
            regions.insert(region.nodes);
            for (const ValueId other : region.decisions) {
              bool found = false;
              for (const Region& same : find_regions(from.graph, place, other))
                found = found || same.nodes == region.nodes;
              QVERIFY2(found, from.name.c_str());
            }
          }
        for (const auto& a : regions)
          for (const auto& b : regions) {
            size_t common = 0;
            for (const NodeId id : a) common += std::find(b.begin(), b.end(), id) != b.end();
            QVERIFY2(common == 0 || common == a.size() || common == b.size(), from.name.c_str());
            nested += common > 0 && common < a.size();
          }
        for (const NodeId id : block_at(from.graph, place).nodes)
          for (const ValueId v : from.graph.node(id).outputs)
            for (const ValueId d : opened) {
              if (!branch_within(from.graph, from.graph.value(v).type.space, d)) continue;
              size_t smallest = SIZE_MAX, of_that_size = 0;
              for (const auto& region : regions) {
                if (std::find(region.begin(), region.end(), id) == region.end() || region.size() > smallest) continue;
                of_that_size = region.size() == smallest ? of_that_size + 1 : 1;
                smallest = region.size();
              }
              QVERIFY2(of_that_size == 1, from.name.c_str());
              ++covered;
            }
      }
    QVERIFY(tied > 20);
    QVERIFY(nested > 20);
    QVERIFY(covered > 1000);
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
