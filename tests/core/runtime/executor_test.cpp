// A batch that fails leaves the device at rest: nothing of it reads the host's memory any more, and the next one is
// whole.
#include "core/runtime/executor.h"

#include <functional>
#include <utility>

#include "core/base/error.h"
#include "core/cpu/cpu_device.h"
#include "core/runtime/lower.h"
#include "tests/core/runtime/least_budget.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/many_turns.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Once it is told to, its next submission fails when it stands on the stream.
class GivingOut final : public EmulatedDevice {
 public:
  GivingOut() : EmulatedDevice(2) {}
  std::unique_ptr<Executable> compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                      const CompileOptions& options) override;
  std::function<void()> at_work;  ///< called on the device, once, behind the submission that fails; empty: none fails
};

class GivingOutExecutable final : public Executable {
 public:
  GivingOutExecutable(GivingOut& device, std::shared_ptr<const Program> program, std::unique_ptr<Executable> inner)
      : Executable(std::move(program)), device_(device), inner_(std::move(inner)) {}
  const ExecutableLayout& layout() const override { return inner_->layout(); }
  DeviceAddress address(OperandId operand) const override { return inner_->address(operand); }
  DeviceAddress status() const override { return inner_->status(); }
  DeviceAddress records() const override { return inner_->records(); }
  void submit(Stream& stream, const Submission& submission) override {
    inner_->submit(stream, submission);
    if (!device_.at_work) return;
    EmulatedDevice::put(stream, std::exchange(device_.at_work, {}));
    failed("device", "gave out");
  }

 private:
  GivingOut& device_;
  std::unique_ptr<Executable> inner_;
};

std::unique_ptr<Executable> GivingOut::compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                               const CompileOptions& options) {
  auto inner = EmulatedDevice::compile(program, weights, options);
  return std::make_unique<GivingOutExecutable>(*this, std::move(program), std::move(inner));
}

/// Asks for every part that is not there, before all others; how many of those that were have given way.
int64_t evicted_by_others(WeightStore& store) {
  const int64_t before = store.counters().evictions;
  for (const WeightHandle wanted : store.parts())
    if (!store.is_loaded(wanted))
      store.fetch_ahead(wanted, [&](WeightHandle handle) { return handle == wanted ? 0 : 1; });
  return store.counters().evictions - before;
}

}  // namespace

class ExecutorTest : public QObject {
  Q_OBJECT
 private slots:
  void inputs_that_are_refused_leave_none_on_its_way() {
    CaseBuilder b(1);
    const SpaceId images = b.root_space("images", b.bound_symbol("N", 3));
    const ValueId first = b.floats("first", images, {33}), second = b.floats("second", images, {33});
    b.output("y", b.linear(b.add(first, second), 7, "product"));
    const RandomCase c = b.take("two inputs");
    EmulatedDevice device(1);
    WeightStore store(device, c.weights);
    Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
    const InputValues whole = input_values(c);
    ExecutionResult expected, result;
    executor.run(whole, c.bindings, outputs_alone(), expected);
    {
      // The first is on its way to the device when the second is found to be too short; then the caller's memory goes.
      InputValues partly = whole;
      partly.reals["second"].pop_back();
      QCOMPARE(complaint([&] { executor.run(partly, c.bindings, outputs_alone(), result); }),
               std::string("input second: expected 99 values, got 98"));
      QCOMPARE(device.waiting(), int64_t{0});
    }
    executor.run(whole, c.bindings, outputs_alone(), result);
    QCOMPARE(result.outputs.at(0).reals, expected.outputs.at(0).reals);
  }

  void parts_that_a_failed_submission_still_reads_give_way_to_none() {
    int cases = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const RandomCase c = make_random_case(seed);
      const int64_t budget = least_budget(c);
      if (budget == 0) continue;
      GivingOut device;
      WeightStore store(device, c.weights, budget);
      Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
      ExecutionResult expected, result;
      executor.run(input_values(c), c.bindings, outputs_alone(), expected);
      int64_t meanwhile = -1;
      device.at_work = [&] { meanwhile = evicted_by_others(store); };
      QCOMPARE(complaint([&] { executor.run(input_values(c), c.bindings, outputs_alone(), result); }),
               std::string("device: gave out"));
      QCOMPARE(meanwhile, int64_t{0});
      QCOMPARE(device.waiting(), int64_t{0});
      cases += evicted_by_others(store) > 0;  // nobody reads them any more
      executor.run(input_values(c), c.bindings, outputs_alone(), result);
      for (size_t i = 0; i < expected.outputs.size(); ++i)
        QCOMPARE(result.outputs.at(i).reals, expected.outputs[i].reals);
    }
    QVERIFY2(cases >= 5, qPrintable(QString::number(cases)));
  }

  void events_for_which_there_is_no_room_are_counted() {
    constexpr int64_t kTurns = kMostEvents / 2;
    const RandomCase c = many_turns(kTurns);
    cpu::CpuDevice device(1);
    WeightStore store(device, c.weights);
    Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
    int64_t steps = 0, turns = 1;
    for (const Step& step : executor.program().steps) {
      if (step.kind == StepKind::repeat_begin) turns = kTurns;
      if (step.kind == StepKind::repeat_end) turns = 1;
      if (step.kind == StepKind::kernel) steps += turns;
    }
    QVERIFY(steps > kMostEvents);
    ExecuteOptions options;
    options.events = true;
    ExecutionResult result;
    executor.run(input_values(c), c.bindings, options, result);
    QCOMPARE(result.events.size(), static_cast<size_t>(kMostEvents));
    QCOMPARE(result.lost_events, steps - kMostEvents);
    executor.run(input_values(c), c.bindings, outputs_alone(), result);
    QCOMPARE(result.lost_events, int64_t{0});
  }
};
STORMCELL_TEST(ExecutorTest)

}  // namespace stormcell::testing
#include "executor_test.moc"
