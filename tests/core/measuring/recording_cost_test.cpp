#include "core/measuring/recording_cost.h"

#include <QByteArray>
#include <filesystem>

#include "core/bench/workload.h"
#include "core/cpu/cpu_device.h"
#include "core/experiment/routing_figures.h"
#include "core/models/model.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

struct Opened {
  ExperimentState state;
  Opened() {
    ExperimentState& s = state;
    s.model = open_model(reference_path("switch/encoder-decoder-8-experts"));
    DataOptions options;
    options.vocabulary = s.model->vocabulary, options.inputs = s.model->inputs;
    options.batch = 3;
    s.data = Dataset::open("random:6x7", s.model->tokenizer, options);
    s.device = std::make_unique<cpu::CpuDevice>(2);
    s.graph = s.model->forward, s.dtype = s.model->dtype;
    s.options.most_new_tokens = 4;
    s.store = std::make_unique<WeightStore>(*s.device, s.model->weights);
    s.memory = std::make_shared<SharedMemory>(*s.device);
  }
  /// Every batch, recorded, then shown to `then`.
  template <class Then>
  void run(ReadyPlan& plan, Then&& then) {
    for (int64_t b = 0; b < state.data->batch_count(); ++b) {
      const Batch batch = state.data->batch(b);
      ExecuteOptions execute;
      execute.record = execute.events = true;
      state.run_batch(plan, batch, execute);
      then(batch);
    }
  }
};

}  // namespace

class RecordingCostTest : public QObject {
  Q_OBJECT
 private slots:
  void recording_is_measured_on_as_many_batches_as_fit() {
    QCOMPARE(evenly_spread(6, 100), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
    QCOMPARE(evenly_spread(100, 50).size(), size_t{50});
    QCOMPARE(evenly_spread(100, 0.1), (std::vector<int64_t>{50}));
  }

  /// Records of a forward pass and of decoding, whose turns are records of their own.
  void a_run_counts_the_same_with_a_session_and_without() {
    const Scratch scratch;
    Opened opened;
    for (const char* phase : {"forward", "decode"}) {
      opened.state.options.phase = phase;
      const auto work = workloads(opened.state);
      QCOMPARE(work.size(), size_t{1});
      const auto plan = work[0]->make_baseline({});
      SessionRun alone(opened.state, *plan, {}, {}),
          stored(opened.state, *plan, {scratch.path(std::string(phase) + ".storm")}, {});
      QVERIFY(!alone.open() && stored.open());
      opened.run(*plan, [&](const Batch& batch) { alone.add(batch, kProfiled), stored.add(batch, kProfiled); });
      QVERIFY(alone.decisions() > 0 && alone.decisions() == stored.decisions());
      QCOMPARE(alone.windows(), stored.windows());
      const LoadProfile a = load_profile(alone.profile()), b = load_profile(stored.profile());
      QVERIFY(!a.routers.empty() && a.routers.size() == b.routers.size());
      for (const auto& [name, load] : a.routers) {
        QCOMPARE(load.cells, b.routers.at(name).cells);
        QCOMPARE(load.load, b.routers.at(name).load);
      }
      QCOMPARE(alone.finish(""), int64_t{0});
      QCOMPARE(stored.finish(""), int64_t{1});
    }
  }

  void recording_is_measured_apart_and_leaves_nothing() {
    const Scratch scratch;
    Opened opened;
    const QByteArray before = qgetenv("TMPDIR");
    qputenv("TMPDIR", scratch.folder().c_str());
    {
      const auto plan = ForwardPass(opened.state).make_baseline({});
      RecordingMeasure recording(opened.state, *plan, {});
      QVERIFY(!recording.finish());  // nothing yet
      for (int again = 0; again < 3; ++again) opened.run(*plan, [&](const Batch& batch) { recording.add(batch); });
      QVERIFY(!std::filesystem::is_empty(scratch.folder()));
      QVERIFY(recording.finish() && recording.work() > 0);
    }
    QVERIFY(std::filesystem::is_empty(scratch.folder()));
    before.isNull() ? qunsetenv("TMPDIR") : qputenv("TMPDIR", before);
  }
};

STORMCELL_TEST(RecordingCostTest)

}  // namespace stormcell::testing

#include "recording_cost_test.moc"
