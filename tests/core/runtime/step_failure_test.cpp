// A step that its data makes impossible is a status of the execution: the first one is reported, nothing behind it
// runs, and every device says what the oracle says.
#include <memory>
#include <string>
#include <vector>

#include "core/oracle/oracle.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "core/runtime/resume.h"
#include "core/runtime/step_failure.h"
#include "tests/core/runtime/failing_steps.h"
#include "tests/core/runtime/least_budget.h"
#include "tests/gpu/host_device.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Three rows of each of two sequences, put into five places of one state, and then into five of another.
RandomCase two_puts(std::vector<int32_t> first, std::vector<int32_t> second) {
  CaseBuilder b(1);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2)),
                rows = b.dense_space("rows", sequences, b.bound_symbol("T", 3)),
                places = b.dense_space("places", sequences, 5);
  const ValueId x = b.floats("x", rows, {4});
  const ValueId state = b.state("kept", DType::f32, places, {4}), other = b.state("behind", DType::f32, places, {4});
  const ValueId at = b.integers("at", sequences, 3), then = b.integers("then", sequences, 3);
  b.GraphBuilder::add("state_fill", {state}, {{"value", 0.0}}, "clear");
  b.GraphBuilder::add("state_fill", {other}, {{"value", 0.0}}, "clear_behind");
  b.put(state, x, at, "keep");
  b.put(other, x, then, "keep_behind");
  b.output("y", b.value("add", {state, other}, {}, "y"));
  RandomCase made = b.take("two puts");
  made.inputs["at"] = std::move(first);
  made.inputs["then"] = std::move(second);
  return made;
}

/// Shows what it has compiled last.
template <class DeviceOf>
class ShowsExecutable final : public DeviceOf {
 public:
  using DeviceOf::DeviceOf;
  std::unique_ptr<Executable> compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                      const CompileOptions& options) override {
    auto made = DeviceOf::compile(std::move(program), weights, options);
    executable = made.get();
    return made;
  }
  const Executable* executable = nullptr;
};

std::string failure_of_the_oracle(const RandomCase& c) {
  return complaint([&] { Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings); });
}
std::string failure_on(Device& device, const RandomCase& c) {
  return complaint([&] {
    WeightStore store(device, c.weights);
    Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
    ExecutionResult result;
    executor.run(input_values(c), c.bindings, {}, result);
  });
}

/// The numbers of a state.
std::vector<float> numbers_of_state(Device& device, const Executable& executable, const Bindings& bindings,
                                    const std::string& state) {
  const Program& program = executable.program();
  std::vector<float> numbers;
  for (const OperandId o : program.operands.ids()) {
    const Operand& operand = program.operands[o];
    if (operand.kind != BufferKind::state || program.graph->value(operand.value).name != state) continue;
    const int64_t bytes = program.buffers[operand.buffer].bytes.evaluate(bindings);
    numbers.resize(static_cast<size_t>(bytes) / sizeof(float));
    const auto stream = device.create_stream();
    stream->copy_to_host(numbers.data(), executable.address(o), bytes);
    stream->synchronize();
  }
  return numbers;
}

/// A run that fits, then one that does not: the state behind the step that fails is left as the fill before it has made
/// it.
template <class DeviceOf>
void expect_nothing_behind(DeviceOf& device) {
  const RandomCase fits = two_puts({0, 1}, {0, 2}), fails = two_puts({0, 4}, {0, 2});
  WeightStore store(device, fits.weights);
  Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(fits.graph))),
                    fits.bindings);
  ExecutionResult result;
  executor.run(input_values(fits), fits.bindings, {}, result);
  const std::vector<float> written = numbers_of_state(device, *device.executable, fits.bindings, "behind");
  const std::vector<float> filled(written.size(), 0.0f);
  QVERIFY(written != filled);
  InputValues inputs = input_values(fails);
  QCOMPARE(complaint([&] { executor.run(inputs, fails.bindings, {}, result); }),
           std::string("keep: expected rows that fit 5 places, got 3 from place 4"));
  QCOMPARE(numbers_of_state(device, *device.executable, fits.bindings, "behind"), filled);
  // The next batch begins anew.
  inputs.integers.at("at") = {0, 1};
  executor.run(inputs, fits.bindings, {}, result);
  QCOMPARE(numbers_of_state(device, *device.executable, fits.bindings, "behind"), written);
}

