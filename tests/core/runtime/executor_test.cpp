// A batch that fails leaves the device at rest: nothing of it reads the host's memory any more, and the next one is whole.
#include "core/runtime/executor.h"

#include "core/base/error.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

template <class F>
std::string complaint(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
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
};
STORMCELL_TEST(ExecutorTest)

}  // namespace stormcell::testing
#include "executor_test.moc"
