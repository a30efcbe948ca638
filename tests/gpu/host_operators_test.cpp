// Mixtures of experts, attention and norms on the host device, in several orders, against the oracle.
#include <cstdio>

#include "core/graph/operator.h"
#include "tests/gpu/host_cases.h"
#include "tests/gpu/host_run.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::host_operators_test {
namespace {

constexpr int kOrders = 3;

}  // namespace

class HostOperatorsTest : public QObject {
  Q_OBJECT
  static RandomCase make(const QString& name, int seed) {
    if (name == "mixtures") return random_mixtures(static_cast<uint64_t>(seed));
    if (name == "encoder") return encoder_layer(static_cast<uint64_t>(seed), false);
    if (name == "decoder") return encoder_layer(static_cast<uint64_t>(seed), true);
    if (name == "many") return many_cells(static_cast<uint64_t>(seed), false);
    if (name == "dropped") return many_cells(static_cast<uint64_t>(seed), true);
    if (name == "chains") return chains(static_cast<uint64_t>(seed));
    return small_operators(static_cast<uint64_t>(seed));
  }

 private slots:
  void plans_give_the_oracle_s_answers_in_several_orders_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("seed");
    const auto add = [](const char* name, int count) {
      for (int seed = 1; seed <= count; ++seed)
        QTest::newRow(qPrintable(QString("%1 %2").arg(name).arg(seed))) << name << seed;
    };
    add("small", 2), add("chains", 3), add("encoder", 2), add("decoder", 2), add("many", 1), add("dropped", 1);
    add("mixtures", kSanitized ? 4 : 24);
  }
  void plans_give_the_oracle_s_answers_in_several_orders() {
    QFETCH(QString, name);
    QFETCH(int, seed);
    run_in_orders(make(name, seed), seed);
  }

  void optimised_plans_give_the_oracle_s_answers_in_several_orders() {
    int grouped = 0;
    for (int seed = 1; seed <= (kSanitized ? 4 : 12); ++seed) {
      RandomCase c = random_mixtures(static_cast<uint64_t>(seed));
      c.graph = optimised_for(HostDevice(), c.graph);
      c.name += ", optimised";
      c.graph.for_each_node([&](NodeId id, int) { grouped += c.graph.node(id).op->name == "grouped_linear"; });
      run_in_orders(c, seed);
    }
    QVERIFY(grouped > 10);
  }

 private:
  static void run_in_orders(const RandomCase& c, int seed) {
    HostDevice device;
    device.order_seed = static_cast<uint64_t>(seed) + 1;
    HostRun run(device, c);
    for (int i = 0; i < kOrders; ++i) {
      const std::string wrong = difference(c, run.program(), run.run());
      QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
      QCOMPARE(run.synchronizations(), kSynchronizationsOfARun);
    }
    std::printf("%s: %zu nodes, %lld edges, %d regions\n", c.name.c_str(), device.plan().nodes.size(),
                static_cast<long long>(device.plan().edges()), device.plan().regions);
  }
};

STORMCELL_TEST(HostOperatorsTest)

}  // namespace stormcell::testing::host_operators_test
#include "host_operators_test.moc"
