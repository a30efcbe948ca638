// Gaps in the numbers of steps.
#include "core/base/missing_numbers.h"

#include "tests/testing/testing.h"

namespace stormcell::testing {

class MissingNumbersTest : public QObject {
  Q_OBJECT

 private slots:
  void gaps_of_steps_are_named_data() {
    QTest::addColumn<QList<qint64>>("steps");
    QTest::addColumn<QString>("text");
    const auto row = [](const char* name, const QList<qint64>& steps, const char* text) {
      QTest::newRow(name) << steps << QString(text);
    };
    row("none", {}, "");
    row("one", {7}, "");
    row("two neighbours", {7, 8}, "");
    row("two apart", {0, 5}, "no step between 0 and 5");
    row("every fifth", {0, 5, 10}, "");
    row("every fifth with a gap", {0, 5, 15, 20}, "no step between 5 and 15");
    row("two gaps", {1, 2, 4, 5, 9}, "no step between 2 and 4 and 1 more gap");
  }
  void gaps_of_steps_are_named() {
    QFETCH(QList<qint64>, steps);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(gaps_text("step", {steps.begin(), steps.end()})), text);
  }
};

STORMCELL_TEST(MissingNumbersTest)

}  // namespace stormcell::testing

#include "missing_numbers_test.moc"
