// Static cell flow on graphs small enough to know the answer, and dependences that exist only through a decision.
#include "core/graph/cell_flow.h"

#include "core/graph/builder.h"
#include "core/graph/operator.h"
#include "core/graph/relation_algebra.h"
#include "core/oracle/oracle.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

struct Tokens : CaseBuilder {
  Tokens() : CaseBuilder(1) {
    sequences = root_space("sequences", bound_symbol("N", 2));
    tokens = dense_space("tokens", sequences, bound_symbol("T", 3));
    x = floats("x", tokens, {4});
  }
  ValueId attention(ValueId from, bool causal) {
    return value("attention", {from, from, from},
                 {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"causal", int64_t{causal}}}, "mixed");
  }
  std::string full(ValueId v, ValueId source) {
    return to_text(graph(), analyze_cell_flow(graph()).relation(v, source).full);
  }
  std::string data(ValueId v, ValueId source) {
    return to_text(graph(), analyze_cell_flow(graph()).relation(v, source).data);
  }
  SpaceId sequences = kNone, tokens = kNone;
  ValueId x = kNone;
};

/// Two experts, chosen by the larger of a cell's two numbers; what comes out is the chosen expert's answer, or nothing.
struct Chosen {
  Graph graph;
  MemoryWeights weights;
  Bindings bindings{2, 2};  // two sequences of two tokens

  explicit Chosen(const Protocol& protocol) {
    GraphBuilder b;
    const SpaceId sequences = b.root_space("sequences", b.symbol("N")),
                  tokens = b.dense_space("tokens", sequences, b.symbol("T"));
    const ValueId x = b.input("x", DType::f32, tokens, {2});
    const ValueId scores = b.value("linear", {x, weight(b, "router", {1, 0, 0, 1})}, {}, "scores");
    const ValueId decision = b.route(scores, protocol, "router");
    const std::vector<ValueId> parts = b.scatter(x, decision, {0, 1});
    std::vector<ValueId> results;
    for (int i = 0; i < 2; ++i)
      results.push_back(b.value(
          "linear", {parts[static_cast<size_t>(i)], weight(b, "expert" + std::to_string(i), {2, 1, 1, 3})}, {}, "y"));
    b.output("y", b.gather(std::move(results), tokens, "weighted"));
    graph = b.finish();
  }
  ValueId weight(GraphBuilder& b, const std::string& name, std::vector<float> values) {
    weights.add(name + ".weight", DType::f32, {2, 2}, values);
    return b.weight(name + ".weight", DType::f32, {2, 2});
  }
  std::vector<double> run(std::vector<double> x, const OracleReplay& replay = {}, OracleReplay* chosen = nullptr) {
    OracleOptions options;
    options.replay = replay;
    const auto result = Oracle<double>(graph, weights).run({{"x", {{}, std::move(x), {}}}}, bindings, options);
    if (chosen)
      for (const OracleDecision& d : result.decisions) (*chosen)[d.router].push_back(d.choice);
    return result.output("y").reals;
  }
  CellDependence says() { return analyze_cell_flow(graph).relation(graph.outputs[0].value, graph.find_value("x")); }
};

bool cell_differs(const std::vector<double>& a, const std::vector<double>& b, size_t cell) {
  return a[2 * cell] != b[2 * cell] || a[2 * cell + 1] != b[2 * cell + 1];
}

}  // namespace

