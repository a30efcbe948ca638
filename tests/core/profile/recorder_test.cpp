#include "core/profile/recorder.h"

#include <atomic>
#include <chrono>

#include "core/base/error.h"
#include "tests/core/cell/counted_allocations.h"
#include "tests/core/profile/synthetic.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

using testing::fill;
using testing::two_stacks;

// Remembers what came; may be slow, and may fail at a batch.
struct FakeSink : RecordSink {
  std::vector<int64_t> numbers, committed;
  std::vector<size_t> decisions;
  std::atomic<int> delay_ms{0};
  int64_t fail_at = -1;
  std::atomic<int> commits{0};
  void batch(const BatchRecord& batch) override {
    if (delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    if (batch.number == fail_at) failed("sink", "the disk is full");
    numbers.push_back(batch.number);
    decisions.push_back(batch.decisions());
  }
  void commit() override {
    committed = numbers;
    ++commits;
  }
};

void record(Recorder& recorder, int64_t number, double latency_ms = 1) {
  static const RunLayout layout = two_stacks();
  BatchRecord& batch = recorder.begin_batch();
  fill(layout, number, {2, 5}, batch);
  batch.latency_ms = latency_ms;
  recorder.submit();
}

}  // namespace

class RecorderTest : public QObject {
  Q_OBJECT
 private slots:
  void a_record_gives_back_what_was_put_in() {
    const RunLayout layout = two_stacks();
    BatchRecord batch;
    for (int round = 0; round < 2; ++round) {  // the second time in used memory
      batch.clear();
      const std::vector<int32_t> mask = {1, 0, 7}, tokens = {5, -1, 9}, choice = {0, dropped_from(1), kNoBranch},
                                 ancestor = {2, 0, 1}, padded = {3, 4};
      const std::vector<float> weight = {1, 2, 3}, scores = {1, 2, 3, 4, 5, 6}, margin = {0.5f, 0.25f, 0};
      batch.add_space(1, {10, 1, 3, 4, Phase::decode}, mask, tokens);
      batch.add_decision({3, choice, weight, padded, ancestor, scores, margin});
      batch.add_sequence("de", "Deutschland");
      batch.add_sequence("", "");
      QVERIFY(batch.items().empty());  // those of the round before are forgotten
      QVERIFY((batch.space(0).cells.id(2) == CellId{10, 10, 6, 6, Phase::decode}));
      const std::vector<int64_t> items = {int64_t{1} << 40};
      batch.set_items(items);
      QCOMPARE(batch.space(0).cells.id(2).item, items[0]);
      QCOMPARE(batch.spaces(), size_t{1});
      const SpaceRecord space = batch.space(0);
      QCOMPARE(space.space, 1);
      QCOMPARE(space.cells.step, 4);
      QCOMPARE(std::vector<uint8_t>(space.mask.begin(), space.mask.end()), (std::vector<uint8_t>{1, 0, 1}));
      QCOMPARE(std::vector<int32_t>(space.tokens.begin(), space.tokens.end()), tokens);
      const DecisionRecord d = batch.decision(0);
      QCOMPARE(d.router, 3);
      QCOMPARE(std::vector<int32_t>(d.choice.begin(), d.choice.end()), choice);
      QCOMPARE(std::vector<int32_t>(d.padded.begin(), d.padded.end()), padded);
      QCOMPARE(std::vector<int32_t>(d.ancestor.begin(), d.ancestor.end()), ancestor);
      QCOMPARE(std::vector<float>(d.weight.begin(), d.weight.end()), weight);
      QCOMPARE(std::vector<float>(d.scores.begin(), d.scores.end()), scores);
      QCOMPARE(std::vector<float>(d.margin.begin(), d.margin.end()), margin);
      QVERIFY(batch.label(0) == "de" && batch.text(0) == "Deutschland" && batch.label(1).empty());
    }
  }
  void a_decision_in_memory_becomes_a_record() {
    const DecisionShape shape{4, 2, 3};
    std::vector<std::byte> memory(decision_bytes(shape) + 64);
    auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    DecisionView view = decision_view(aligned, shape);
    for (int i = 0; i < 6; ++i) view.choice[i] = i % 3, view.choice_weight[i] = 0.5f;
    index_decision(view, 3);
    const DecisionRecord d = record_of(5, view);
    QCOMPARE(d.router, 5);
    QCOMPARE(d.choice.size(), size_t{6});
    QCOMPARE(d.weight.size(), size_t{6});
    QCOMPARE(std::vector<int32_t>(d.padded.begin(), d.padded.end()), (std::vector<int32_t>{2, 2, 2}));
  }

