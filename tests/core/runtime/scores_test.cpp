// If scores are asked for, a decision's record keeps what the router was given for each branch: the oracle's, on
// every device.
#include <cmath>

#include "core/cpu/cpu_device.h"
#include "core/oracle/oracle.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing::scores_test {
namespace {

OracleResult<float> oracle_of(const RandomCase& c) {
  OracleOptions options;
  options.keep_scores = true;
  return Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings, options);
}

/// All decisions of one run with their routers' nodes, those of the oracle replayed, so that nested routers see the
/// same cells.
std::vector<std::pair<NodeId, ExecutedDecision>> run_on(Device& device, const RandomCase& c,
                                                        const OracleResult<float>& reference, bool scores) {
  WeightStore store(device, c.weights);
  const auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
  Bindings larger = c.bindings;
  for (int64_t& b : larger) ++b;
  Executor executor(device, store, program, CompileOptions{larger, scores});
  ReplayedDecisions replayed(program->routers.size());
  for (const RouterId r : replayed.ids())
    for (const OracleDecision& d : reference.decisions)
      if (d.router == program->routers[r].name) replayed[r].push_back({d.choice, d.ancestor});
  ExecuteOptions options;
  options.record = true;
  options.replayed = &replayed;
  ExecutionResult result;
  for (int i = 0; i < 2; ++i) executor.run(input_values(c), c.bindings, options, result);
  std::vector<std::pair<NodeId, ExecutedDecision>> decisions;
  for (const ExecutedDecision& d : result.decisions) decisions.emplace_back(program->routers[d.router].node, d);
  return decisions;
}

double largest(const std::vector<float>& values) {
  double most = 1e-30;
  for (const float v : values) most = std::max(most, std::fabs(static_cast<double>(v)));
  return most;
}

}  // namespace

class ScoresTest : public QObject {
  Q_OBJECT
 private slots:
  void recorded_scores_are_the_oracle_s_data() {
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 40; ++seed) QTest::newRow(qPrintable(QString("random %1").arg(seed))) << seed;
    for (size_t toy = 0; toy < toys().size(); ++toy) QTest::newRow(toys()[toy].name) << -1 - int(toy);
  }
  void recorded_scores_are_the_oracle_s() {
    QFETCH(int, seed);
    const RandomCase c =
        seed < 0 ? toys()[static_cast<size_t>(-1 - seed)].make(1) : make_random_case(static_cast<uint64_t>(seed));
    const OracleResult<float> reference = oracle_of(c);
    cpu::CpuDevice here(2);
    EmulatedDevice emulated(2);
    const double tolerance = c.weight_dtype == DType::bf16 ? 2e-2 : 1e-4;
    for (Device* device : {static_cast<Device*>(&here), static_cast<Device*>(&emulated)}) {
      const auto decisions = run_on(*device, c, reference, true);
      QCOMPARE(decisions.size(), reference.decisions.size());
      for (const auto& [router, d] : decisions) {
        const auto r = std::find_if(reference.decisions.begin(), reference.decisions.end(),
                                    [&, &d = d, &router = router](const OracleDecision& o) {
                                      return o.router == c.graph.node(router).name && o.execution == d.turn;
                                    });
        QVERIFY(r != reference.decisions.end());
        const bool by_label = c.graph.value(c.graph.node(router).inputs[0]).type.dtype == DType::i32;
        QCOMPARE(d.score_columns, by_label ? 0 : r->score_columns);
        QCOMPARE(d.scores.size(), static_cast<size_t>(d.shape.cells * d.score_columns));
        QCOMPARE(d.margin.size(), static_cast<size_t>(d.shape.cells));
        const double scale = largest(r->scores);
        for (size_t i = 0; i < d.scores.size(); ++i)
          QVERIFY2(std::fabs(static_cast<double>(d.scores[i]) - r->scores[i]) <= tolerance * scale,
                   qPrintable(QString::fromStdString(c.name + ": " + r->router + ", score %1 is %2, the oracle's %3")
                                  .arg(i)
                                  .arg(d.scores[i])
                                  .arg(r->scores[i])));
      }
    }
  }
  void nobody_pays_for_scores_that_were_not_asked_for() {
    const RandomCase c = exit_chain_toy();
    cpu::CpuDevice device(1);
    const auto decisions = run_on(device, c, oracle_of(c), false);
    QVERIFY(!decisions.empty());
    for (const auto& [router, d] : decisions) QVERIFY(d.scores.empty() && d.score_columns == 0);
    const auto record_bytes = [&](bool scores) {
      WeightStore store(device, c.weights);
      return device
          .layout_of(std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), store, {c.bindings, scores})
          .record_bytes;
    };
    QVERIFY(record_bytes(true) > record_bytes(false));
  }
};
STORMCELL_TEST(ScoresTest)

}  // namespace stormcell::testing::scores_test
#include "scores_test.moc"
