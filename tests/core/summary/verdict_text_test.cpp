// What did not pass is called wrong only where something was found wrong.
#include "core/summary/verdict_text.h"

#include "tests/testing/testing.h"

namespace stormcell::testing {

class VerdictTextTest : public QObject {
  Q_OBJECT
 private slots:
  void too_little_is_not_called_a_failure() {
    const std::string wrong = "output y differs by 0.3 of its largest value", little = "inconclusive: 3 of 24 tokens could be compared",
                      beside = "beside the baseline: " + little;
    QVERIFY(is_inconclusive(little) && is_inconclusive(beside) && !is_inconclusive(wrong));
    using Reasons = std::vector<std::string>;
    QVERIFY(is_inconclusive(Reasons{little, beside}) && !is_inconclusive(Reasons{little, wrong}) && !is_inconclusive(Reasons{}));
    QCOMPARE(reason_text(wrong), "failed: " + wrong);
    QCOMPARE(reason_text(beside), beside);
  }
};

STORMCELL_TEST(VerdictTextTest)

}  // namespace stormcell::testing
#include "verdict_text_test.moc"
