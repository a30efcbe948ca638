// Gaps in the numbers of steps, and ranks that are missing.
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

  void missing_ranks_are_named_data() {
    QTest::addColumn<QList<qint64>>("there");
    QTest::addColumn<qint64>("first");
    QTest::addColumn<QString>("text");
    const auto row = [](const char* name, const QList<qint64>& there, qint64 first, const char* text) {
      QTest::newRow(name) << there << first << QString(text);
    };
    row("none", {}, 0, "");
    row("all", {0, 1, 2}, 0, "");
    row("one", {0, 2}, 0, "rank 1 is missing");
    row("the first", {2}, 0, "ranks 0 and 1 are missing");
    row("none before the first", {2}, 2, "");
    row("counted from 1", {3}, 1, "ranks 1 and 2 are missing");
    row("as many as are listed", {0, 1001}, 0, "ranks 1, 2, 3, 4, 5, 6, 7 and 993 more are missing");
    row("more than are listed", {0, 1, 1010}, 0, "1,008 ranks from rank 2 on are missing");
  }
  void missing_ranks_are_named() {
    QFETCH(QList<qint64>, there);
    QFETCH(qint64, first);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(missing_text("rank", {there.begin(), there.end()}, first)), text);
  }
};

STORMCELL_TEST(MissingNumbersTest)

}  // namespace stormcell::testing

#include "missing_numbers_test.moc"
