// Sequences whose states are kept in pages: a step that lacks places or a page ends its batch, and nothing of the batch
// stays.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "core/runtime/step_failure.h"
#include "tests/core/runtime/failing_steps.h"
#include "tests/gpu/host_device.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// An executor whose sequences go on from batch to batch.
struct GoingOn {
  GoingOn(Device& device, const RandomCase& c)
      : bindings(c.bindings),
        states(std::make_shared<StateStore>(device)),
        store(device, c.weights),
        executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), options()),
        sequences{states->open(), states->open()} {}
  CompileOptions options() const {
    CompileOptions made;
    made.bounds = bindings;
    made.states = states;
    return made;
  }
  std::vector<std::vector<float>> run(const InputValues& inputs) {
    ExecuteOptions execute = outputs_alone();
    execute.sequences = sequences;
    ExecutionResult result;
    executor.run(inputs, bindings, execute, result);
    return output_reals(result);
  }
  std::vector<int32_t> places() const { return {states->place(sequences[0]), states->place(sequences[1])}; }

  Bindings bindings;
  std::shared_ptr<StateStore> states;
  WeightStore store;
  Executor executor;
  std::vector<SequenceId> sequences;
};

/// A batch that fails, between some that do not, changes nothing for those: places, pages and outputs are what they are
/// without it.
void expect_no_trace_of(const InputValues& failing, const std::string& said, Device& device, const RandomCase& c,
                        const std::vector<InputValues>& before, const std::vector<InputValues>& behind) {
  GoingOn fails(device, c), never(device, c);
  QCOMPARE(fails.executor.program().paged.size(), size_t{1});
  for (const InputValues& inputs : before) QVERIFY(fails.run(inputs) == never.run(inputs));
  const std::vector<int32_t> places = never.places();
  for (int turn = 0; turn < 2; ++turn) {
    ErrorKind kind = ErrorKind::bad_input;
    const std::string complained = complaint([&] { fails.run(failing); }, &kind);
    QVERIFY2(complained == said, complained.c_str());
    QCOMPARE(kind, ErrorKind::failed);
    QCOMPARE(fails.places(), places);
    QCOMPARE(fails.states->used_bytes(), never.states->used_bytes());
  }
  for (const InputValues& inputs : behind) {
    QVERIFY(fails.run(inputs) == never.run(inputs));
    QCOMPARE(fails.places(), never.places());
    QVERIFY(fails.places() != places);
  }
}

/// A cache in pages. The taken body of a late guard puts two rows of each sequence, which are saved before, moves the
/// places on by the input `step`, and reads the cache from there; `again`: it puts others there first. The fallback puts
/// others without moving.
RandomCase late_puts(int64_t places_each, bool again) {
  MixtureBuilder b(6);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2)),
                rows = b.dense_space("rows", sequences, 2), places = b.dense_space("places", sequences, places_each);
  const ValueId x = b.floats("x", rows, {8}), step = b.integers("step", sequences, 1);
  const ValueId cache = b.state("cache", DType::f32, places, {8}), place = b.state("place", DType::i32, sequences);
  const ValueId decision = b.labelled(sequences, 2, "moe");
  b.begin_body();
  b.put(cache, x, place, "put.taken");
  b.GraphBuilder::add("state_write", {place, b.add(place, step, "stepped")}, {}, "move.taken");
  if (again) b.put(cache, b.product(x, 8, "quick"), place, "again.taken");
  const ValueId taken = b.attend(x, cache, place, "read.taken");
  b.end_body({taken, b.nobody_in_branch_1(decision)});
  b.begin_body();
  b.put(cache, b.product(x, 8, "slow"), place, "put.fallback");
  b.end_body({b.attend(x, cache, place, "read.fallback")});
  b.output("y", b.graph().node(b.add_region("guard", {}, {}, "guard")).outputs[0]);
  b.output("last", b.attend(x, cache, place, "read.last"));
  b.GraphBuilder::add("state_write", {place, b.value("add_constant", {place}, {{"value", int64_t{2}}}, "ended")}, {},
                      "end");
  return b.take("late puts");
}

/// Whether the first step of a node comes behind one that saves rows and before one that restores them.
bool lies_between_saved_and_restored(const Program& program, std::string_view node) {
  int32_t saved = -1, at = -1, restored = -1;
  for (const int32_t i : program.steps.ids()) {
    const Step& step = program.steps[i];
    if (step.kind == StepKind::save_rows && saved < 0) saved = i;
    if (step.kind == StepKind::restore_rows) restored = i;
    if (at < 0 && step.node != kNone && program.graph->node(step.node).name == node) at = i;
  }
  return 0 <= saved && saved < at && at < restored;
}

