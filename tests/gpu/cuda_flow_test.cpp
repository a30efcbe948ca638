// Decisions of a running program on the card that the tests play: turns of loops, choices that are replayed,
// bodies of guards, weights that come late, steps that fail.
#include <functional>

#include "core/runtime/status_area.h"
#include "gpu/device/card_kernels.h"
#include "gpu/device/cuda_device.h"
#include "tests/gpu/card_check/failing_puts.h"
#include "tests/gpu/decoding.h"
#include "tests/gpu/fake_card.h"
#include "tests/gpu/guarded_case.h"
#include "tests/gpu/host_cases.h"
#include "tests/gpu/replay_case.h"
#include "tests/testing/complaint.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::cuda_flow_test {
namespace {

/// Nodes with those of loops within, and how many are loops.
struct CountedNodes {
  int64_t all = 0, loops = 0;
  explicit CountedNodes(const std::vector<FakeNode>& nodes) { add(nodes); }

 private:
  void add(const std::vector<FakeNode>& nodes) {
    for (const FakeNode& node : nodes) {
      ++all;
      if (!node.body) continue;
      ++loops;
      add(node.body->nodes);
    }
  }
};

RandomCase replayed_case(const QString& name, int seed) {
  const auto drawn = static_cast<uint64_t>(seed);
  if (name == "chains") return chains(drawn);
  if (name == "cells") return many_cells(drawn, false);
  if (name == "branches") return many_branches(drawn);
  if (name == "labels") return many_labels(drawn);
  return random_mixtures(drawn);
}

}  // namespace

class CudaFlowTest : public QObject {
  Q_OBJECT
 private slots:
  void decoding_writes_the_cpu_s_tokens_data() {
    QTest::addColumn<QString>("name");
    for (const std::string& name : reference_cases("generated"))
      if (name.starts_with("switch/")) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void decoding_writes_the_cpu_s_tokens() {
    QFETCH(QString, name);
    const DecodedFixture c(name.toStdString());
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    const std::string wrong = c.difference(c.run(device, nullptr, 2));
    QVERIFY2(wrong.empty(), wrong.c_str());
    QVERIFY2(fake.wrong.empty(), fake.wrong.c_str());
    // All turns of a run are one launch.
    QCOMPARE(fake.launches, int64_t{2});
    QVERIFY(fake.turns >= 2);
    const CountedNodes nodes(fake.nodes);
    QCOMPARE(nodes.loops, int64_t{1});
  }

  void turns_replay_their_own_choices() {
    const DecodedFixture& c = sparse_decoder();
    const ReplayedDecisions replayed = c.other_choices();
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    cpu::CpuDevice cpu(1);
    ExecutionResult near;
    try {
      near = c.run(cpu, &replayed);
    } catch (const Error&) {
      QSKIP("other choices take more turns");
    }
    const std::string wrong = DecodedFixture::difference(c.run(device, &replayed), near);
    QVERIFY2(wrong.empty(), wrong.c_str());
    QVERIFY2(fake.wrong.empty(), fake.wrong.c_str());
  }

  /// The nodes of the plan, and for each loop two that give its condition: before it, and at the end of its body.
  void a_loop_is_a_node_whose_body_ends_with_its_condition() {
    const DecodedFixture& c = sparse_decoder();
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    WeightStore store(device, c.model->weights);
    const Bindings bounds = bindings_for(*c.graph, c.in, kDecodedTokens);
    const auto executable = device.compile(c.program, store, {bounds});
    const gpu::Plan plan = gpu::make_plan(*c.program, store, {bounds}, {.multiprocessors = fake.facts.multiprocessors});
    QCOMPARE(CountedNodes(fake.nodes).all, std::ssize(plan.nodes) + 2 * std::ssize(plan.loops));
    for (const FakeNode& node : fake.nodes) {
      if (!node.body) continue;
      QCOMPARE(node.after.size(), size_t{1});
      QCOMPARE(fake.nodes[static_cast<size_t>(node.after[0])].kernel, card::kPlaceOf<card::ConditionKernel>);
      QCOMPARE(node.body->nodes.back().kernel, card::kPlaceOf<card::ConditionKernel>);
      QCOMPARE(node.body->nodes.back().after.size(), size_t{1});
    }
  }

  void calls_for_loops_that_fail_are_named_and_leave_nothing_behind() {
    const DecodedFixture& c = sparse_decoder();
    for (const auto& [call, name] :
         std::map<std::string, std::string>{{"create_condition", "cudaGraphConditionalHandleCreate for loop"},
                                            {"add_loop", "cudaGraphAddNode for loop"}}) {
      FakeCard fake;
      fake.fails[call] = 999;
      const std::string told = complaint([&] {
        card::CudaDevice device(fake.calls(), 0, 1);
        c.run(device);
      });
      QVERIFY2(told.starts_with("cuda (a card of the tests): " + name), told.c_str());
      QVERIFY(fake.held().empty() && fake.wrong_frees == 0);
    }
  }

  void recorded_choices_are_made_again_as_the_cpu_makes_them_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("seed");
    for (const char* name : {"chains", "cells", "branches", "labels", "mixtures"})
      for (int seed = 1; seed <= (kSanitized ? 1 : 2); ++seed)
        QTest::newRow(qPrintable(QString("%1 %2").arg(name).arg(seed))) << name << seed;
  }
  void recorded_choices_are_made_again_as_the_cpu_makes_them() {
    QFETCH(QString, name);
    QFETCH(int, seed);
    const ReplayCase c(replayed_case(name, seed), static_cast<uint64_t>(seed));
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    const std::string wrong = c.first_difference(device, 2);
    QVERIFY2(wrong.empty(), (c.of.name + ": " + wrong).c_str());
    QVERIFY2(fake.wrong.empty(), fake.wrong.c_str());
  }

