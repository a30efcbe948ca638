// Plans that never run at the same time share their memory: as much as the largest needs, and no result of one is
// spoiled by another.
#include "core/runtime/shared_memory.h"

#include <algorithm>
#include <memory>

#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

struct Shared {
  RandomCase from;
  InputValues inputs;
  std::unique_ptr<WeightStore> store;
  std::unique_ptr<Executor> executor;
  ExecutionResult expected, result;
};

std::unique_ptr<Executor> executor_of(Device& device, Shared& plan, std::shared_ptr<SharedMemory> memory) {
  plan.store = std::make_unique<WeightStore>(device, plan.from.weights);
  return std::make_unique<Executor>(device, *plan.store,
                                    std::make_shared<Program>(lower(std::make_shared<Graph>(plan.from.graph))),
                                    CompileOptions{plan.from.bindings, false, std::move(memory)});
}

ExecuteOptions everything() {
  ExecuteOptions options;
  options.outputs = options.record = options.events = true;
  return options;
}

bool equal(const ExecutionResult& a, const ExecutionResult& b) {
  if (a.outputs.size() != b.outputs.size() || a.decisions.size() != b.decisions.size() ||
      a.events.size() != b.events.size())
    return false;
  for (size_t i = 0; i < a.outputs.size(); ++i)
    if (a.outputs[i].integers != b.outputs[i].integers || a.outputs[i].reals.size() != b.outputs[i].reals.size() ||
        !std::equal(a.outputs[i].reals.begin(), a.outputs[i].reals.end(), b.outputs[i].reals.begin(),
                    [](float x, float y) { return x == y || (x != x && y != y); }))
      return false;
  for (size_t i = 0; i < a.decisions.size(); ++i)
    if (a.decisions[i].choice != b.decisions[i].choice || a.decisions[i].ancestor != b.decisions[i].ancestor)
      return false;
  return a.guard_hits == b.guard_hits;
}

// Choices of one run, to replay in another.
ReplayedDecisions choices_of(const Executor& executor, const ExecutionResult& result) {
  ReplayedDecisions replayed(executor.program().routers.size());
  for (const ExecutedDecision& d : result.decisions) replayed[d.router].push_back({d.choice, d.ancestor});
  return replayed;
}

void check_shared(Device& device, uint64_t first_seed) {
  int64_t allocated = 0, largest = 0, sum = 0;
  auto memory = std::make_shared<SharedMemory>([&](int64_t bytes, const std::string& what) {
    allocated += bytes;
    return device.allocate(bytes, what);
  });
  // Ascending and descending sizes come in some seeds each: the first plans are moved by later ones.
  std::vector<Shared> plans;
  for (uint64_t seed = first_seed; seed < first_seed + 5; ++seed) {
    Shared& plan = plans.emplace_back(Shared{make_random_case(seed), {}, nullptr, nullptr, {}, {}});
    plan.inputs = input_values(plan.from);
    auto alone = std::make_shared<SharedMemory>(device);
    executor_of(device, plan, alone)->run(plan.inputs, plan.from.bindings, everything(), plan.expected);
    largest = std::max(largest, alone->bytes(SharedPart::activations));
    sum += alone->bytes(SharedPart::activations);
  }
  for (Shared& plan : plans) {
    plan.executor = executor_of(device, plan, memory);
    plan.executor->run(plan.inputs, plan.from.bindings, everything(), plan.result);
    QVERIFY(equal(plan.result, plan.expected));
  }
  for (int round = 0; round < 3; ++round)
    for (Shared& plan : plans) {
      ExecuteOptions options = everything();
      const auto replayed = choices_of(*plan.executor, plan.expected);
      if (round == 1) options.replayed = &replayed;
      plan.executor->run(plan.inputs, plan.from.bindings, options, plan.result);
      QVERIFY(equal(plan.result, plan.expected));
    }
  QCOMPARE(memory->bytes(SharedPart::activations), largest);
  QVERIFY(memory->bytes(SharedPart::activations) < sum);
}

}  // namespace

class SharedMemoryTest : public QObject {
  Q_OBJECT
 private slots:
  void five_plans_share_the_memory_of_the_largest_and_keep_their_results() {
    for (uint64_t seed = 0; seed < drawn(60); seed += 5) {
      cpu::CpuDevice device(2);
      check_shared(device, seed);
    }
  }

  void so_do_they_on_a_device_whose_memory_is_its_own_and_which_runs_later() {
    for (uint64_t seed = 100; seed < 130; seed += 5) {
      EmulatedDevice device(2);
      check_shared(device, seed);
    }
  }

  void memory_grows_and_never_holds_two_sizes_at_once() {
    cpu::CpuDevice device(1);
    SharedMemory memory(device);
    QCOMPARE(memory.bytes(), int64_t{0});
    memory.reserve(SharedPart::records, 1000);
    const DeviceAddress at = memory.address(SharedPart::records);
    memory.reserve(SharedPart::records, 10);
    QVERIFY(memory.bytes() == 1000 && memory.address(SharedPart::records).value == at.value);
    memory.reserve(SharedPart::records, 1 << 20);
    memory.reserve(SharedPart::inputs, 64);
    QCOMPARE(memory.bytes(), int64_t{(1 << 20) + 64});
    QVERIFY_THROWS_EXCEPTION(std::exception, memory.address(SharedPart::activations));
  }
};

STORMCELL_TEST(SharedMemoryTest)

}  // namespace stormcell::testing

#include "shared_memory_test.moc"
