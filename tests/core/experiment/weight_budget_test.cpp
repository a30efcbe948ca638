// --weight-budget by the façade: the answers without it, its figures, and files that give out while a batch runs.
#include <QTemporaryDir>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/experiment/experiment.h"
#include "core/experiment/state.h"
#include "core/readings/session_runs.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Calls f() when so many batches of a stage are done.
struct AtBatch : ProgressSink {
  std::string stage;
  int64_t batch = 0;
  std::function<void()> f;
  void report(std::string_view now, int64_t done, int64_t) override {
    if (now == stage && done == batch && f) std::exchange(f, nullptr)();
  }
};

}  // namespace

class WeightBudgetTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  std::string path(const char* name) { return folder_.filePath(name).toStdString(); }
  static ExperimentOptions options(const std::string& model = "switch/encoder-decoder-8-experts") {
    ExperimentOptions o;
    o.model = fs::path(model).is_absolute() ? model : testing::source_folder() + "/tests/reference/" + model;
    o.data = model.starts_with("mixtral") ? "random:6x9" : "random:6x9x5";  // the one has no decoder beside an encoder
    o.batch = 2;
    o.threads = 2;
    o.verify_seconds = 0.01;
    return o;
  }
  static RunOptions short_run(const std::string& outputs = {}) {
    RunOptions run;
    run.outputs = outputs;
    run.measure_seconds = 0;
    return run;
  }
  /// Expert bytes of the model, as the device holds them.
  static BudgetFigures with_all(ExperimentOptions o) {
    o.weight_budget = int64_t{1} << 40;
    return *Experiment::open(o)->run(short_run())->weight_budget;
  }

 private slots:
  void outputs_are_those_without_a_budget_data() {
    QTest::addColumn<QString>("model");
    for (const char* model : {"switch/encoder-decoder-8-experts", "mixtral/top-2-of-8-grouped-heads"})
      QTest::newRow(model) << QString(model);
  }
  void outputs_are_those_without_a_budget() {
    QFETCH(QString, model);
    ExperimentOptions o = options(model.toStdString());
    const auto plain = Experiment::open(o)->run(short_run(path("plain.safetensors")));
    QVERIFY(!plain->weight_budget);
    const BudgetFigures all = with_all(o);
    QVERIFY(all.expert_bytes > 0 && all.slot_bytes >= all.expert_bytes && all.evictions == 0 && all.dense_bytes > 0);
    QVERIFY(all.bytes_read <= all.expert_bytes);
    for (const int64_t budget : {all.expert_bytes / 2, all.expert_bytes / 4}) {
      o.weight_budget = budget;
      const auto came = Experiment::open(o)->run(short_run(path("budget.safetensors")));
      QVERIFY(bytes_of(path("plain.safetensors")) == bytes_of(path("budget.safetensors")));
      const BudgetFigures& b = *came->weight_budget;
      QVERIFY(came->is_verified());
      QCOMPARE(b.budget_bytes, budget);
      QVERIFY(b.slot_bytes <= budget && b.evictions > 0 && b.reads > b.evictions && b.bytes_read > all.bytes_read);
      QCOMPARE(b.expert_bytes, all.expert_bytes);
      QVERIFY(b.executions >= 3 && b.stall_seconds > 0 && b.held_bytes > 0);
      QCOMPARE(came->baseline->peak_weight_bytes, b.dense_bytes + b.slot_bytes);
    }
  }

  void decoding_and_optimised_plans_answer_as_without() {
    ExperimentOptions o = options();
    o.most_new_tokens = 5;
    const int64_t budget = with_all(o).expert_bytes / 4;
    const auto plain = Experiment::open(o)->generate({});
    o.weight_budget = budget;
    const auto came = Experiment::open(o)->generate({});
    QVERIFY(came->ids == plain->ids && came->verified->passed);
    QVERIFY(!plain->weight_budget && came->weight_budget->evictions > 0);
    OptimizeOptions optimize;
    optimize.measure_seconds = 0;
    const auto optimised = Experiment::open(o)->optimize(optimize);
    QVERIFY2(optimised->is_verified(), optimised->verified->text.c_str());
    QVERIFY(optimised->weight_budget->evictions > 0);
    const auto json = nlohmann::json::parse(to_json(*optimised));
    QCOMPARE(json["weight_budget"]["budget_bytes"].get<int64_t>(), budget);
    QCOMPARE(json["weight_budget"]["held_counted"].get<std::string>(), optimised->weight_budget->held_counted);
    QVERIFY(nlohmann::json::parse(to_json(*plain))["weight_budget"].is_null());
  }

  void a_budget_below_one_branch_says_what_is_needed() {
    ExperimentOptions o = options();
    o.weight_budget = 64;
    std::string told;
    try {
      Experiment::open(o)->run(short_run());
    } catch (const Error& e) {
      QVERIFY(e.kind() == ErrorKind::bad_input);
      told = e.what();
    }
    QVERIFY2(told.starts_with("--weight-budget: 64 B are less than branch "), told.c_str());
    // And what it says is enough.
    const size_t at = told.find("at least ") + 9;
    o.weight_budget = std::stoll(told.substr(at));
    QVERIFY(Experiment::open(o)->run(short_run())->is_verified());
  }

  void a_shard_that_gives_out_fails_its_batch_and_keeps_those_before() {
    for (const char* how : {"shrinks", "vanishes"}) {
      const std::string model = path((std::string("model that ") + how).c_str());
      fs::copy(options().model, model, fs::copy_options::recursive);
      const std::string weights = model + "/model.safetensors", session = path((std::string(how) + ".storm").c_str());
      ExperimentOptions o = options(model);
      o.weight_budget = with_all(o).expert_bytes / 4;
      const auto experiment = Experiment::open(o);
      AtBatch sink;
      sink.stage = "running", sink.batch = 1;
      const bool shrinks = how[0] == 's';
      sink.f = [&] {
        if (shrinks) {
          fs::resize_file(weights, 4096);
        } else {
          fs::remove(weights);
        }
      };
      RunOptions run = short_run();
      run.session = session;
      run.decisions = true;
      Progress progress;
      progress.sink = &sink;
      std::string told;
      try {
        experiment->run(run, progress);
      } catch (const Error& e) {
        QVERIFY(e.kind() == ErrorKind::failed);
        told = e.what();
      }
      QVERIFY(!sink.f);
      // What is open stays readable when its name goes.
      QCOMPARE(!told.empty(), shrinks);
      if (!shrinks) continue;
      QVERIFY2(told.starts_with(weights + ": has become shorter while it was used"), told.c_str());
      QVERIFY(told.find('\n') == std::string::npos);
      const SessionRuns kept = list_session_runs(session);
      QCOMPARE(kept.runs.size(), size_t{1});
      QCOMPARE(kept.runs[0].batches, int64_t{1});
    }
  }
};
STORMCELL_TEST(WeightBudgetTest)

}  // namespace stormcell
#include "weight_budget_test.moc"