class CellFlowTest : public QObject {
  Q_OBJECT
 private slots:
  void what_is_computed_cell_by_cell_depends_on_its_own_cell() {
    Tokens t;
    QCOMPARE(t.full(t.add(t.linear(t.x, 4, "w"), t.x), t.x), std::string("same tokens"));
  }
  void attention_mixes_a_sequence() {
    Tokens t;
    QCOMPARE(t.full(t.attention(t.x, false), t.x), std::string("same sequences"));
  }
  void causal_attention_twice_stays_causal() {
    Tokens t;
    QCOMPARE(t.full(t.attention(t.attention(t.x, true), true), t.x), std::string("same sequences, in order"));
  }
  void causal_attention_after_an_open_one_is_open() {
    Tokens t;
    QCOMPARE(t.full(t.attention(t.attention(t.x, false), true), t.x), std::string("same sequences"));
  }
  void a_parent_depends_on_its_cells_and_gives_that_back() {
    Tokens t;
    const ValueId whole = t.value("reduce", {t.x}, {{"mode", std::string("mean")}}, "whole");
    const ValueId back = t.value("broadcast", {whole}, {{"space", int64_t{t.tokens}}}, "back");
    QCOMPARE(t.full(whole, t.x), std::string("same sequences"));
    QCOMPARE(t.full(back, t.x), std::string("same sequences"));
  }
  void a_value_says_nothing_of_inputs_it_does_not_use() {
    Tokens t;
    const ValueId other = t.floats("other", t.tokens, {4});
    QCOMPARE(t.full(t.linear(t.x, 4, "w"), other), std::string("none"));
  }
  void a_scalar_predicate_over_the_batch_mixes_the_batch() {
    Tokens t;
    const ValueId done = t.value("all_set", {t.value("argmax", {t.x}, {}, "a")}, {}, "done");
    QCOMPARE(t.full(done, t.x), std::string("batch"));
  }
  void states_carry_what_was_written_and_forget_what_was_there() {
    Tokens t;
    const ValueId state = t.state("state", DType::f32, t.tokens, {4});
    const ValueId before = t.value("scale", {state}, {{"factor", 2.0}}, "before");
    t.GraphBuilder::add("state_write", {state, t.attention(t.x, false)});
    const ValueId after = t.value("scale", {state}, {{"factor", 2.0}}, "after");
    QCOMPARE(t.full(before, state), std::string("same tokens"));
    QCOMPARE(t.full(before, t.x), std::string("none"));
    QCOMPARE(t.full(after, state), std::string("none"));
    QCOMPARE(t.full(after, t.x), std::string("same sequences"));
  }
  void turns_of_a_repeat_add_up() {
    // A state goes through causal attention in each turn, and its neighbours are read only in the next one.
    Tokens t;
    const ValueId a = t.state("a", DType::f32, t.tokens, {4}), b = t.state("b", DType::f32, t.tokens, {4});
    t.GraphBuilder::add("state_write", {a, t.x});
    t.GraphBuilder::add("state_fill", {b}, {{"value", 0.0}});
    t.begin_body();
    const ValueId from_b = t.value("scale", {b}, {{"factor", 1.0}}, "from_b");
    t.GraphBuilder::add("state_write", {b, t.attention(a, true)});
    t.end_body({t.value("extent", {}, {{"extent", std::string("0")}}, "never")});
    t.add_region("repeat", {}, {{"most", std::string("3")}}, "loop");
    QCOMPARE(t.full(b, t.x), std::string("same sequences, in order"));
    QCOMPARE(t.full(from_b, t.x), std::string("same sequences, in order"));
    QCOMPARE(t.full(a, t.x), std::string("same tokens"));
  }
  void the_iterated_router_mixes_the_batch_only_by_its_stop() {
    const RandomCase toy = iterated_router_toy();
    const CellFlow flow = analyze_cell_flow(toy.graph);
    const CellDependence& says = flow.relation(toy.graph.outputs[0].value, toy.graph.find_value("ids"));
    QCOMPARE(to_text(toy.graph, says.data), std::string("same tokens"));
    QCOMPARE(to_text(toy.graph, says.full), std::string("batch"));
    // Through the states its own decision depends on itself.
    QVERIFY(std::ranges::count(flow.router("loop.exit")->routers, "loop.exit") == 1);
  }

