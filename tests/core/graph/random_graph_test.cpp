// Random graphs and toys are valid and repeatable, and reach what they are there to reach.
#include <set>

#include "core/graph/operator.h"
#include "core/graph/verify.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

class RandomGraphTest : public QObject {
  Q_OBJECT
 private slots:
  void random_graphs_are_valid_and_complete() {
    std::set<std::string> operators, protocols;
    size_t routers = 0;
    for (uint64_t seed = 0; seed < 400; ++seed) {
      const RandomCase made = make_random_case(seed);
      verify(made.graph);
      made.graph.for_each_node([&](NodeId id, int) {
        const Node& node = made.graph.node(id);
        operators.emplace(node.op->name);
        if (node.op->name == "route") protocols.insert(node.attributes.word("protocol")), ++routers;
      });
      for (const Value& v : made.graph.values) {
        if (v.kind == ValueKind::input) QVERIFY(made.inputs.contains(v.name));
        if (v.kind == ValueKind::weight) QVERIFY(made.weights->find(v.name) != nullptr);
      }
      QVERIFY(!made.graph.outputs.empty());
    }
    QCOMPARE(protocols.size(), size_t{9});
    QVERIFY(routers > 800);
    for (const char* op : {"embedding", "linear", "grouped_linear", "rms_norm", "activation",     "add",    "multiply",
                           "attention", "rotary", "positions",      "route",    "scatter",        "gather", "conv2d",
                           "pool",      "reduce", "broadcast",      "argmax",   "branches_empty", "guard"})
      QVERIFY2(operators.contains(op), op);
  }

  void the_same_seed_makes_the_same_graph() {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const RandomCase a = make_random_case(seed), b = make_random_case(seed);
      QCOMPARE(a.graph.nodes.size(), b.graph.nodes.size());
      QVERIFY(a.inputs == b.inputs);
      for (const Value& v : a.graph.values)
        if (v.kind == ValueKind::weight)
          QVERIFY(std::memcmp(a.weights->bytes(v.name).get(), b.weights->bytes(v.name).get(),
                              static_cast<size_t>(a.weights->find(v.name)->bytes())) == 0);
    }
  }

  void toys_are_valid() {
    verify(exit_chain_toy().graph);
    verify(iterated_router_toy().graph);
  }
};
STORMCELL_TEST(RandomGraphTest)
#include "random_graph_test.moc"
