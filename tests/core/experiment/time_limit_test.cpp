// Parts that optimize leaves out for lack of time: a command that began long ago is expected to take long, and one
// whose limit has passed has no time.
#include "core/base/clock.h"
#include "core/experiment/experiment.h"
#include "core/measuring/mirrored.h"
#include "core/measuring/time_plan.h"
#include "core/summary/stated_speedups.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

ExperimentOptions options_of(const std::string& data) {
  ExperimentOptions options;
  options.model = reference_path("switch/encoder-decoder-8-experts"), options.data = data, options.batch = 2,
  options.threads = 1;
  options.verify_seconds = 0.1, options.probe_seconds = 0.001, options.keep_all = true;
  return options;
}

struct Listener : ProgressSink {
  void report(std::string_view, int64_t, int64_t) override {}
  void expect(double low, double likely, double high) override { expected.push_back({low, high, likely}); }
  void expect_overrun(double limit, double least) override { overruns.push_back({limit, least}); }
  std::vector<ExpectedSeconds> expected, overruns;
};

bool says(const std::vector<std::string>& list, const char* words) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

}  // namespace

class TimeLimitOfOptimizeTest : public QObject {
  Q_OBJECT
 private slots:
  void what_is_expected_to_take_long_is_tried_on_fewer_batches() {
    OptimizeOptions optimize;
    optimize.measure_seconds = 0.001;
    const auto experiment = Experiment::open(options_of("random:48x5"));
    Listener listener;
    const auto usual = experiment->optimize(optimize, {{}, &listener});
    QVERIFY(usual->left_out_for_time.empty() && listener.expected.size() == 1 &&
            usual->passes_tried_on >= kLeastRounds);
    QVERIFY(listener.expected[0].likely == *usual->likely_seconds);
    QVERIFY(listener.expected[0].low == (*usual->expected_seconds)[0] && listener.expected[0].high < kLongSeconds);
    optimize.begun = seconds_now() - 1000;  // as if opening had taken so long
    const auto tried = experiment->optimize(optimize, {{}, &listener});
    QVERIFY(listener.expected.size() == 2 && listener.expected[1].low > 1000 && tried->elapsed_seconds > 1000);
    QVERIFY2(says(tried->left_out_for_time, "passes were tried on 4 batches, each upon those before it"),
             tried->left_out_for_time.empty() ? "nothing" : tried->left_out_for_time[0].c_str());
    QVERIFY(says(tried->warnings, "were expected: passes were tried on") && tried->passes_tried_on == kBriefRounds);
    // The stated figures come from the usual number of rounds, and no pass has a gain of its own.
    QVERIFY(tried->verified->passed && tried->optimized->rounds >= kLeastRounds);
    QVERIFY(tried->split->measured == usual->split->measured);
    for (const PassReport& pass : tried->passes) QVERIFY2(!pass.speedup_alone, pass.name.c_str());
    const auto last =
        std::find_if(tried->passes.rbegin(), tried->passes.rend(), [](const PassReport& p) { return p.applied; });
    QVERIFY(last != tried->passes.rend());
    // If the machine's ceilings moved, neither is stated.
    QVERIFY(tried->speedup || tried->withheld);
    QVERIFY(last->speedup_cumulative == tried->speedup);
  }

  void a_limit_that_is_over_leaves_one_batch_of_each_part() {
    OptimizeOptions optimize;
    optimize.measure_seconds = 0.001, optimize.time_limit = 5, optimize.begun = seconds_now() - 6;
    const auto experiment = Experiment::open(options_of("random:48x5"));
    Listener listener;
    const auto cut = experiment->optimize(optimize, {{}, &listener});
    QVERIFY(listener.expected.empty() && cut->time_limit_seconds == 5);
    QVERIFY(cut->split->profiled == 1 && cut->split->measured == 1 && cut->verified->passed &&
            cut->verified->batches == 1);
    QVERIFY(!cut->speedup && !cut->passes_tried_on && !cut->config.empty());
    QVERIFY(says(cut->left_out_for_time, "2 of 24 batches ran") &&
            says(cut->left_out_for_time, "passes were measured only all together"));
    QVERIFY(says(cut->left_out_for_time, "plans were measured for less time than --measure-seconds asks"));
    QVERIFY(measuring_end(*cut) == MeasuringEnd::time_limit);
    // No fresh process ran, for a reason.
    QVERIFY(cut->measurements.empty() && !cut->measured_once.empty());
    // It is said before the work and after it.
    QVERIFY(listener.overruns.size() == 1 && listener.overruns[0].low == 5 && listener.overruns[0].high > 6);
    QVERIFY2(cut->limit_overrun.find("opening the model and timing its first batches took ") != std::string::npos,
             cut->limit_overrun.c_str());
    QVERIFY(says(cut->warnings, "the time limit of 5 s was overrun ("));
    optimize.begun = 0;
    const auto again = experiment->optimize(optimize);  // the same model, and time enough
    QVERIFY(again->verified->passed && again->time_limit_seconds == 5);
  }
};

STORMCELL_TEST(TimeLimitOfOptimizeTest)

}  // namespace stormcell::testing

#include "time_limit_test.moc"