  void a_run_behind_a_replay_decides_freely() {
    const ReplayCase c(chains(1), 1);
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    HostRun run(device, c.of);
    run.run(&c.replayed);
    const std::string wrong = difference(c.of, run.program(), run.run());
    QVERIFY2(wrong.empty(), wrong.c_str());
  }

  void the_body_that_is_due_gives_the_oracle_s_answer() {
    for (const bool late : {false, true})
      for (const bool misses : {false, true}) {
        const RandomCase c = guarded(late, misses);
        FakeCard fake;
        card::CudaDevice device(fake.calls(), 0, 1);
        HostRun run(device, c);
        for (int i = 0; i < 3; ++i) {
          const std::string wrong = difference(c, run.program(), run.run());
          QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
        }
        QVERIFY2(fake.wrong.empty(), fake.wrong.c_str());
      }
  }

  /// The first submission launches a graph a leaf, the second those from the fallback's leaf on.
  void weights_of_a_fallback_come_when_it_is_due() {
    const RandomCase c = guarded(false, true);
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    HostRun run(device, c);
    QCOMPARE(run.run().late_loads, int64_t{1});
    const int64_t first = fake.launches;
    QCOMPARE(run.run().late_loads, int64_t{0});
    const int64_t leaves = fake.launches - first;
    QVERIFY(leaves > 1);
    QVERIFY(first > leaves && first < 2 * leaves);
    QVERIFY2(fake.wrong.empty(), fake.wrong.c_str());
  }

  /// No leaf but the one at which the device waits; it waits nowhere once a submission is done.
  void a_submission_that_goes_on_elsewhere_is_refused() {
    const RandomCase c = guarded(false, false);
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    WeightStore store(device, c.weights);
    const auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
    const auto executable = device.compile(program, store, {c.bindings});
    const auto stream = device.create_stream();
    Submission submission;
    submission.bindings = c.bindings;
    submission.leaf = static_cast<int32_t>(executable->layout().segments.leaves.size());
    QVERIFY(complaint([&] { executable->submit(*stream, submission); }).find("goes on at leaf ") != std::string::npos);
    const auto failure_at = [&](const ExecutionStatus& left) {
      stream->copy_to_device(executable->status(), &left, sizeof left);
      submission.leaf = 1;
      executable->submit(*stream, submission);
      ExecutionStatus came;
      stream->copy_to_host(&came, executable->status(), sizeof came);
      stream->synchronize();
      return came.code == ExecutionStatus::failed && came.failure.node == kNone ? to_text(came.failure) : "it ran";
    };
    ExecutionStatus done, waits;
    waits.code = ExecutionStatus::needs_weights, waits.leaf = 2;
    QCOMPARE(failure_at(done), std::string("a submission goes on at leaf 1, the device waits nowhere"));
    QCOMPARE(failure_at(waits), std::string("a submission goes on at leaf 1, the device waits at leaf 2"));
    QVERIFY2(fake.wrong.empty(), fake.wrong.c_str());
  }

  void a_step_that_fails_names_node_sizes_and_device_and_the_next_batch_begins_anew() {
    const RandomCase fits = put_at({0, 1}), fails = put_at({0, 4});
    FakeCard fake;
    card::CudaDevice device(fake.calls(), 0, 1);
    HostRun run(device, fits), beyond(device, fails);
    QCOMPARE(complaint([&] { beyond.run(); }), beyond_places_on(device));
    const std::string wrong = difference(fits, run.program(), run.run());
    QVERIFY2(wrong.empty(), wrong.c_str());
    QVERIFY2(fake.wrong.empty(), fake.wrong.c_str());
  }
};

STORMCELL_TEST(CudaFlowTest)

}  // namespace stormcell::testing::cuda_flow_test
#include "cuda_flow_test.moc"
