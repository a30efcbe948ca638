// Guards whose taken body has run before the predicate is known: a miss leaves no trace of it.
#include "core/cpu/cpu_device.h"
#include "core/graph/text.h"
#include "tests/core/passes/mixture_case.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// A state that begins as the embedded tokens. The taken body adds a product to it, the fallback halves it: both read what it was before
/// the guard. Taken while nobody has label 1. With `plain`, what the fallback does without a guard.
enum class Shape : uint8_t { early, late, taken_alone, fallback_alone };
RandomCase guarded_state(Shape shape) {
  MixtureBuilder b(11);
  const ValueId x = b.tokens(2, 4, 8);
  const SpaceId tokens = b.space_of(x);
  const ValueId state = b.state("memory", DType::f32, tokens, {8});
  const ValueId decision = b.labelled(tokens, 2, "moe");
  b.GraphBuilder::add("state_write", {state, x}, {}, "begin");
  const auto empty = [&] { return b.value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{1}}}, "nobody"); };
  const auto taken = [&] {
    const ValueId y = b.product(state, 8, "quick");
    b.GraphBuilder::add("state_write", {state, b.add(state, y, "grown")}, {}, "keep.taken");
    return b.value("scale", {state}, {{"factor", 3.0}}, "after.taken");
  };
  const auto fallback = [&] {
    const ValueId y = b.product(state, 8, "slow");
    b.GraphBuilder::add("state_write", {state, b.value("scale", {state}, {{"factor", 0.5}}, "half")}, {}, "keep.fallback");
    return b.add(y, state, "after.fallback");
  };
  ValueId joined = kNone;
  if (shape == Shape::taken_alone) joined = taken();
  if (shape == Shape::fallback_alone) joined = fallback();
  if (shape == Shape::early || shape == Shape::late) {
    const bool late = shape == Shape::late;
    const std::vector<ValueId> inputs = late ? std::vector<ValueId>{} : std::vector<ValueId>{empty()};
    b.begin_body();
    std::vector<ValueId> yields{taken()};
    if (late) yields.push_back(empty());
    b.end_body(std::move(yields));
    b.begin_body();
    b.end_body({fallback()});
    joined = b.graph().node(b.add_region("guard", inputs, {}, "guard")).outputs[0];
  }
  b.output("y", joined);
  b.output("memory", b.value("scale", {state}, {{"factor", 1.0}}, "memory.now"));
  // The same weights whichever bodies there are.
  return b.take("guarded state");
}

}  // namespace

class GuardTest : public QObject {
  Q_OBJECT
 private slots:
  void a_state_written_before_the_predicate_is_known_is_rolled_back() {
    const RandomCase taken = guarded_state(Shape::taken_alone), fallback = guarded_state(Shape::fallback_alone);
    const RandomCase weights = guarded_state(Shape::late);
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)})
      for (const Shape shape : {Shape::early, Shape::late}) {
        const RandomCase from = guarded_state(shape);
        Plan plan(*device, from.graph, weights), only_taken(*device, taken.graph, weights), only_fallback(*device, fallback.graph, weights);
        QVERIFY(plan.executor().unloaded_weight_bytes() > 0);
        CaseInputs hit = from.inputs, miss = from.inputs;
        for (int32_t& label : std::get<std::vector<int32_t>>(hit.at("moe.labels"))) label = 0;
        std::get<std::vector<int32_t>>(miss.at("moe.labels"))[3] = 1;
        const auto check = [&](Plan& like, const CaseInputs& inputs, int misses, int64_t late_loads) {
          const std::vector<OutputValue> expected = like.run(inputs).outputs;
          const ExecutionResult& came = plan.run(inputs);
          QCOMPARE(difference(expected, came.outputs), std::string());
          QCOMPARE(came.guard_misses, std::vector<int32_t>{misses});
          QCOMPARE(came.late_loads, late_loads);
        };
        check(only_taken, hit, 0, 0);
        check(only_fallback, miss, 1, 1);
        check(only_fallback, miss, 1, 0);
        check(only_taken, hit, 0, 0);
      }
  }

  void a_late_guard_has_a_text_form() {
    const std::string text = to_text(guarded_state(Shape::late).graph);
    QCOMPARE(to_text(parse_graph(text, "text")), text);
  }

  void a_late_guard_without_a_scalar_predicate_is_refused() {
    MixtureBuilder b(1);
    const ValueId x = b.tokens(1, 2, 8);
    b.begin_body();
    b.end_body({x, x});
    b.begin_body();
    b.end_body({x});
    QVERIFY_THROWS_EXCEPTION(std::runtime_error, b.add_region("guard", {}, {}, "guard"));
  }
};
STORMCELL_TEST(GuardTest)
#include "guard_test.moc"
