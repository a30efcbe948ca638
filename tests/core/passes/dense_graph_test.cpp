// Every cell through every branch, masked: the same answers and decisions as the routed graph, with the work of all
// branches for all cells.
#include "core/passes/dense_graph.h"

#include "core/cpu/cpu_device.h"
#include "core/graph/operator.h"
#include "core/graph/roles.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// Nodes that compute with weights on rows of a branch alone.
size_t products_in_branches(const Graph& graph) {
  size_t count = 0;
  graph.for_each_node([&](NodeId id, int) {
    const Node& n = graph.node(id);
    const bool weighs = std::any_of(n.inputs.begin(), n.inputs.end(),
                                    [&](ValueId v) { return graph.value(v).kind == ValueKind::weight; });
    const SpaceId place = place_of(graph, n);
    count += weighs && !is_route(n) && place != kNone && graph.is_dynamic(place);
  });
  return count;
}

/// Runs both; says whether there is a dense graph.
bool check_alike(const RandomCase& from) {
  const DenseGraph dense = dense_graph(from.graph);
  if (!dense.why_not.empty()) return false;
  cpu::CpuDevice device(2);
  Plan routed(device, from.graph, from), all(device, dense.graph, from);
  for (uint64_t seed = 0; seed < 2; ++seed) {
    const CaseInputs inputs = seed == 0 ? from.inputs : drawn_anew(from, seed);
    const ExecutionResult& expected = routed.run(inputs);
    const ExecutionResult& came = all.run(inputs);
    const std::string why = difference(expected.outputs, came.outputs);
    if (!why.empty()) QTest::qFail((from.name + ": " + why).c_str(), __FILE__, __LINE__);
    if (expected.decisions.size() != came.decisions.size())
      QTest::qFail((from.name + ": other decisions").c_str(), __FILE__, __LINE__);
  }
  if (const size_t left = products_in_branches(dense.graph); left > 0)
    QTest::qFail((from.name + ": " + std::to_string(left) + " products are still routed").c_str(), __FILE__, __LINE__);
  return true;
}

}  // namespace

class DenseGraphTest : public QObject {
  Q_OBJECT
 private slots:
  void toys_answer_alike() {
    QVERIFY(check_alike(exit_chain_toy()));
    QVERIFY(check_alike(path_network_toy()));
    int others = 0;
    for (const Toy& toy : toys()) others += check_alike(toy.make(2));
    QVERIFY2(others >= 2, qPrintable(QString::number(others)));
  }

  void random_graphs_answer_alike() {
    RandomOptions options;
    options.guards = options.grouped = false;
    int dense = 0;
    for (uint64_t seed = 0; seed < 30; ++seed) {
      dense += check_alike(make_random_case(seed, options));
      RandomOptions maps = options;
      maps.maps = true;
      if (seed % 3 == 0) dense += check_alike(make_random_case(seed, maps));
    }
    QVERIFY2(dense >= 10, qPrintable(QString::number(dense)));
  }

  void what_has_no_dense_form_says_why() {
    QVERIFY(!dense_graph(iterated_router_toy().graph).why_not.empty());
    QVERIFY(!dense_graph(sequence_router_toy().graph).why_not.empty());
    CaseBuilder b(1);
    const SpaceId cells = b.root_space("cells", b.bound_symbol("N", 3));
    b.output("y", b.linear(b.floats("x", cells, {4}), 5, "y"));
    QCOMPARE(dense_graph(b.take("no router").graph).why_not, std::string("the model has no routers"));
  }
};

STORMCELL_TEST(DenseGraphTest)
#include "dense_graph_test.moc"
