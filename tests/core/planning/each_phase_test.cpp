// Placements of both phases: stored together, or not at all.
#include <QTemporaryDir>

#include "core/planning/place.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::each_phase_test {
namespace {

constexpr int32_t kBranches = 8, kCells = 16;

/// Four batches of prompts, then four of decoding, through two layers.
std::string phases_session(const std::string& path) {
  RunLayout layout;
  layout.spaces = {"token"};
  for (int32_t l = 0; l < 2; ++l)
    layout.routers.push_back({"layer." + std::to_string(l) + ".mlp", kBranches, 2, "top-k", 0, "model", 0, l});
  layout.edges = {{0, 1, {}}};
  SessionWriter writer(path, some_model());
  auto run = writer.begin_run(some_run("phases", layout));
  Recorder recorder({run.get()});
  for (int64_t number = 0; number < 8; ++number) {
    BatchRecord& batch = recorder.begin_batch();
    batch.number = number;
    batch.add_space(
        0, {0, 1, kCells, static_cast<int32_t>(number) * kCells, number < 4 ? Phase::prefill : Phase::decode, 0});
    for (int32_t r = 0; r < 2; ++r) {
      std::vector<int32_t> choice;
      for (int32_t c = 0; c < kCells; ++c)
        for (int32_t k = 0; k < 2; ++k)
          choice.push_back((c * (r + 1) + static_cast<int32_t>(number) + 3 * k) % kBranches);
      batch.add_decision({.router = r, .choice = choice});
    }
    batch.add_sequence("");
    recorder.submit();
  }
  recorder.finish();
  run->finish(RunStatus::finished, "{}");
  run.reset();
  writer.close();
  return path;
}

/// Stops when choices are read for the second time: the first phase is placed by then.
class StopsBetween : public ProgressSink {
 public:
  explicit StopsBetween(CancellationToken cancel) : cancel_(std::move(cancel)) {}
  void report(std::string_view stage, int64_t done, int64_t) override {
    times_ += stage == "reading choices" && done == 0;
    if (times_ == 2) cancel_.cancel();
  }
  int times() const { return times_; }

 private:
  CancellationToken cancel_;
  int times_ = 0;
};

}  // namespace

class EachPhaseTest : public QObject {
  Q_OBJECT
 private slots:
  void a_call_that_is_stopped_between_them_stores_neither() {
    const QTemporaryDir folder;
    PlaceOptions options;
    options.session = phases_session(folder.filePath("phases.storm").toStdString()), options.cluster = "preset:8x-h100";
    Progress progress;
    StopsBetween sink(progress.cancel);
    progress.sink = &sink;
    ErrorKind kind = ErrorKind::bad_input;
    QVERIFY(!complaint([&] { place_each_phase(options, progress); }, &kind).empty());
    QVERIFY(kind == ErrorKind::interrupted && sink.times() == 2);
    QCOMPARE(SessionReader(options.session).placements().size(), size_t{0});
    const PhasePlacements both = place_each_phase(options);
    QCOMPARE(both.phases.size(), size_t{2});
    const std::vector<StoredPlacement> stored = SessionReader(options.session).placements();
    QCOMPARE(stored.size(), size_t{2});
    for (size_t p = 0; p < 2; ++p) QVERIFY(stored[p].id == both.phases[p].placement && both.phases[p].placement > 0);
    QVERIFY(stored[0].name == "eplb-prefill" && stored[1].name == "eplb-decode");
    const PhasePlacements again = place_each_phase(options);
    for (size_t p = 0; p < 2; ++p) QVERIFY(again.phases[p].already_stored && again.phases[p].placement == stored[p].id);
    QCOMPARE(SessionReader(options.session).placements().size(), size_t{2});
  }
};

STORMCELL_TEST(EachPhaseTest)

}  // namespace stormcell::testing::each_phase_test

#include "each_phase_test.moc"