/// A guard that holds while no sequence has label 1. Each body puts three rows of each sequence into five places of one
/// state, and a step behind the guard puts three into another, each from places of its own. A late guard has run its
/// taken body before it knows.
RandomCase guarded_puts(bool late) {
  MixtureBuilder b(4);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2)),
                rows = b.dense_space("rows", sequences, 3), places = b.dense_space("places", sequences, 5);
  const ValueId x = b.floats("x", rows, {8});
  const ValueId state = b.state("kept", DType::f32, places, {8}), other = b.state("behind", DType::f32, places, {8});
  const ValueId decision = b.labelled(sequences, 2, "moe");
  const ValueId at_taken = b.integers("taken.at", sequences, 1), at_fallback = b.integers("fallback.at", sequences, 1),
                at_behind = b.integers("behind.at", sequences, 1);
  b.GraphBuilder::add("state_fill", {state}, {{"value", 0.0}}, "clear");
  b.GraphBuilder::add("state_fill", {other}, {{"value", 0.0}}, "clear_behind");
  std::vector<ValueId> predicate;
  if (!late) predicate.push_back(b.nobody_in_branch_1(decision));
  b.begin_body();
  b.put(state, b.product(x, 8, "quick"), at_taken, "keep.taken");
  std::vector<ValueId> yields{b.value("scale", {state}, {{"factor", 2.0}}, "read.taken")};
  if (late) yields.push_back(b.nobody_in_branch_1(decision));
  b.end_body(std::move(yields));
  b.begin_body();
  b.put(state, b.product(x, 8, "slow"), at_fallback, "keep.fallback");
  b.end_body({b.value("scale", {state}, {{"factor", 3.0}}, "read.fallback")});
  b.output("y", b.graph().node(b.add_region("guard", predicate, {}, "guard")).outputs[0]);
  b.put(other, x, at_behind, "keep.behind");
  b.output("others", b.value("scale", {other}, {{"factor", 1.0}}, "behind.now"));
  return b.take("guarded puts");
}

/// The place of the second sequence's rows, and its label.
struct GuardedPlaces {
  bool misses = false;
  int32_t taken = 1, fallback = 1, behind = 1;
};
RandomCase placed(RandomCase c, const GuardedPlaces& at) {
  c.inputs["moe.labels"] = std::vector<int32_t>{0, at.misses};
  c.inputs["taken.at"] = std::vector<int32_t>{0, at.taken};
  c.inputs["fallback.at"] = std::vector<int32_t>{0, at.fallback};
  c.inputs["behind.at"] = std::vector<int32_t>{0, at.behind};
  return c;
}

/// Batches that fail and batches that do not take turns on one executor.
template <class DeviceOf>
void expect_failures_within_a_guard(DeviceOf& device, bool late) {
  struct Row {
    GuardedPlaces at;
    std::string early, late;  ///< what is said where the guard is told so; empty: nothing fails
  };
  const auto from = [](const char* step, int place) {
    return std::string(step) + ": expected rows that fit 5 places, got 3 from place " + std::to_string(place);
  };
  const std::string taken = from("keep.taken", 4), fallback = from("keep.fallback", 3), behind = from("keep.behind", 5);
  const std::vector<Row> rows{
      {{.misses = true, .fallback = 3}, fallback, fallback},
      {{.taken = 4}, taken, taken},
      {{.fallback = 3}, "", ""},
      // A late guard's taken body has failed before its predicate is known.
      {{.misses = true, .taken = 4}, "", taken},
      {{.misses = true, .taken = 4, .fallback = 3, .behind = 5}, fallback, taken},
      {{.taken = 4, .behind = 5}, taken, taken},
      {{.behind = 5}, behind, behind},
      {{.misses = true, .behind = 5}, behind, behind},
  };
  const RandomCase c = guarded_puts(late);
  const auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
  ExecutionResult expected[2], result;
  for (const bool misses : {false, true})
    expected[misses] = execute_once(device, placed(c, {.misses = misses}), outputs_alone(), program);
  QVERIFY(output_reals(expected[false]) != output_reals(expected[true]));
  WeightStore store(device, c.weights);
  Executor executor(device, store, program, c.bindings);
  for (const Row& row : rows) {
    const RandomCase batch = placed(c, row.at);
    const std::string said = complaint([&] { executor.run(input_values(batch), c.bindings, outputs_alone(), result); });
    QCOMPARE(said, late ? row.late : row.early);
    QCOMPARE(failure_of_the_oracle(batch), said);
    if (said.empty()) {
      QVERIFY(output_reals(result) == output_reals(expected[row.at.misses]));
    } else {
      const std::vector<float> none(2 * 5 * 8);
      QCOMPARE(numbers_of_state(device, *device.executable, c.bindings, "behind"), none);
    }
    // The first one fails behind the weights for which its fallback has waited.
    if (&row == &rows.front()) QCOMPARE(result.late_loads, int64_t{1});
    for (const bool misses : {true, false}) {
      executor.run(input_values(placed(c, {.misses = misses})), c.bindings, outputs_alone(), result);
      QVERIFY(output_reals(result) == output_reals(expected[misses]));
      QCOMPARE(result.guard_misses[GuardId(0)], int32_t{misses});
      QCOMPARE(result.late_loads, int64_t{0});
    }
  }
}

}  // namespace

