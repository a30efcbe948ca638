// Times of a command in words.
#include "core/summary/time_text.h"

#include "tests/testing/testing.h"

namespace stormcell {

class TimeTextTest : public QObject {
  Q_OBJECT
 private slots:
  void durations_and_ranges_data() {
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::addColumn<QString>("words");
    QTest::newRow("nothing") << 0. << 0.2 << "about 1 s";
    QTest::newRow("seconds") << 12.4 << 39.6 << "12 s to 40 s";
    QTest::newRow("the same") << 12.1 << 12.4 << "about 12 s";
    QTest::newRow("a minute") << 59.6 << 60.4 << "about 1 min 00 s";
    QTest::newRow("minutes") << 30. << 451. << "30 s to 7 min 31 s";
    QTest::newRow("hours") << 3600. << 9000. << "1.0 h to 2.5 h";
  }
  void durations_and_ranges() {
    QFETCH(double, low);
    QFETCH(double, high);
    QFETCH(QString, words);
    QCOMPARE(QString::fromStdString(expected_words(low, high)), words);
  }

  void a_wide_range_has_a_time_to_plan_by() {
    QCOMPARE(expected_words(46, 120, 394), std::string("about 2 min 00 s (46 s to 6 min 34 s)"));
    QCOMPARE(expected_words(12.1, 12.2, 12.4), std::string("about 12 s"));
  }

  void what_it_took_stands_beside_what_was_expected_or_the_limit() {
    RunSummaryFigures f;
    QVERIFY(time_taken_words(f).empty());
    f.elapsed_seconds = 12;
    QCOMPARE(time_taken_words(f), std::string("12 s"));
    f.expected_seconds = {{10, 40}};
    QCOMPARE(time_taken_words(f), std::string("12 s; 10 s to 40 s were expected"));
    f.time_limit_seconds = 30;
    QCOMPARE(time_taken_words(f), std::string("12 s, of a limit of 30 s"));
    f.elapsed_seconds = 57, f.limit_overrun = "verifying took 30.0 s where 3.0 s were left";
    QCOMPARE(time_taken_words(f),
             std::string("57 s, of a limit of 30 s, overrun: verifying took 30.0 s where 3.0 s were left"));
  }
};

STORMCELL_TEST(TimeTextTest)

}  // namespace stormcell

#include "time_text_test.moc"
