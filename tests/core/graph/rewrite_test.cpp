// The rewriter: copies, moves, substitutions, and what nobody uses any more.
#include "core/graph/rewrite.h"
#include "core/graph/operator.h"
#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

NodeId node_named(const Graph& graph, std::string_view name) {
  for (const NodeId id : graph.nodes.ids())
    if (graph.node(id).name == name) return id;
  return kNone;
}

}  // namespace

class RewriteTest : public QObject {
  Q_OBJECT
 private slots:
  void a_graph_whose_parts_are_all_used_stays_as_it_is() {
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const RandomCase from = make_random_case(seed);
      Rewriter rewriter(from.graph);
      QCOMPARE(to_text(rewriter.finish()), to_text(from.graph));
    }
  }

  void what_nobody_uses_is_dropped_but_inputs_stay() {
    MixtureBuilder b(1);
    const ValueId x = b.tokens(2, 3, 8);
    b.integers("unused", b.space_of(x), 3);
    const ValueId decision = b.labelled(b.space_of(x), 4, "moe");
    b.output("y", b.mixture(x, decision, {}, "moe"));
    b.output("z", x);
    RandomCase from = b.take("unused");
    Rewriter rewriter(from.graph);
    // All of the mixture but its route goes.
    Graph& graph = rewriter.graph();
    graph.outputs.erase(graph.outputs.begin());
    std::erase_if(graph.top.nodes, [&](NodeId id) {
      return graph.node(id).op->name != "embedding" && graph.node(id).op->name != "route";
    });
    const Graph small = rewriter.finish();
    QCOMPARE(small.nodes.size(), size_t{2});
    QCOMPARE(small.spaces.size(), size_t{2});
    QVERIFY(small.find_value("unused") != kNone);
    QVERIFY(small.find_value("moe.expert.0.up.weight") == kNone);
  }

  void copies_of_routers_have_spaces_of_their_own() {
    const RandomCase from = exit_chain_toy();
    Rewriter rewriter(from.graph);
    // Everything behind the first exit, once more; the copy alone gives the outputs.
    ValueMap copies;
    std::vector<NodeId> nodes;
    const std::vector<NodeId> all = from.graph.top.nodes;
    const auto first = std::find(all.begin(), all.end(), node_named(from.graph, "block.0.exit"));
    for (auto at = first; at != all.end(); ++at) nodes.push_back(rewriter.clone(*at, copies));
    rewriter.replace_run({}, static_cast<size_t>(first - all.begin()), nodes.size(), nodes);
    rewriter.substitute(copies);
    const Graph copy = rewriter.finish();
    QCOMPARE(copy.nodes.size(), from.graph.nodes.size());
    QCOMPARE(copy.spaces.size(), from.graph.spaces.size());
    for (const CellSpace& space : copy.spaces)
      if (space.kind == SpaceKind::routed) QVERIFY(copy.value(space.decision).producer != kNone);
    // Router names are what profiles know: a copy keeps its own.
    QVERIFY(node_named(copy, "block.1.moe") != kNone);
  }

  void copies_of_regions_copy_their_bodies() {
    const RandomCase from = iterated_router_toy();
    Rewriter rewriter(from.graph);
    ValueMap copies;
    const std::vector<NodeId> all = from.graph.top.nodes;
    const auto loop =
        static_cast<size_t>(std::find(all.begin(), all.end(), node_named(from.graph, "loop")) - all.begin());
    const NodeId copy = rewriter.clone(all[loop], copies);
    rewriter.replace_run({}, loop, 1, {copy});
    const Graph graph = rewriter.finish();
    QCOMPARE(graph.nodes.size(), from.graph.nodes.size());
    QCOMPARE(graph.spaces.size(), from.graph.spaces.size());
  }

  void nodes_are_brought_together_around_what_stands_between() {
    MixtureBuilder b(2);
    const ValueId x = b.tokens(2, 3, 8);
    const ValueId a = b.product(x, 8, "a"), free = b.product(x, 8, "free"), uses_a = b.product(a, 8, "uses_a"),
                  c = b.product(a, 8, "c");
    const ValueId later = b.product(uses_a, 8, "later");
    b.output("y", b.add(b.add(free, later), c));
    const RandomCase from = b.take("between");
    const auto id = [&](const char* name) { return node_named(from.graph, name); };
    Rewriter rewriter(from.graph);
    QCOMPARE(rewriter.bring_together({}, std::vector<NodeId>{id("a"), id("c")}), std::optional<size_t>(2));
    const std::vector<NodeId>& nodes = rewriter.graph().top.nodes;
    QCOMPARE(std::vector<NodeId>(nodes.begin(), nodes.begin() + 6),
             (std::vector<NodeId>{id("embedded"), id("free"), id("a"), id("c"), id("uses_a"), id("later")}));
    // uses_a stands between a and later, and needs the one for the other.
    QVERIFY(!rewriter.bring_together({}, std::vector<NodeId>{id("a"), id("later")}).has_value());
    verify(rewriter.graph());
  }

  void nodes_are_not_moved_over_changes_of_the_states_they_read() {
    for (const bool reads : {false, true}) {
      MixtureBuilder b(3);
      const ValueId x = b.tokens(2, 3, 8);
      const ValueId state = b.state("memory", DType::f32, b.space_of(x), {8});
      const ValueId a = b.product(reads ? state : x, 8, "a");
      b.GraphBuilder::add("state_write", {state, x}, {}, "change");
      b.output("y", b.product(a, 8, "c"));
      const RandomCase from = b.take("states");
      Rewriter rewriter(from.graph);
      QCOMPARE(
          rewriter.bring_together({}, std::vector<NodeId>{node_named(from.graph, "a"), node_named(from.graph, "c")})
              .has_value(),
          !reads);
    }
  }

  void reads_of_a_region_are_those_of_its_bodies_from_outside() {
    const Graph graph = iterated_router_toy().graph;
    std::set<std::string> names;
    for (const ValueId v : reads_of(graph, node_named(graph, "loop")))
      if (graph.value(v).kind != ValueKind::weight) names.insert(graph.value(v).name);
    QCOMPARE(names, (std::set<std::string>{"hidden", "rounds"}));
    QCOMPARE(states_written(graph, node_named(graph, "loop")).size(), size_t{2});
  }
};
STORMCELL_TEST(RewriteTest)
#include "rewrite_test.moc"
