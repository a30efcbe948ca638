// --weight-budget by the façade: the answers without it, its figures, and files that give out while a batch runs.
#include <fmt/format.h>

#include <QTemporaryDir>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/bench/budget_meter.h"
#include "core/bench/devices.h"
#include "core/bench/state.h"
#include "core/experiment/experiment.h"
#include "core/machine/memory.h"
#include "core/readings/session_runs.h"
#include "tests/testing/counts.h"
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
    o.model = fs::path(model).is_absolute() ? model : testing::reference_path(model);
    o.data = model.starts_with("mixtral") ? "random:6x9" : "random:6x9x5";  // the one has no decoder beside an encoder
    o.batch = 2;
    o.threads = 1;  // beside the readers
    o.verify_seconds = 0.01;
    o.probe_seconds = 0;
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
    o.threads = 2;
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
      QVERIFY(b.executions >= 3 && b.held_bytes > 0);
      QCOMPARE(came->baseline->peak_weight_bytes, b.dense_bytes + b.slot_bytes);
      QCOMPARE(b.readers, int64_t{2});
      QVERIFY(b.peak_bytes > 0 && b.bytes_filled >= b.bytes_read);
      QVERIFY(b.arena_bytes >= came->baseline->peak_activation_bytes);
    }
  }

  void what_is_timed_reads_as_the_data_do() {
    // Three batches that a warmed-up one would hide: what each has to read comes again each time.
    ExperimentOptions o = options();
    o.weight_budget = with_all(o).expert_bytes / 4;
    for (const bool profile : {false, true}) {
      RunOptions run = short_run();
      run.decisions = profile;
      if (profile) run.session = path("timed.storm");
      const auto came = Experiment::open(o)->run(run);
      const BudgetFigures& b = *came->weight_budget;
      QVERIFY2(b.measured_executions >= 7 && b.measured_bytes_read > 0 && b.measured_stall_seconds >= 0,
               fmt::format("{} executions, {} bytes, {} s", b.measured_executions, b.measured_bytes_read,
                           b.measured_stall_seconds)
                   .c_str());
      const double timed = static_cast<double>(b.measured_reads) / static_cast<double>(b.measured_executions),
                   others = static_cast<double>(b.reads - b.measured_reads) /
                            static_cast<double>(b.executions - b.measured_executions);
      QVERIFY2(timed > 0.6 * others, (std::to_string(timed) + " " + std::to_string(others)).c_str());
      // For the only plan the same, of one execution. What recorded beside it was timed, too, and is not what its
      // latency is of.
      const WeightsRead& each = *came->baseline->weights_read;
      QCOMPARE(each.executions, came->baseline->latency_ms.runs);
      if (profile) {
        QVERIFY(each.executions < b.measured_executions && each.reads > 0);
      } else {
        QCOMPARE(each.executions, b.measured_executions);
        QCOMPARE(each.reads, timed);
        QCOMPARE(std::llround(each.bytes_read * static_cast<double>(each.executions)), b.measured_bytes_read);
        const double stalled = each.stall_ms * 1e-3 * static_cast<double>(each.executions);
        QVERIFY2(std::fabs(stalled - b.measured_stall_seconds) <= 1e-6 * (1 + stalled),
                 fmt::format("{} and {} s", stalled, b.measured_stall_seconds).c_str());
      }
      // Who reads ahead in time need not be waited for.
      QVERIFY(each.stall_ms >= 0 && each.stall_share >= 0 && each.stall_share <= 1);
    }
    OptimizeOptions optimize;
    optimize.measure_seconds = 0;
    const auto optimised = Experiment::open(o)->optimize(optimize);
    QVERIFY(optimised->weight_budget->measured_executions >= 7 && optimised->weight_budget->measured_reads > 0);
    // Each plan has its own, of the executions that its latency is of, and no sum over plans.
    for (const auto& plan : {optimised->baseline, optimised->optimized}) {
      if (!plan) continue;
      QVERIFY(plan->weights_read && plan->weights_read->executions <= optimised->weight_budget->measured_executions);
      QCOMPARE(plan->weights_read->executions, plan->latency_ms.runs);
      QVERIFY(plan->weights_read->reads > 0 && plan->weights_read->bytes_read > 0);
    }
  }

  void progress_tells_what_was_read() {
    struct Remarks : ProgressSink {
      std::vector<std::string> all;
      void report(std::string_view, int64_t, int64_t) override {}
      void remark(std::string_view text) override { all.emplace_back(text); }
    };
    ExperimentOptions o = options();
    const auto said = [&o](bool decode) {
      Remarks sink;
      Progress progress;
      progress.sink = &sink;
      const auto experiment = Experiment::open(o);
      if (decode) {
        experiment->generate({}, progress);
      } else {
        experiment->run(short_run(), progress);
      }
      const size_t count = sink.all.size();
      // Nobody listens any more.
      experiment->run(short_run());
      return sink.all.size() == count ? sink.all : std::vector<std::string>{"told behind the end"};
    };
    QVERIFY(said(false).empty());
    o.weight_budget = with_all(o).expert_bytes / 4, o.most_new_tokens = 3;
    for (const bool decode : {false, true}) {
      const std::vector<std::string> all = said(decode);
      QVERIFY(all.size() > 3);
      for (const std::string& text : all)
        QVERIFY2(text.find(" reads, ") != std::string::npos && text.find(", waited ") != std::string::npos,
                 text.c_str());
      QVERIFY2(all.front() != all.back(), all.back().c_str());
    }
  }

  void waiting_for_weights_is_a_row_of_the_time_by_operator() {
    ExperimentOptions o = options();
    o.threads = 2;
    const auto waits = [&] {
      const auto ran = Experiment::open(o)->run(short_run());
      for (const OperatorTime& row : ran->baseline_operators)
        if (row.op == "waiting for weights") return row.milliseconds > 0 && row.steps > 0;
      return false;
    };
    QVERIFY(!waits());
    o.weight_budget = 33000;  // hardly more than one branch: what comes next is never there yet
    // A reader may always be ahead of the kernels by chance, but not run after run.
    bool waited = false;
    for (int run = 0; run < 20 && !waited; ++run) waited = waits();
    QVERIFY(waited);
  }

  void what_readers_hold_is_in_the_peak() {
    // A source that holds 64 MiB for each part while it is read.
    class Large final : public WeightSource {
     public:
      const WeightInfo* find(std::string_view) const override { return &info_; }
      std::shared_ptr<const std::byte> bytes(std::string_view) const override {
        const auto memory = std::make_shared<std::vector<std::byte>>(size_t{64} << 20, std::byte{1});
        return {memory, memory->data()};
      }

     private:
      WeightInfo info_{"w", DType::f32, {16}};
    };
    const auto device = open_device("cpu", {1});
    WeightStore store(*device, std::make_shared<Large>(), 64);
    const WeightHandle part = store.request({"w", "plain", DType::f32}, {"router", 0});
    store.arrange();
    reset_peak_resident_memory();
    const int64_t before = peak_resident_memory();
    BudgetMeter meter(store);
    store.hold(part, [](WeightHandle) { return 0; }, {});
    store.end_use({part});
    meter.add_execution();
    meter.end_readings(peak_resident_memory());
    const BudgetFigures f = *meter.figures(0);
    QVERIFY2(f.peak_bytes > before + (int64_t{32} << 20),
             (std::to_string(f.peak_bytes) + " " + std::to_string(before)).c_str());
    // Memory that verification holds later is part of neither.
    {
      const std::vector<std::byte> reference(size_t{256} << 20, std::byte{1});
      meter.add_execution();
    }
    const BudgetFigures later = *meter.figures(0);
    QCOMPARE(later.executions, int64_t{2});
    QCOMPARE(later.held_bytes, f.held_bytes);
    QCOMPARE(later.peak_bytes, f.peak_bytes);
    // And of two readings of the same memory none says less at any time than the other says at one.
    meter.end_readings(1);
    QVERIFY(meter.figures(0)->peak_bytes == f.held_bytes || f.held_counted != "process");
  }

  void what_the_figures_do_not_mean_is_told() {
    // One batch: what it left is found again. No experts: nothing to hold.
    const auto has = [](const std::vector<std::string>& list, const std::string& words) {
      return std::any_of(list.begin(), list.end(),
                         [&](const std::string& w) { return w.find(words) != std::string::npos; });
    };
    ExperimentOptions o = options();
    o.weight_budget = with_all(o).expert_bytes / 4;
    QVERIFY(!has(Experiment::open(o)->run(short_run())->warnings, "one batch"));
    o.batch = 6;
    QVERIFY(has(Experiment::open(o)->run(short_run())->warnings, "one batch was timed"));
    ExperimentOptions dense = options("switch/encoder-only-dense");
    dense.data = "random:4x6", dense.weight_budget = 1000;
    QVERIFY(has(Experiment::open(dense)->run(short_run())->warnings, "--weight-budget has no effect"));
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

  void a_budget_below_one_part_says_what_is_needed() {
    ExperimentOptions o = options();
    o.weight_budget = 64;
    std::string told;
    try {
      Experiment::open(o)->run(short_run());
    } catch (const Error& e) {
      QVERIFY(e.kind() == ErrorKind::bad_input);
      told = e.what();
    }
    QVERIFY2(told.starts_with("--weight-budget: 64 bytes are less than the largest weight of a branch ("),
             told.c_str());
    // And what it says is enough.
    const size_t at = told.find("at least ") + 9;
    o.weight_budget = std::stoll(told.substr(at));
    QVERIFY(Experiment::open(o)->run(short_run())->is_verified());
  }

  // The oracle reads the weights again: what it cannot read is an error as it is under a budget, and never the end of
  // the program.
  void a_shard_that_shrinks_without_a_budget_fails_the_verification() {
    const std::string model = path("model that shrinks unbudgeted"), weights = model + "/model.safetensors";
    fs::copy(options().model, model, fs::copy_options::recursive);
    const auto experiment = Experiment::open(options(model));
    AtBatch sink;
    sink.stage = "verifying against the oracle", sink.batch = 0;
    sink.f = [&] { fs::resize_file(weights, 0); };
    Progress progress;
    progress.sink = &sink;
    std::string told;
    try {
      experiment->run(short_run(), progress);
    } catch (const Error& e) {
      QVERIFY(e.kind() == ErrorKind::failed);
      told = e.what();
    }
    QVERIFY(!sink.f);
    QVERIFY2(told.starts_with(weights + ": has become shorter while it was used"), told.c_str());
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
      // An open file stays readable when its name goes.
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
