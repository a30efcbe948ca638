// All plans of an optimisation together take the memory of the largest one.
#include <algorithm>

#include "core/bench/batch_inputs.h"
#include "core/bench/memory_check.h"
#include "core/cpu/cpu_device.h"
#include "core/graph/operator.h"
#include "core/models/model.h"
#include "core/passes/pipeline.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/core/bench/memory_sums.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kSmall = 64 << 10;  // inputs, status and rounding to pages

}  // namespace

class PlansMemoryTest : public QObject {
  Q_OBJECT
 private slots:
  void the_plans_of_the_demo_take_as_much_as_the_largest() {
    const std::shared_ptr<const Model> model = open_model("demo:switch-names");
    DataOptions options;
    options.vocabulary = model->vocabulary, options.inputs = model->inputs;
    options.batch = 32;
    const auto data = Dataset::open("random:64x24", model->tokenizer, options);
    const Bindings bounds = bounds_of(*model->forward, *data, 0);
    cpu::CpuDevice device(2);
    WeightStore store(device, model->weights);

    // One branch of each router without load, so that all three passes apply.
    LoadProfile profile;
    model->forward->for_each_node([&](NodeId id, int) {
      const Node& n = model->forward->node(id);
      if (n.op->name != "route") return;
      RouterLoad load{std::vector<int64_t>(static_cast<size_t>(model->forward->value(n.outputs[0]).branches), 100), 800,
                      1};
      load.load[0] = 0;
      profile.routers[n.name] = load;
    });
    std::vector<std::shared_ptr<const Graph>> graphs{model->forward};
    for (const PassOutcome& outcome : run_passes({*model->forward, profile}, select_passes({})).outcomes)
      for (const PassResult* result : {&outcome.alone, &outcome.cumulative})
        if (result->applied) graphs.push_back(std::make_shared<Graph>(result->graph));
    QCOMPARE(graphs.size(), size_t{7});

    int64_t allocated = 0, largest = 0, all = 0;
    const auto memory = std::make_shared<SharedMemory>([&](int64_t bytes, const std::string& what) {
      allocated += bytes;
      return device.allocate(bytes, what);
    });
    std::vector<std::unique_ptr<Executor>> executors;
    for (const auto& graph : graphs) {
      const auto program = std::make_shared<Program>(lower(graph));
      const auto alone = std::make_shared<SharedMemory>(device);
      Executor(device, store, program, CompileOptions{bounds, false, alone});
      // A plan is refused exactly when what it needs beyond the others is not there.
      const CompileOptions shared{bounds, false, memory};
      const int64_t more = further_memory_needed(device, store, program, shared), held = memory->bytes();
      QCOMPARE(complaint([&] { check_further_plan(device, store, program, shared, more, "plan", "model"); }),
               std::string());
      QVERIFY(complaint([&] {
                check_further_plan(device, store, program, shared, more - 1, "plan", "model");
              }).starts_with("model: the plan \"plan\" needs "));
      largest = std::max(largest, alone->bytes());
      all += alone->bytes();
      executors.push_back(std::make_unique<Executor>(device, store, program, shared));
      QVERIFY(memory->bytes() - held >= more && memory->bytes() - held <= more + kSmall);
      QCOMPARE(further_memory_needed(device, store, program, shared), int64_t{0});
    }
    QVERIFY2(memory->bytes() <= largest + kSmall,
             (std::to_string(memory->bytes()) + " of " + std::to_string(largest)).c_str());
    QVERIFY2(all > 5 * memory->bytes(), std::to_string(all).c_str());
    // They run with it, in any order.
    ExecutionResult result;
    ExecuteOptions outputs;
    outputs.outputs = true;
    for (int64_t b = 0; b < data->batch_count(); ++b) {
      std::vector<float> expected;
      for (const auto& executor : executors) {
        const Batch batch = data->batch(b);
        executor->run(stormcell::inputs_of(batch), bindings_of(*executor->program().graph, batch, 0), outputs, result);
        if (expected.empty()) expected = result.outputs[0].reals;
        QCOMPARE(result.outputs[0].reals.size(), expected.size());
      }
    }
  }
};

STORMCELL_TEST(PlansMemoryTest)

}  // namespace stormcell::testing

#include "plans_memory_test.moc"