class StepFailureTest : public QObject {
  Q_OBJECT
 private slots:
  void the_first_row_and_the_first_step_are_reported_as_the_oracle_reports_them() {
    struct Row {
      std::vector<int32_t> first, second;
      std::string said;
    };
    const std::string keep = "keep: expected rows that fit 5 places, got 3 from place ",
                      behind = "keep_behind: expected rows that fit 5 places, got 3 from place ";
    const std::vector<Row> rows{{{0, 2}, {2, 0}, ""},         {{4, 7}, {0, 0}, keep + "4"},
                                {{0, 7}, {0, 0}, keep + "7"}, {{-1, 9}, {9, 9}, keep + "-1"},
                                {{2, 3}, {4, 4}, keep + "3"}, {{0, 0}, {1, 5}, behind + "5"}};
    for (const Row& row : rows) {
      const RandomCase c = two_puts(row.first, row.second);
      QCOMPARE(failure_of_the_oracle(c), row.said);
      for (const int threads : {1, 2, 4}) {
        cpu::CpuDevice cpu(threads);
        EmulatedDevice emulated(threads);
        QCOMPARE(failure_on(cpu, c), row.said);
        QCOMPARE(failure_on(emulated, c), row.said);
      }
      // In some order of the nodes each.
      HostDevice host;
      host.order_seed = 1;
      for (int order = 0; order < 4; ++order) QCOMPARE(failure_on(host, c), row.said);
    }
  }

  void nothing_behind_a_step_that_fails_runs() {
    ShowsExecutable<cpu::CpuDevice> cpu(2);
    expect_nothing_behind(cpu);
    ShowsExecutable<EmulatedDevice> emulated(2);
    expect_nothing_behind(emulated);
    ShowsExecutable<HostDevice> host;
    expect_nothing_behind(host);
    host.order_seed = 1;
    expect_nothing_behind(host);
  }

