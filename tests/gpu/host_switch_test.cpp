// Switch forward on the host device: every fixture of the family, as it is and optimised, in many orders, against the
// oracle.
#include <cstdio>

#include "tests/core/models/model_run.h"
#include "tests/gpu/host_run.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::host_switch_test {
namespace {

// A sanitizer looks at code that one order runs.
constexpr int kOrders = kSanitized ? 1 : 20, kIsolated = kSanitized ? 1 : 2;

struct ModelCase {
  std::shared_ptr<const Model> model;
  ModelInputs in;
};

OracleResult<float> oracle_of(const ModelCase& c, const Graph& graph, OracleReplay replay) {
  OracleOptions options;
  options.replay = std::move(replay);
  options.keep_scores = true;
  options.round_inputs = true;
  return run_oracle<float>(*c.model, graph, c.in, 0, options);
}

/// Runs a graph of the model in many orders. In the first ones a node sees what it declared alone; the others are
/// faster.
void run_in_orders(const ModelCase& c, std::shared_ptr<const Graph> graph, const char* what) {
  const double tolerance = c.model->dtype == DType::f32 ? 1e-4 : 2e-2;
  HostDevice device;
  device.order_seed = 1;
  WeightStore store(device, c.model->weights);
  const auto program = std::make_shared<Program>(lower(graph));
  const Bindings bindings = bindings_for(*graph, c.in);
  Executor executor(device, store, program, bindings);
  InputValues values;
  for (const Value& v : graph->values)
    if (v.kind == ValueKind::input) values.integers[v.name] = c.in.values.at(v.name);
  const OracleResult<float> free = oracle_of(c, *graph, {});
  OracleReplay made;
  OracleResult<float> expected = free;
  for (int i = 0; i < kOrders; ++i) {
    device.isolates = i < kIsolated;
    ExecuteOptions options;
    options.outputs = options.record = true;
    ExecutionResult result;
    const int64_t before = device.synchronizations();
    executor.run(values, bindings, options, result);
    QCOMPARE(device.synchronizations() - before, kSynchronizationsOfARun);
    std::string wrong = difference_of_decisions(*program, result, free, tolerance);
    OracleReplay replay;
    for (const ExecutedDecision& d : result.decisions) replay[program->routers[d.router].name].push_back(d.choice);
    if (replay != made) expected = oracle_of(c, *graph, made = replay);
    if (wrong.empty()) wrong = difference_of_outputs(result, expected, tolerance);
    QVERIFY2(wrong.empty(), wrong.c_str());
  }
  std::printf("%s: %zu nodes, %lld edges, %d regions\n", what, device.plan().nodes.size(),
              static_cast<long long>(device.plan().edges()), device.plan().regions);
}

}  // namespace

class HostSwitchTest : public QObject {
  Q_OBJECT
  static void fixtures() {
    QTest::addColumn<QString>("name");
    for (const std::string& name : reference_cases())
      if (name.starts_with("switch/")) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  static ModelCase open(const QString& name) {
    const std::string folder = reference_path(name.toStdString());
    return {open_model(folder), read_inputs(folder + "/input.safetensors")};
  }

 private slots:
  void a_forward_pass_gives_the_oracle_s_outputs_data() { fixtures(); }
  void a_forward_pass_gives_the_oracle_s_outputs() {
    QFETCH(QString, name);
    const ModelCase c = open(name);
    run_in_orders(c, c.model->forward, qPrintable(name));
  }

  void an_optimised_forward_pass_gives_the_oracle_s_outputs_data() { fixtures(); }
  void an_optimised_forward_pass_gives_the_oracle_s_outputs() {
    QFETCH(QString, name);
    const ModelCase c = open(name);
    run_in_orders(c, std::make_shared<Graph>(optimised_for(HostDevice(), *c.model->forward)), qPrintable(name));
  }

  /// A card needs at most 1.2 times the nodes that were estimated for it, 330 for switch-base-8.
  void nodes_of_a_batch_are_counted() {
    const auto model = open_model("preset:switch-base-8");
    ModelInputs batch;
    batch.sequences = 8, batch.length = batch.decoder_length = 128;
    const auto count = [&](const Graph& graph) {
      HostDevice device;
      WeightStore store(device, model->weights);
      const Program program = lower(std::make_shared<Graph>(graph));
      return gpu::make_plan(program, store, {bindings_for(graph, batch)}, {}).nodes.size();
    };
    const size_t as_it_is = count(*model->forward), optimised = count(optimised_for(HostDevice(), *model->forward));
    std::printf("switch-base-8, 8 x 128: %zu nodes, optimised %zu\n", as_it_is, optimised);
    QVERIFY2(optimised <= 396, std::to_string(optimised).c_str());
  }
};

STORMCELL_TEST(HostSwitchTest)

}  // namespace stormcell::testing::host_switch_test
#include "host_switch_test.moc"