  void capacity_lets_one_cell_decide_about_another() {
    Protocol rule;
    rule.kind = ProtocolKind::switch_top1;
    rule.capacity = 1;
    Chosen c(rule);
    QCOMPARE(to_text(c.graph, c.says().full), std::string("same sequences, in order"));
    QCOMPARE(to_text(c.graph, c.says().data), std::string("same tokens"));
    // All want branch 0, which serves one of each sequence. When the first goes elsewhere the second of its sequence is
    // served.
    const std::vector<double> all{2, 1, 3, 1, 2, 1, 3, 1};
    OracleReplay chosen;
    const std::vector<double> before = c.run(all, {}, &chosen);
    std::vector<double> moved = all;
    moved[0] = 0;
    const std::vector<double> free = c.run(moved), replayed = c.run(moved, chosen);
    QVERIFY(before[2] == 0 && before[3] == 0);
    QVERIFY(cell_differs(before, free, 0) && cell_differs(before, free, 1));
    QVERIFY(!cell_differs(before, free, 2) && !cell_differs(before, free, 3));
    QVERIFY(cell_differs(before, replayed, 0) && !cell_differs(before, replayed, 1));
  }
  void priority_lets_a_cell_decide_about_another_sequence() {
    Protocol rule;
    rule.kind = ProtocolKind::batch_prioritized;
    rule.capacity_factor = 0.5;  // int(0.5 * ceil(4 cells / 2 branches)) = 1
    Chosen c(rule);
    QCOMPARE(to_text(c.graph, c.says().full), std::string("batch"));
    QCOMPARE(to_text(c.graph, c.says().data), std::string("same tokens"));
    // The last cell is the surest of those that want branch 0; less sure, it leaves the place to the first.
    const std::vector<double> all{3, 0, 2, 0, 1, 0, 4, 0};
    OracleReplay chosen;
    const std::vector<double> before = c.run(all, {}, &chosen);
    std::vector<double> moved = all;
    moved[6] = 0.5;
    const std::vector<double> free = c.run(moved), replayed = c.run(moved, chosen);
    QVERIFY(before[0] == 0 && before[6] != 0);
    QVERIFY(cell_differs(before, free, 0) && cell_differs(before, free, 3) && !cell_differs(before, free, 1));
    QVERIFY(!cell_differs(before, replayed, 0) && cell_differs(before, replayed, 3));
  }
  void without_capacity_cells_stay_apart() {
    Protocol rule;
    rule.kind = ProtocolKind::switch_top1;
    Chosen c(rule);
    QCOMPARE(to_text(c.graph, c.says().full), std::string("same tokens"));
  }

  void routers_say_what_depends_on_them_and_what_mixes_behind_them() {
    Tokens t;
    ValueId x = t.x;
    for (int i = 0; i < 2; ++i) {
      Protocol rule;
      rule.kind = ProtocolKind::switch_top1;
      rule.capacity = 2;
      const std::string name = "layer." + std::to_string(i);
      const ValueId decision = t.route(t.linear(x, 2, name + ".router"), rule, name);
      const std::vector<ValueId> parts = t.scatter(x, decision, {0, 1});
      x = t.add(
          x, t.gather({t.linear(parts[0], 4, name + ".0"), t.linear(parts[1], 4, name + ".1")}, t.tokens, "weighted"));
      if (i == 0) x = t.add(x, t.attention(x, true));
    }
    t.output("early", t.x);
    t.output("late", x);
    const CellFlow flow = analyze_cell_flow(t.graph());
    QCOMPARE(flow.routers().size(), size_t{2});
    const RouterFlow &first = flow.routers()[0], &second = flow.routers()[1];
    QVERIFY((first.routers == std::vector<std::string>{"layer.1"}) &&
            (first.outputs == std::vector<std::string>{"late"}));
    QVERIFY(second.routers.empty() && (second.outputs == std::vector<std::string>{"late"}));
    QCOMPARE(first.mixes.size(), size_t{2});
    QCOMPARE(to_text(t.graph(), first.mixes[0]), std::string("capacity within sequences, in order"));
    QCOMPARE(to_text(t.graph(), first.mixes[1]), std::string("attention within sequences, in order"));
    QCOMPARE(second.mixes.size(), size_t{1});
  }