  /// Parts of branches are brought while the submission waits, and again for the next batch.
  void a_step_that_fails_under_a_budget_leaves_the_store_as_a_whole_run_does() {
    CaseBuilder b(3);
    const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2)),
                  rows = b.dense_space("rows", sequences, b.bound_symbol("T", 3)),
                  places = b.dense_space("places", sequences, 5);
    const ValueId x = b.floats("x", rows, {8});
    const ValueId state = b.state("kept", DType::f32, places, {8});
    const ValueId at = b.integers("at", sequences, 3);
    b.GraphBuilder::add("state_fill", {state}, {{"value", 0.0}}, "clear");
    std::vector<ValueId> parts = b.scatter(x, b.route(b.linear(x, 2, "scores"), {}, "moe"), {0, 1});
    for (size_t i = 0; i < parts.size(); ++i) parts[i] = b.linear(parts[i], 8, "expert." + std::to_string(i));
    const ValueId joined = b.gather(parts, rows, "weighted", kNone, "joined");
    b.put(state, joined, at, "keep");
    b.output("y", b.value("scale", {state}, {{"factor", 1.0}}, "y"));
    RandomCase c = b.take("a budget");
    for (const bool emulated : {false, true}) {
      const std::unique_ptr<Device> device =
          emulated ? std::unique_ptr<Device>(std::make_unique<EmulatedDevice>(1)) : std::make_unique<cpu::CpuDevice>(1);
      WeightStore store(*device, c.weights, least_budget(c));
      Executor executor(*device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
      ExecuteOptions options;
      options.outputs = true;
      InputValues inputs = input_values(c);
      ExecutionResult before, result;
      inputs.integers.at("at") = {0, 1};
      executor.run(inputs, c.bindings, options, before);
      QVERIFY(before.waves > 0);
      inputs.integers.at("at") = {0, 4};
      QCOMPARE(complaint([&] { executor.run(inputs, c.bindings, options, result); }),
               std::string("keep: expected rows that fit 5 places, got 3 from place 4"));
      inputs.integers.at("at") = {0, 1};
      executor.run(inputs, c.bindings, options, result);
      QVERIFY(result.outputs.at(0).reals == before.outputs.at(0).reals);
    }
  }

  void a_step_that_fails_within_a_guard_is_named_and_the_next_batch_is_right() {
    for (const bool late : {false, true}) {
      ShowsExecutable<cpu::CpuDevice> cpu(2);
      expect_failures_within_a_guard(cpu, late);
      ShowsExecutable<EmulatedDevice> emulated(2);
      expect_failures_within_a_guard(emulated, late);
      ShowsExecutable<HostDevice> host;
      host.order_seed = 1;
      expect_failures_within_a_guard(host, late);
    }
  }

  void the_first_failure_stays() {
    ExecutionStatus status;
    status.fail(NodeId(3), {StepFailure::rows_beyond_places, kNone, 1, 4, 3, 5});
    status.fail(NodeId(1), {StepFailure::missing_page, kNone, 0, 2});
    QCOMPARE(status.code, int32_t{ExecutionStatus::failed});
    QCOMPARE(status.failure.node, NodeId(3));
    QCOMPARE(status.failure.parent, int64_t{1});
    QCOMPARE(to_text(status.failure), std::string("expected rows that fit 5 places, got 3 from place 4"));
    QVERIFY(!status.waits());
  }

  void no_submission_goes_on_from_a_failure() {
    CaseBuilder b(2);
    const SpaceId tokens = b.root_space("tokens", b.bound_symbol("N", 6));
    const ValueId x = b.floats("x", tokens, {8});
    std::vector<ValueId> parts = b.scatter(x, b.route(b.linear(x, 2, "scores"), {}, "moe"), {0, 1});
    for (size_t i = 0; i < parts.size(); ++i) parts[i] = b.linear(parts[i], 8, "expert." + std::to_string(i));
    b.output("y", b.gather(parts, tokens, "weighted", kNone, "joined"));
    const RandomCase c = b.take("routed");
    cpu::CpuDevice device(1);
    WeightStore store(device, c.weights, least_budget(c));
    const auto program = std::make_shared<const Program>(lower(std::make_shared<Graph>(c.graph)));
    const ExecutableLayout layout = device.layout_of(program, store, {c.bindings});
    QVERIFY(layout.segments.leaves.size() > 1);
    std::vector<std::byte> memory(static_cast<size_t>(StatusArea::bytes(*program)));
    const StatusArea area(memory.data(), *program);
    Submission submission;
    submission.leaf = 1;
    *area.status = {};
    area.status->code = ExecutionStatus::needs_weights, area.status->leaf = 1;
    area.status->fail(NodeId(0), {StepFailure::rows_beyond_places, kNone, 0, 4, 3, 5});
    const std::string said = complaint([&] { go_on(*program, layout.segments, submission, area); });
    QVERIFY2(said.find("the device waits nowhere") != std::string::npos, said.c_str());
    QCOMPARE(area.status->code, int32_t{ExecutionStatus::failed});
  }
};

STORMCELL_TEST(StepFailureTest)

}  // namespace stormcell::testing
#include "step_failure_test.moc"