  void every_batch_arrives_in_order() {
    FakeSink a, b;
    Recorder recorder({&a, &b});
    for (int64_t i = 0; i < 500; ++i) record(recorder, i);
    recorder.finish();
    QCOMPARE(a.numbers.size(), size_t{500});
    QVERIFY(std::is_sorted(a.numbers.begin(), a.numbers.end()));
    QCOMPARE(a.committed, a.numbers);
    QCOMPARE(b.numbers, a.numbers);
    QVERIFY(std::all_of(a.decisions.begin(), a.decisions.end(), [](size_t n) { return n == 5; }));
    QCOMPARE(recorder.counts().batches, int64_t{500});
  }
  void flush_returns_when_everything_is_committed() {
    FakeSink sink;
    Recorder recorder({&sink});
    for (int64_t i = 0; i < 20; ++i) {
      record(recorder, i);
      recorder.flush();
      QCOMPARE(sink.committed.size(), static_cast<size_t>(i + 1));
    }
    recorder.finish();
  }
  void short_batches_are_committed_together() {
    FakeSink sink;
    Recorder recorder({&sink}, {.records = 64, .group_ms = 1000});
    for (int64_t i = 0; i < 20; ++i) record(recorder, i);
    recorder.finish();
    QVERIFY(sink.commits <= 2);
  }
  void long_batches_are_not_kept_waiting() {
    FakeSink sink;
    Recorder recorder({&sink}, {.group_ms = 3000});
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < 3; ++i) {
      record(recorder, i, 5000);
      while (sink.commits <= i && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    QVERIFY(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2500));
    recorder.finish();
  }
  void a_slow_sink_holds_the_run_back_and_is_counted() {
    FakeSink sink;
    sink.delay_ms = 5;
    Recorder recorder({&sink}, {.records = 2, .group_ms = 0});
    for (int64_t i = 0; i < 12; ++i) record(recorder, i);
    recorder.finish();
    QCOMPARE(sink.numbers.size(), size_t{12});
    QVERIFY(recorder.counts().waits > 0);
    QVERIFY(recorder.counts().waited_ms > 0);
  }
  void memory_in_flight_is_bounded_but_two_records_are_always_allowed() {
    FakeSink sink;
    Recorder recorder({&sink}, {.records = 100, .bytes = 1, .group_ms = 0});
    for (int64_t i = 0; i < 50; ++i) record(recorder, i);
    recorder.finish();
    QCOMPARE(sink.numbers.size(), size_t{50});
  }
  void an_error_of_the_sink_ends_the_run_and_keeps_what_was_committed() {
    FakeSink sink;
    sink.fail_at = 5;
    Recorder recorder({&sink}, {.group_ms = 0});
    int64_t submitted = 0;
    std::string message;
    try {
      for (; submitted < 1000; ++submitted) {
        record(recorder, submitted, 100);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    } catch (const Error& e) {
      message = e.what();
    }
    QVERIFY(submitted < 1000);
    QCOMPARE(message, std::string("sink: the disk is full"));
    QVERIFY_THROWS_EXCEPTION(Error, recorder.flush());
    QVERIFY_THROWS_EXCEPTION(Error, recorder.finish());
    QVERIFY(!sink.committed.empty() && sink.committed.back() < 5);
  }
  void recording_allocates_nothing_once_it_runs() {
    FakeSink sink;
    sink.numbers.reserve(4000);
    sink.committed.reserve(4000);
    sink.decisions.reserve(4000);
    const RunLayout layout = two_stacks();
    // The same batch again and again, made outside; copying it in is what a run does.
    BatchRecord made;
    fill(layout, 3, {4, 16}, made);
    std::vector<int32_t> mask(64, 1), tokens(64, 5);
    Recorder recorder({&sink}, {.records = 4});
    int64_t counted = 0;
    sink.delay_ms = 2;  // so that the whole pool is in use before the count
    for (int64_t i = 0; i < 1000; ++i) {
      if (i == 50) sink.delay_ms = 0;
      if (i == 500) {
        recorder.flush();
        counted = testing::allocations;
      }
      BatchRecord& batch = recorder.begin_batch();
      batch.number = i;
      for (int32_t s = 0; s < 2; ++s) batch.add_space(s, {i, 4, 16}, mask, tokens);
      for (size_t d = 0; d < made.decisions(); ++d) batch.add_decision(made.decision(d));
      for (const StepEvent& e : made.events) batch.events.push_back(e);
      for (const GuardCount& g : made.guards) batch.guards.push_back(g);
      for (int q = 0; q < 4; ++q) batch.add_sequence("label", "a text that does not fit a small string");
      recorder.submit();
    }
    const int64_t made_late = testing::allocations - counted;
    recorder.finish();
    QCOMPARE(made_late, int64_t{0});
  }
  void what_was_submitted_is_written_without_finish() {
    FakeSink sink;
    {
      Recorder recorder({&sink}, {.group_ms = 10000});
      for (int64_t i = 0; i < 3; ++i) record(recorder, i);
    }
    QCOMPARE(sink.committed.size(), size_t{3});
  }
};

STORMCELL_TEST(RecorderTest)

}  // namespace stormcell

#include "recorder_test.moc"
