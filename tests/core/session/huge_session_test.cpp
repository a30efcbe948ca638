// Both ends of the scale: a session of 10^5 batches opens by reading a few pages; recording costs little. Times are
// printed, they decide nothing.
#include <time.h>

#include <chrono>
#include <filesystem>

#include "core/profile/layout_edges.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

RunLayout plain_layout(int32_t routers, int32_t branches) {
  RunLayout layout;
  layout.spaces = {"encoder"};
  for (int32_t r = 0; r < routers; ++r)
    layout.routers.push_back({"encoder." + std::to_string(r) + ".mlp", branches, 1, "switch-top1", 0, "encoder"});
  for (int32_t s = 0; s < routers * 20; ++s)
    layout.steps.push_back({"step." + std::to_string(s), "product", s / 20, -1, 1e6, 1e5});
  layout.edges = chain_edges(layout);
  return layout;
}

// The values at hand after a batch; recording is copying it into a record.
struct Source {
  explicit Source(const RunLayout& layout_, int32_t sequences_, int32_t per_sequence_)
      : layout(layout_), sequences(sequences_), per_sequence(per_sequence_) {
    testing::Drawn<std::mt19937> random(1);
    const auto cells = static_cast<size_t>(sequences * per_sequence);
    mask.resize(cells);
    tokens.resize(cells);
    for (size_t c = 0; c < cells; ++c) {
      mask[c] = static_cast<int32_t>(c) % per_sequence < per_sequence * 3 / 4;
      tokens[c] = static_cast<int32_t>(std::min({random() % 4000, random() % 4000, random() % 4000}));
    }
    choice.resize(layout.routers.size(), std::vector<int32_t>(cells));
    weight.assign(cells, 0.375f);
    for (auto& one : choice)
      for (auto& c : one) c = testing::choose(random, layout.routers[0].branches);
  }
  void put(int64_t number, double latency_ms, BatchRecord& out) const {
    out.number = number;
    out.latency_ms = latency_ms;
    out.add_space(0, {number * sequences, sequences, per_sequence}, mask, tokens);
    for (size_t r = 0; r < choice.size(); ++r) {
      DecisionRecord d;
      d.router = static_cast<int32_t>(r);
      // Another router's choices in each batch, so that batches differ.
      d.choice = choice[(r + static_cast<size_t>(number)) % choice.size()];
      d.weight = weight;
      out.add_decision(d);
    }
    for (uint32_t s = 0; s < layout.steps.size(); ++s) {
      const uint64_t begin = static_cast<uint64_t>(number) * 2'000'000 + s * 20'000;
      out.events.push_back({begin, begin + 18'000 + s, s, 0});
    }
    for (int32_t q = 0; q < sequences; ++q) out.add_sequence(q % 2 ? "de" : "fr");
  }
  RunLayout layout;
  int32_t sequences, per_sequence;
  std::vector<int32_t> mask, tokens;
  std::vector<std::vector<int32_t>> choice;
  std::vector<float> weight;
};

}  // namespace

class HugeSessionTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

 private slots:
  void a_hundred_thousand_batches_open_in_kilobytes() {
    const std::string path = folder_.filePath("huge.storm").toStdString();
    RunStart start = some_run("huge", plain_layout(3, 8));
    start.layout.steps.clear();
    const Source source(start.layout, 2, 32);
    const int64_t batches = 100'000;
    auto begin = Clock::now();
    {
      SessionWriter writer(path, some_model());
      auto run = writer.begin_run(start);
      BatchRecord batch;
      for (int64_t i = 0; i < batches; ++i) {
        batch.clear();
        source.put(i, 2, batch);
        run->batch(batch);
        if (i % 16 == 15) run->commit();
      }
      run->finish(RunStatus::finished);
    }
    qInfo("written: %.0f ms, %.1f us a batch, %.1f MB", ms_since(begin), ms_since(begin) * 1000 / batches,
          std::filesystem::file_size(path) * 1e-6);

    begin = Clock::now();
    const SessionReader reader(path);
    const RunSummary run = reader.find_run("");
    QCOMPARE(run.batches, batches);
    const auto levels = reader.levels(run.id);
    QCOMPARE(levels.back().windows, int64_t{98});
    int64_t cells = 0;
    for (int32_t r = 0; r < 3; ++r)
      for (const RouterLoads& window : reader.loads(run.id, r, levels.back().level, {0, 256})) cells += window.cells;
    QCOMPARE(cells, batches * 64 * 3);
    qInfo("opened, coarsest level of 3 routers: %.2f ms, %lld pages of 8 KiB", ms_since(begin),
          static_cast<long long>(reader.pages_read()));
    QVERIFY(reader.pages_read() < 64);

    // Looking closer costs as little: a screenful of the finest level, one decision, one cell, the transitions of half
    // the run.
    int64_t pages = reader.pages_read();
    begin = Clock::now();
    QCOMPARE(reader.loads(run.id, 1, 0, {70'000, 70256}).size(), size_t{256});
    QVERIFY(reader.decision(run.id, 2, 77'777).has_value());
    QCOMPARE(reader.cell_path(run.id, 0, {0, 123'456, 7, 0, Phase::forward}).size(), size_t{3});
    QVERIFY(reader.transitions(run.id, 0, 1, {1, 50001}).total() > 0);
    qInfo("closer: %.2f ms, %lld more pages", ms_since(begin), static_cast<long long>(reader.pages_read() - pages));
    QVERIFY(reader.pages_read() - pages < 300);
  }

  void recording_costs_data() {
    QTest::addColumn<int>("routers");
    QTest::addColumn<int>("sequences");
    QTest::addColumn<int>("per_sequence");
    QTest::addColumn<double>("latency");
    QTest::addColumn<int>("batches");
    QTest::newRow("12 routers x 1024 cells, batches of 1 s") << 12 << 8 << 128 << 1000.0 << 60;
    QTest::newRow("3 routers x 200 cells, batches of 2 ms") << 3 << 8 << 25 << 2.0 << 1000;
  }
  void recording_costs() {
    QFETCH(int, routers);
    QFETCH(int, sequences);
    QFETCH(int, per_sequence);
    QFETCH(double, latency);
    QFETCH(int, batches);
    const std::string path = folder_.filePath(QString("cost-%1.storm").arg(routers)).toStdString();
    const RunStart start = some_run("cost", plain_layout(routers, 8));
    const Source source(start.layout, sequences, per_sequence);
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(start);
    Recorder recorder({run.get()});
    for (int64_t i = 0; i < batches; ++i) {
      source.put(i, latency, recorder.begin_batch());
      recorder.submit();
      // The pace of the batches, shortened for the long ones: the writer should keep up.
      std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int64_t>(std::min(latency, 5.0) * 1000)));
    }
    recorder.finish();
    const RecorderCounts counts = recorder.counts();
    run->finish(RunStatus::finished);
    const double produce = counts.produce_ms / batches, write = counts.write_ms / batches;
    qInfo("a batch: %.1f us on the run's thread (%.3f %%), %.1f us CPU on the writer's (%.3f %%), %.1f KB",
          produce * 1000, 100 * produce / latency, write * 1000, 100 * write / latency,
          static_cast<double>(std::filesystem::file_size(path)) / batches / 1000);
    qInfo("the run's thread waited for the writer %lld times",
          static_cast<long long>(counts.waits));  // timing decides no test
    QCOMPARE(run->profile().batches(), int64_t{batches});
  }
};

STORMCELL_TEST(HugeSessionTest)

}  // namespace stormcell

#include "huge_session_test.moc"
