// Decisions from a session, replayed; a damaged session is refused by naming file and router.
#include "tests/core/experiment/recorded_choices.h"

#include <sqlite3.h>

#include <QTemporaryDir>

#include "core/base/error.h"
#include "core/bench/batch_inputs.h"
#include "core/cpu/cpu_device.h"
#include "core/experiment/experiment.h"
#include "core/runtime/lower.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

constexpr const char* kRouter = "encoder.block.1.layer.1.mlp";

void execute(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_close(db);
}

}  // namespace

class ReplayTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  ExperimentOptions options_;

  std::string recorded(const char* name) {
    const std::string path = folder_.filePath(name).toStdString();
    options_.model = testing::reference_path("switch/encoder-decoder-8-experts");
    options_.data = "random:3x6";
    options_.batch = 2;
    options_.threads = 2;
    options_.verify_seconds = 0;
    options_.probe_seconds = 0;
    RunOptions run;
    run.session = path;
    run.decisions = true;
    run.measure_seconds = 0;
    Experiment::open(options_)->run(run);
    return path;
  }

  // Replays the session's first batch on the CPU; the complaint, or nothing.
  std::string replay(const std::string& path) {
    const auto model = open_model(options_.model);
    DataOptions data;
    data.batch = options_.batch;
    data.vocabulary = model->vocabulary;
    data.inputs = model->inputs;
    const auto set = Dataset::open(options_.data, nullptr, data);
    cpu::CpuDevice device(2);
    WeightStore store(device, model->weights);
    const auto program = std::make_shared<Program>(lower(model->forward));
    Executor executor(device, store, program, bounds_of(*model->forward, *set, 0));
    try {
      const SessionReader session(path);
      const auto replayed = recorded_choices(session, 1, 0, *program);
      ExecuteOptions execute;
      execute.record = true;
      execute.replayed = &replayed;
      execute.replayed_from = session.path();
      ExecutionResult result;
      const Batch batch = set->batch(0);
      executor.run(inputs_of(batch), bindings_of(*model->forward, batch, 0), execute, result);
      for (const ExecutedDecision& d : result.decisions)
        if (d.choice != replayed[static_cast<size_t>(d.router)].at(0).choice) return "other choices";
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  }

 private slots:
  void what_was_recorded_is_replayed() { QCOMPARE(replay(recorded("whole.storm")), std::string()); }

  void a_branch_out_of_range_is_refused() {
    const std::string path = recorded("range.storm");
    // The first byte of the first choice: behind four bytes, three counts and nine offsets of one byte, aligned.
    execute(path,
            "UPDATE decision SET data = CAST(substr(data, 1, 28) || x'63' || substr(data, 30) AS BLOB) WHERE id % 4096 "
            "= 0");
    const std::string said = replay(path);
    QVERIFY2(said.starts_with(path) && said.find(kRouter) != std::string::npos, said.c_str());
    QVERIFY2(said.find("damaged") != std::string::npos, said.c_str());
  }

  void choices_of_another_number_of_cells_are_refused() {
    const std::string path = recorded("count.storm");
    // The decision of the smaller second batch, in the place of the first's.
    execute(path,
            "UPDATE decision SET data = (SELECT data FROM decision WHERE id % 4096 = 0 ORDER BY id DESC LIMIT 1) WHERE "
            "id % 4096 = 0");
    const std::string said = replay(path);
    QCOMPARE(said, path + ": choices of router " + kRouter + ": expected 12, got 6 (record them again with profile)");
  }
};

STORMCELL_TEST(ReplayTest)

}  // namespace stormcell

#include "replay_test.moc"
