// The plan of --dense for every network of tests/reference: the same answers and decisions, or a reason why there is no
// such plan.
#include "core/graph/roles.h"
#include "core/passes/dense_graph.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/relative_difference.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class DenseNetworksTest : public QObject {
  Q_OBJECT

  static bool has_routers(const Graph& graph) {
    bool routes = false;
    graph.for_each_node([&](NodeId id, int) { routes = routes || is_route(graph.node(id)); });
    return routes;
  }

 private slots:
  void every_branch_for_all_cells_answers_alike_data() {
    QTest::addColumn<QString>("name");
    for (const std::string& name : reference_cases()) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void every_branch_for_all_cells_answers_alike() {
    QFETCH(QString, name);
    const std::string folder = reference_path(name.toStdString());
    const auto model = open_model(folder);
    const DenseGraph dense = dense_graph(*model->forward);
    if (!has_routers(*model->forward)) {
      QCOMPARE(dense.why_not, std::string("the model has no routers"));
      return;
    }
    // Which tokens a branch has, the decision about their sequence alone tells.
    if (name.startsWith("task-moe/")) {
      QVERIFY2(dense.why_not.ends_with(" works on ragged cells"), dense.why_not.c_str());
      return;
    }
    QVERIFY2(dense.why_not.empty(), dense.why_not.c_str());
    const ModelInputs in = read_inputs(folder + "/input.safetensors");
    const auto expected = run_oracle<double>(*model, *model->forward, in),
               came = run_oracle<double>(*model, dense.graph, in);
    QCOMPARE(came.outputs.size(), expected.outputs.size());
    for (const auto& [output, tensor] : expected.outputs)
      QVERIFY2(relative_difference(came.output(output).reals, tensor.reals) <= 1e-12, output.c_str());
    QVERIFY(replay_of(came.decisions) == replay_of(expected.decisions));
  }

  void patches_have_a_dense_plan() {
    QCOMPARE(dense_graph(*open_model("preset:patch-mixture")->forward).why_not, std::string());
  }
};

STORMCELL_TEST(DenseNetworksTest)

}  // namespace stormcell::testing

#include "dense_networks_test.moc"