/// A cache in pages of 64 rows, room for 80. A prompt is put, as far as a mask says, the places move on by the input
/// `jump`, and two rows more are put there and read.
RandomCase prompt_and_step() {
  CaseBuilder b(7);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2)),
                tokens = b.dense_space("tokens", sequences, 70), rows = b.dense_space("rows", sequences, 2),
                places = b.dense_space("places", sequences, 80);
  const ValueId real = b.value("compact", {b.mask("mask", tokens, true)}, {}, "real");
  const ValueId prompt = b.pack(b.floats("prompt", tokens, {8}), real, sequences), x = b.floats("x", rows, {8});
  const ValueId jump = b.integers("jump", sequences, 1);
  const ValueId cache = b.state("cache", DType::f32, places, {8}), place = b.state("place", DType::i32, sequences);
  b.put(cache, prompt, place, "keep.prompt");
  b.GraphBuilder::add("state_write", {place, b.add(place, jump, "jumped")}, {}, "move");
  b.put(cache, x, place, "keep");
  b.output("y", b.attend(x, cache, place, "read"));
  b.GraphBuilder::add("state_write", {place, b.value("add_constant", {place}, {{"value", int64_t{2}}}, "ended")}, {},
                      "end");
  return b.take("prompt and step");
}
/// So many rows of each prompt, and jumps.
InputValues prompt_batch(const RandomCase& c, const std::vector<int32_t>& lengths, std::vector<int32_t> jumps) {
  InputValues inputs = input_values(c);
  std::vector<int32_t>& mask = inputs.integers.at("mask");
  mask.clear();
  for (const int32_t length : lengths)
    for (int32_t t = 0; t < 70; ++t) mask.push_back(t < length);
  inputs.integers.at("jump") = std::move(jumps);
  return inputs;
}

}  // namespace

class MissingPageTest : public QObject {
  Q_OBJECT
 private slots:
  /// It fails where rows are saved, or in a kernel behind that, for want of places or of a page.
  void a_step_that_fails_between_saved_and_restored_rows_leaves_the_sequences_as_they_were() {
    struct Row {
      int64_t places;
      int32_t step;
      bool again;
      const char *node, *said;
    };
    const std::vector<Row> rows{
        {8, 7, true, "again.taken", "expected rows that fit 8 places, got 2 from place 9"},
        {8, 7, false, "read.taken", "expected rows that fit 8 places, got 2 from place 9"},
        {80, 70, true, "again.taken", "expected a page for place 72 of sequence 1, got none"},
        {80, 70, false, "read.taken", "expected a page for place 64 of sequence 1, got none"},
    };
    for (const Row& row : rows) {
      const RandomCase c = late_puts(row.places, row.again);
      QVERIFY(lies_between_saved_and_restored(lower(std::make_shared<Graph>(c.graph)), row.node));
      const auto batch = [&](bool misses, int32_t step) {
        InputValues inputs = input_values(c);
        inputs.integers.at("moe.labels") = {0, misses};
        inputs.integers.at("step") = {0, step};
        return inputs;
      };
      for (const bool misses : {false, true}) {
        InputValues later = batch(misses, 0);
        for (float& x : later.reals.at("x")) x = 1 - x;
        for (const bool would_miss : {false, true}) {
          const InputValues failing = batch(would_miss, row.step);
          const std::string said = std::string(row.node) + ": " + row.said;
          cpu::CpuDevice cpu(2);
          expect_no_trace_of(failing, said, cpu, c, {batch(false, 0)}, {later, batch(!misses, 0)});
          EmulatedDevice emulated(2);
          expect_no_trace_of(failing, said, emulated, c, {batch(false, 0)}, {later, batch(!misses, 0)});
          HostDevice host;
          host.order_seed = 1;
          expect_no_trace_of(failing, said, host, c, {batch(false, 0)}, {later, batch(!misses, 0)});
        }
      }
    }
  }

  /// A sequence has pages for as many rows as its batch may put; the plan puts rows behind those.
  void a_page_that_is_missing_ends_its_batch_alone() {
    const RandomCase c = prompt_and_step();
    const InputValues first = prompt_batch(c, {70, 3}, {70, 3}), next = prompt_batch(c, {0, 1}, {0, 1}),
                      first_fails = prompt_batch(c, {70, 3}, {70, 70}), next_fails = prompt_batch(c, {0, 1}, {0, 60});
    const std::string missing = "keep: expected a page for place ";
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
      expect_no_trace_of(first_fails, missing + "70 of sequence 1, got none", *device, c, {}, {first, next});
      expect_no_trace_of(next_fails, missing + "65 of sequence 1, got none", *device, c, {first}, {next});
    }
  }

  void a_page_that_is_missing_is_named() {
    std::vector<std::byte> page(static_cast<size_t>(kPageRows) * 16);
    const std::vector<uint64_t> table{reinterpret_cast<uint64_t>(page.data()), reinterpret_cast<uint64_t>(page.data()),
                                      reinterpret_cast<uint64_t>(page.data()), 0};
    StateRows rows;
    rows.places = 2 * kPageRows, rows.row_bytes = 16, rows.pages = table.data(), rows.pages_of_parent = 2;
    QVERIFY(!rows.check(0, 0, 2 * kPageRows));
    QVERIFY(!rows.check(1, 60, 4));
    const StepFailure failure = rows.check(1, 60, 5);
    QCOMPARE(to_text(failure), std::string("expected a page for place 64 of sequence 1, got none"));
    QCOMPARE(complaint([&] { throw_failure("keep", failure); }),
             std::string("keep: expected a page for place 64 of sequence 1, got none"));
    // The first parent whose rows do not fit is named.
    const std::vector<int32_t> at{63, 64};
    PutRange range{rows, {}, at.data()};
    range.rows.parents = 2, range.rows.per_parent = 1;
    QCOMPARE(range.check().parent, int64_t{1});
    const std::vector<int32_t> both{-1, 64};
    range.at = both.data();
    QCOMPARE(range.check().parent, int64_t{0});
    QCOMPARE(range.check().what, int32_t{StepFailure::rows_beyond_places});
  }
};

STORMCELL_TEST(MissingPageTest)

}  // namespace stormcell::testing
#include "missing_page_test.moc"
