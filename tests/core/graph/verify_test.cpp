// Every rule of the verifier says what it expected and what came.
#include "core/graph/verify.h"

#include <functional>

#include "core/graph/builder.h"
#include "core/graph/text.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using stormcell::testing::complaint;

namespace {

GraphBuilder small() {
  GraphBuilder b;
  const SpaceId sequences = b.root_space("sequences", b.symbol("N")),
                tokens = b.dense_space("tokens", sequences, b.symbol("T"));
  const ValueId x = b.input("x", DType::f32, tokens, {4});
  const ValueId d = b.route(x, {}, "router");
  b.output("y", b.gather(b.scatter(x, d, {0, 1}), tokens, "weighted", kNone, "y"));
  return b;
}

using Change = std::function<void(Graph&)>;

}  // namespace

class VerifyTest : public QObject {
  Q_OBJECT
 private slots:
  void rules_of_the_graph_say_what_they_expected_and_what_came_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* name, Change change, const char* expected) {
      QTest::newRow(name) << change << expected;
    };
    row(
        "an untouched graph", [](Graph&) {}, "");
    row(
        "a parent behind its child", [](Graph& g) { g.spaces[1].parent = SpaceId(2); },
        "space tokens: expected a parent declared before it, got space 2");
    row(
        "a parent that is none", [](Graph& g) { g.spaces[1].parent = SpaceId(-7); },
        "space tokens: expected a parent declared before it, got space -7");
    row(
        "a root below another", [](Graph& g) { g.spaces[1].kind = SpaceKind::root; },
        "space tokens: expected a parent unless it is a root");
    row(
        "a count that is not its parents'", [](Graph& g) { g.spaces[1].count = Dim(3); },
        "space tokens: expected N*T cells, got 3");
    row(
        "fewer than no cells", [](Graph& g) { g.spaces[0].count = Dim(-3); },
        "space sequences: expected 0 or more cells, got -3");
    row(
        "a routed space without decision", [](Graph& g) { g.spaces[2].decision = ValueId(0); },
        "space router/0: expected a decision, got value 0");
    row(
        "a decision from elsewhere", [](Graph& g) { g.spaces[2].parent = SpaceId(0); },
        "space router/0: expected the parent that %router routes from");
    row(
        "a branch out of reach", [](Graph& g) { g.spaces[3].branch = 4; },
        "space router/1: expected a branch below 4, got 4");
    row(
        "a value without producer", [](Graph& g) { g.value(g.find_value("y")).producer = kNone; },
        "value %y: expected a producer, got none");
    row(
        "a value over no space", [](Graph& g) { g.value(g.find_value("x")).type.space = SpaceId(9); },
        "value %x: expected a space, got number 9");
    row(
        "an input over cells that a decision tells",
        [](Graph& g) { g.value(g.find_value("x")).type.space = SpaceId(2); },
        "value %x: expected an input over cells that are there before any decision, got f32 router/0 [4]");
    row(
        "symbolic content", [](Graph& g) { g.value(g.find_value("y")).type.content = {Dim::symbol(0)}; },
        "value %y: expected constant content extents, got N");
    row(
        "an activation of two bytes", [](Graph& g) { g.value(g.find_value("x")).type.dtype = DType::bf16; },
        "value %x: expected an activation in f32 or i32, got bf16 tokens [4]");
    row(
        "an activation of eight bytes", [](Graph& g) { g.value(g.find_value("x")).type.dtype = DType::i64; },
        "value %x: expected an activation in f32 or i32, got i64 tokens [4]");
    row(
        "an output that is a decision", [](Graph& g) { g.outputs[0].value = g.find_value("router"); },
        "output y: expected an activation, got a decision");
    row(
        "empty content",
        [](Graph& g) {
          g.value(g.find_value("x")).type.content = {4, 0};
        },
        "value %x: expected content extents of 1 or more and at most 2^46 elements, got f32 tokens [4,0]");
    row(
        "endless content",
        [](Graph& g) {
          g.value(g.find_value("x")).type.content = {int64_t{1} << 30, int64_t{1} << 30};
        },
        "value %x: expected content extents of 1 or more and at most 2^46 elements, got f32 tokens "
        "[1073741824,1073741824]");
    row(
        "an input that is not a value", [](Graph& g) { g.nodes[0].inputs[0] = ValueId(99); },
        "route \"router\": expected a value, got number 99");
    row(
        "a use before its definition", [](Graph& g) { std::swap(g.top.nodes[0], g.top.nodes[1]); },
        "scatter \"router.scatter\": uses %router before it is defined, or outside of its body");
    row(
        "a node that is none", [](Graph& g) { g.top.nodes.push_back(NodeId(17)); },
        "graph: expected a node, got number 17");
    row(
        "a node in two places", [](Graph& g) { g.top.nodes.push_back(NodeId(2)); },
        "gather \"y\": appears in two places");
    row(
        "too many outputs", [](Graph& g) { g.nodes[2].outputs.push_back(ValueId(0)); },
        "gather \"y\": expected 1 output, got 2");
    row(
        "an output that is not a value", [](Graph& g) { g.nodes[2].outputs[0] = ValueId(99); },
        "gather \"y\": expected a value, got number 99");
    row(
        "another producer", [](Graph& g) { g.value(g.find_value("y")).producer = NodeId(0); },
        "gather \"y\": %y has another producer");
    row(
        "another type", [](Graph& g) { g.value(g.find_value("y")).type.dtype = DType::bf16; },
        "gather \"y\": expected %y as f32 tokens [4], got bf16 tokens [4]");
    row(
        "another number of branches", [](Graph& g) { g.value(g.find_value("router")).branches = 6; },
        "route \"router\": expected %router as decision tokens 4x1, got decision tokens 6x1");
    row(
        "bodies of an operator without", [](Graph& g) { g.nodes[2].bodies.resize(1), g.nodes[2].yields.resize(1); },
        "gather \"y\": expected 0 bodies, got 1");
    row(
        "a result that is not a value", [](Graph& g) { g.outputs[0].value = ValueId(-1); },
        "output y: expected a value, got number -1");
  }
  void rules_of_the_graph_say_what_they_expected_and_what_came() {
    QFETCH(Change, change);
    QFETCH(QString, expected);
    Graph g = small().finish();
    change(g);
    QCOMPARE(QString::fromStdString(complaint([&] { verify(g); })), expected);
  }

  void activations_of_less_than_four_bytes_are_refused_wherever_they_come_from() {
    for (const char* dtype : {"bf16", "f16", "i64", "u8"}) {
      const std::string head = "stormcell.graph/1\nsymbols N\nspace rows = root N\n",
                        type = std::string(dtype) + " rows [8]";
      for (const std::string& body :
           {"input %x : " + type + "\n%z : " + type + " = scale(%x) factor=2.0\noutput z = %z\n",
            "input %x : " + type + "\noutput z = %x\n",
            "input %x : f32 rows [8]\nstate %h : " + type + "\nstate_write(%h, %x)\n"})
        QVERIFY2(complaint([&] { parse_graph(head + body, "g"); }) != "", (dtype + (": " + body)).c_str());
    }
  }
  void a_state_is_in_bf16_only_where_it_is_put_at_places_and_attended_to() {
    const std::string cache =
        "stormcell.graph/1\nsymbols N\nspace s = root N\nspace room = s x 9\nspace one = s x 1\ninput %x : f32 one "
        "[8]\n"
        "state %k : bf16 room [8]\nstate %p : i32 s\nstate_put(%k, %x, %p) extras=\"at\" as \"put\"\n";
    const std::string read =
        "%y : f32 one [8] = attention(%x, %k, %k, %p) heads=2 kv_heads=2 extras=\"step\"\noutput y = %y\n";
    const auto refused = [&](const std::string& more) { return complaint([&] { parse_graph(cache + more, "g"); }); };
    QCOMPARE(refused(read), std::string());
    const Graph graph = parse_graph(cache + read, "g");
    QCOMPARE(to_text(parse_graph(to_text(graph), "text")), to_text(graph));
    const std::string said =
        "g: value %k: expected a state in f32 or i32 unless its rows are put at the sequences' places and only "
        "attended to, got bf16 room "
        "[8]";
    QCOMPARE(refused(read + "output z = %k\n"), said);
    QCOMPARE(refused("state_put(%k, %x) as \"elsewhere\"\n" + read), said);
    QCOMPARE(refused("state %q : i32 s\nstate_put(%k, %x, %q) extras=\"at\" as \"elsewhere\"\n" + read), said);
  }
  void what_is_defined_in_a_body_stays_there() {
    GraphBuilder b = small();
    b.begin_body();
    const ValueId inside = b.value("scale", {b.graph().find_value("x")}, {{"factor", 2.0}}, "inside");
    b.end_body({b.value("extent", {}, {{"extent", std::string("1")}}, "stop")});
    b.add_region("repeat", {}, {{"most", std::string("1")}}, "loop");
    b.output("inside", inside);
    QCOMPARE(complaint([&] { verify(b.graph()); }),
             std::string("output inside: uses %inside before it is defined, or outside of its body"));
  }
  void a_repeat_stands_within_no_other() {
    const auto once = [](GraphBuilder& b, const std::string& name) {
      b.end_body({b.value("extent", {}, {{"extent", std::string("1")}}, name + ".stop")});
      b.add_region("repeat", {}, {{"most", std::string("2")}}, name);
    };
    GraphBuilder after = small();
    for (const char* name : {"first", "second"}) after.begin_body(), once(after, name);
    QCOMPARE(QString::fromStdString(complaint([&] { verify(after.graph()); })), QString());
    GraphBuilder within = small();
    within.begin_body(), within.begin_body();
    once(within, "inner"), once(within, "outer");
    QCOMPARE(QString::fromStdString(complaint([&] { verify(within.graph()); })),
             QString("repeat \"inner\": is inside another repeat, and repeats do not nest"));
  }
  void cells_are_used_only_where_their_decision_is_known() {
    // A state over the cells of a decision that only the body of a repeat takes.
    GraphBuilder b = small();
    const ValueId x = b.graph().find_value("x");
    b.begin_body();
    const ValueId d = b.route(x, {}, "inner");
    const ValueId part = b.scatter(x, d, {0})[0];
    const ValueId kept = b.state("kept", DType::f32, b.graph().value(part).type.space, {4});
    b.add("state_write", {kept, part});
    b.end_body({b.value("extent", {}, {{"extent", std::string("1")}}, "stop")});
    b.add_region("repeat", {}, {{"most", std::string("1")}}, "loop");
    QCOMPARE(complaint([&] { verify(b.graph()); }), std::string());
    b.value("scale", {kept}, {{"factor", 2.0}}, "late");
    QCOMPARE(complaint([&] { verify(b.graph()); }),
             std::string(
                 "scale \"late\": %kept lives over cells of inner/0, where %inner, which defines them, is not known"));
  }
};
STORMCELL_TEST(VerifyTest)
#include "verify_test.moc"