  void weights_of_choices_depend_on_scores_also_when_decisions_are_replayed() {
    CaseBuilder b(1);
    const SpaceId images = b.root_space("images", b.bound_symbol("N", 3));
    const ValueId x = b.floats("x", images, {4}), scores = b.floats("scores", images, {2});
    const ValueId d = b.route(scores, {}, "router");
    std::vector<ValueId> plain = b.scatter(x, d, {0, 1}), weighed;
    for (const ValueId part : plain) {
      const ValueId weight = b.value("choice_weight", {d}, {{"space", int64_t{b.space_of(part)}}});
      weighed.push_back(b.value("multiply", {part, weight}));
    }
    const ValueId sum = b.gather(plain, images, "sum", kNone, "sum"),
                  weighed_sum = b.gather(weighed, images, "sum", kNone, "weighed");
    b.output("sum", sum);
    b.output("weighed", weighed_sum);
    const Graph g = b.finish();
    const CellFlow flow = analyze_cell_flow(g);
    QCOMPARE(to_text(g, flow.relation(sum, scores).data), std::string("none"));
    QCOMPARE(to_text(g, flow.relation(weighed_sum, scores).data), std::string("same images"));
    QCOMPARE(to_text(g, flow.relation(weighed_sum, scores).full), std::string("same images"));
  }

  /// Composition and join of relations on a chain of spaces, against the sets they stand for.
  void the_algebra_of_relations_contains_the_algebra_of_sets() {
    GraphBuilder b;
    const SpaceId images = b.root_space("images", 2), patches = b.dense_space("patches", images, 3),
                  pixels = b.dense_space("pixels", patches, 2);
    const Graph& g = b.graph();
    const Bindings none;
    std::vector<CellRelation> relations{{}, {CellRelation::Reach::batch, kNone, false}};
    for (const SpaceId meet : {images, patches, pixels})
      for (const bool ordered : {false, true})
        if (meet != pixels || !ordered) relations.push_back({CellRelation::Reach::cells, meet, ordered});
    const int64_t cells = g.space(pixels).count.constant();
    const auto related = [&](const CellRelation& r, int64_t x, int64_t y) {
      return relates(g, none, r, pixels, x, pixels, y);
    };
    const std::vector<Flow> flows{
        {Mix::none}, {Mix::cell}, {Mix::batch}, {Mix::within, images}, {Mix::within, patches}, {Mix::before, patches}};
    const auto flows_to = [&](const Flow& f, int64_t x, int64_t y) {
      switch (f.mix) {
        case Mix::none:
          return false;
        case Mix::cell:
          return x == y;
        case Mix::batch:
          return true;
        default:
          break;
      }
      return related({CellRelation::Reach::cells, f.space, f.mix == Mix::before}, x, y);
    };
    for (const CellRelation& r : relations) {
      for (const CellRelation& other : relations) {
        const CellRelation both = join(g, r, other);
        QVERIFY(both == join(g, other, r));
        for (int64_t x = 0; x < cells; ++x)
          for (int64_t y = 0; y < cells; ++y) QCOMPARE(related(both, x, y), related(r, x, y) || related(other, x, y));
      }
      for (const Flow& f : flows) {
        const CellRelation result = compose(g, r, f, pixels, pixels);
        for (int64_t x = 0; x < cells; ++x)
          for (int64_t y = 0; y < cells; ++y) {
            bool reached = false;
            for (int64_t z = 0; z < cells; ++z) reached = reached || (flows_to(f, x, z) && related(r, z, y));
            QCOMPARE(related(result, x, y), reached);
          }
      }
    }
  }
};
STORMCELL_TEST(CellFlowTest)
#include "cell_flow_test.moc"
