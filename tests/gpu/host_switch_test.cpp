// Switch forward on the host device: every fixture of the family, in several orders, against the oracle.
#include <cstdio>

#include "tests/core/models/model_run.h"
#include "tests/gpu/host_run.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int kOrders = 3;

struct ModelCase {
  std::shared_ptr<const Model> model;
  ModelInputs in;
};

OracleResult<float> oracle_of(const ModelCase& c, OracleReplay replay) {
  OracleOptions options;
  options.replay = std::move(replay);
  options.keep_scores = true;
  options.round_inputs = true;
  return run_oracle<float>(*c.model, *c.model->forward, c.in, 0, options);
}

}  // namespace

class HostSwitchTest : public QObject {
  Q_OBJECT
 private slots:
  void a_forward_pass_gives_the_oracle_s_outputs_data() {
    QTest::addColumn<QString>("name");
    for (const std::string& name : reference_cases())
      if (name.starts_with("switch/")) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void a_forward_pass_gives_the_oracle_s_outputs() {
    QFETCH(QString, name);
    const std::string folder = reference_path(name.toStdString());
    const ModelCase c{open_model(folder), read_inputs(folder + "/input.safetensors")};
    const double tolerance = c.model->dtype == DType::f32 ? 1e-4 : 2e-2;
    HostDevice device;
    device.order_seed = 1;
    WeightStore store(device, c.model->weights);
    const auto program = std::make_shared<Program>(lower(c.model->forward));
    const Bindings bindings = bindings_for(*c.model->forward, c.in);
    Executor executor(device, store, program, bindings);
    InputValues values;
    for (const Value& v : c.model->forward->values)
      if (v.kind == ValueKind::input) values.integers[v.name] = c.in.values.at(v.name);
    const OracleResult<float> free = oracle_of(c, {});
    for (int i = 0; i < kOrders; ++i) {
      ExecuteOptions options;
      options.outputs = options.record = true;
      ExecutionResult result;
      const int64_t before = device.synchronizations();
      executor.run(values, bindings, options, result);
      QCOMPARE(device.synchronizations() - before, kSynchronizationsOfARun);
      std::string wrong = difference_of_decisions(*program, result, free, tolerance);
      OracleReplay replay;
      for (const ExecutedDecision& d : result.decisions) replay[program->routers[d.router].name].push_back(d.choice);
      if (wrong.empty()) wrong = difference_of_outputs(result, oracle_of(c, std::move(replay)), tolerance);
      QVERIFY2(wrong.empty(), wrong.c_str());
    }
    std::printf("%s: %zu nodes, %lld edges, %d regions\n", qPrintable(name), device.plan().nodes.size(),
                static_cast<long long>(device.plan().edges()), device.plan().regions);
  }
};

STORMCELL_TEST(HostSwitchTest)

}  // namespace stormcell::testing
#include "host_switch_test.moc"
