// A run that did not pass is called wrong only where something was found wrong, and a speed-up is one only where its
// interval says so.
#include "core/summary/verdict_text.h"

#include <array>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class VerdictTextTest : public QObject {
  Q_OBJECT
 private slots:
  void too_little_is_not_called_a_failure() {
    const std::string wrong = "output y differs by 0.3 of its largest value",
                      little = "inconclusive: 3 of 24 tokens could be compared",
                      beside = "beside the baseline: " + little;
    QVERIFY(is_inconclusive(little) && is_inconclusive(beside) && !is_inconclusive(wrong));
    using Reasons = std::vector<std::string>;
    QVERIFY(is_inconclusive(Reasons{little, beside}) && !is_inconclusive(Reasons{little, wrong}) &&
            !is_inconclusive(Reasons{}));
    QCOMPARE(reason_text(wrong), "failed: " + wrong);
    QCOMPARE(reason_text(beside), beside);
  }

  void a_speed_up_is_what_its_interval_says() {
    RunSummaryFigures f;
    f.verb = "optimize";
    f.baseline.emplace(), f.optimized.emplace();
    f.passes = {{.name = "unpad", .applied = true}};
    f.speedup = 1.2, f.speedup_ci95 = {{1.1, 1.3}};
    QVERIFY(speed_verdict(f) == SpeedVerdict::not_verified);
    f.verified.emplace().passed = true;
    QVERIFY(speed_verdict(f) == SpeedVerdict::faster);
    f.speedup_ci95 = {{0.7, 0.9}};
    QVERIFY(speed_verdict(f) == SpeedVerdict::slower);
    for (const auto& even : {std::array{0.9, 1.3}, std::array{1.0, 1.3}, std::array{0.8, 1.0}}) {
      f.speedup_ci95 = even;
      QVERIFY(speed_verdict(f) == SpeedVerdict::not_measurable);
    }
    f.speedup_ci95.reset();
    QVERIFY(speed_verdict(f) == SpeedVerdict::not_measurable);
    f.speedup.reset();
    QVERIFY(speed_verdict(f) == SpeedVerdict::none_stated);
    f.verified->passed = false;
    QVERIFY(speed_verdict(f) == SpeedVerdict::not_verified);
  }

  void without_another_plan_it_says_what_became_of_the_passes() {
    RunSummaryFigures f;
    f.verb = "optimize";
    f.passes = {{.name = "unpad"}};
    QVERIFY(speed_verdict(f) == SpeedVerdict::nothing_applied);
    f.passes[0].left_out = true;
    QVERIFY(speed_verdict(f) == SpeedVerdict::all_left_out);
    // An older summary may lack the plan's figures; what applied was compared.
    f.passes.push_back({.name = "dead-path", .applied = true});
    QVERIFY(speed_verdict(f) == SpeedVerdict::not_verified);
  }
};

STORMCELL_TEST(VerdictTextTest)

}  // namespace stormcell::testing
#include "verdict_text_test.moc"
