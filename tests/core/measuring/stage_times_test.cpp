// The stages that overran a limit, by a clock that the test sets.
#include "core/measuring/stage_times.h"

#include "tests/testing/testing.h"

namespace stormcell::testing {

class StageTimesTest : public QObject {
  Q_OBJECT
  double now_ = 0;
  TimePlan plan(double limit) {
    now_ = 0;
    return {limit, 0, [this] { return now_; }};
  }
  auto takes(double seconds) {
    return [this, seconds] { now_ += seconds; };
  }

 private slots:
  void the_stage_that_overran_the_limit_is_named_with_its_share() {
    StageTimes stages(plan(25), "opening the model");
    stages.run(Stage::profile, takes(1));
    stages.run(Stage::verify, takes(40));
    const std::string text = stages.overrun_text();
    QVERIFY2(text.starts_with("verifying took 40.0 s where ") &&
                 text.ends_with("(one batch of each size is always verified)"),
             text.c_str());
  }

  void a_stage_inside_another_counts_by_itself() {
    StageTimes stages(plan(10), "opening the model");
    stages.run(Stage::measure, [&] {
      now_ += 1;
      stages.run(Stage::passes, takes(20));
      now_ += 1;
    });
    const std::string text = stages.overrun_text();
    QVERIFY2(text.starts_with("making plans took 20.0 s") && text.find("measuring") == std::string::npos, text.c_str());
  }

  void work_before_the_first_stage_is_named() {
    const TimePlan limited = plan(5);
    now_ = 8;
    StageTimes stages(limited, "opening the model");
    stages.run(Stage::verify, takes(0.1));
    QCOMPARE(stages.overrun_text(), std::string("opening the model took 8.0 s"));
  }

  void a_limit_that_is_kept_and_no_limit_have_no_overrun() {
    for (const double limit : {0., 60.}) {
      StageTimes stages(plan(limit), "opening the model");
      stages.run(Stage::verify, takes(30));
      QVERIFY(stages.overrun_text().empty());
    }
  }
};

STORMCELL_TEST(StageTimesTest)

}  // namespace stormcell::testing

#include "stage_times_test.moc"
