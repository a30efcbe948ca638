// Sequences by task: the paper's network, hash tables one or per layer, and what is refused.
#include <set>

#include "core/cell/protocol.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"
#include "tests/core/models/configuration_complaint.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::task_moe_test {
namespace {

std::vector<Node> routers_of(const Graph& graph) {
  std::vector<Node> nodes;
  graph.for_each_node([&](NodeId id, int) {
    if (is_route(graph.node(id))) nodes.push_back(graph.node(id));
  });
  return nodes;
}

std::shared_ptr<const Model> fixture(const std::string& name) { return open_model(reference_path("task-moe/" + name)); }

}  // namespace

class TaskMoeTest : public QObject {
  Q_OBJECT
 private slots:
  /// From Brainstorm (OSDI'23): 6 layers of width 512, 16 tasks and as many experts in each.
  void the_preset_is_the_paper_s_network() {
    const auto model = open_model("preset:task-moe");
    QCOMPARE(model->origin, WeightOrigin::seeded);
    QCOMPARE(model->max_length, int64_t{512});
    const int64_t linear = 512 * 513, expert = 2048 * 513 + 512 * 2049 + 2 * 512;
    QCOMPARE(model->parameters, (50358 + 512) * 512 + 2 * 512 + 6 * (4 * linear + 2 * 512 + 16 * expert) + 50358 * 513);
    const std::vector<Node> routers = routers_of(*model->forward);
    QCOMPARE(routers.size(), size_t{6});
    for (const Node& n : routers) {
      QCOMPARE(protocol_of(n.attributes).kind, ProtocolKind::hash);
      QCOMPARE(model->forward->value(n.outputs[0]).branches, 16);
      QCOMPARE(model->forward->value(n.outputs[0]).fan_out, 2);
    }
  }
  void a_hash_table_is_one_or_per_layer() {
    for (const auto& [name, tables] : {std::pair{"one-table", size_t{1}}, {"causal-table-per-layer", size_t{2}}}) {
      std::set<uint64_t> seeds;
      for (const Node& n : routers_of(*fixture(name)->forward)) seeds.insert(protocol_of(n.attributes).seed);
      QCOMPARE(seeds.size(), tables);
    }
  }
  void sequences_are_the_cells_that_are_routed() {
    const auto model = fixture("one-table");
    for (const Node& n : routers_of(*model->forward)) {
      const CellSpace& space = model->forward->space(model->forward->value(n.outputs[0]).type.space);
      QVERIFY(space.kind == SpaceKind::root && space.name == "sequence");
    }
  }
  void what_is_wrong_is_refused_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* config, const char* says) {
      QTest::newRow(name) << config << says;
    };
    row("heads that do not divide", R"("num_attention_heads": 7)", "a number that divides hidden_size (512)");
    row("one expert", R"("num_experts": 1)", "2");
    row("an unknown mask", R"("mask": "left")", "none or causal");
    row("an unknown table", R"("hash_table": "two")", "one or per_layer");
    row("missing tensors", R"("num_experts": 2)", "embeddings.word.weight");
  }
  void what_is_wrong_is_refused() {
    QFETCH(QString, config);
    QFETCH(QString, says);
    const QString came = QString::fromStdString(configuration_complaint("task_moe", config.toStdString()));
    QVERIFY2(came.contains(says), qPrintable(came));
  }
};

STORMCELL_TEST(TaskMoeTest)

}  // namespace stormcell::testing::task_moe_test

#include "task_moe_test.moc"
