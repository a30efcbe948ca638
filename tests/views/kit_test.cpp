// Colours, tables and time scales: pure functions.
#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <cmath>

#include "tests/testing/testing.h"
#include "views/kit/table.h"
#include "views/kit/theme.h"
#include "views/kit/time_strip.h"

namespace stormcell::views {

class KitTest : public QObject {
  Q_OBJECT
 private slots:
  void maps_rise_evenly_in_lightness() {
    for (const Theme* theme : {&Theme::light(), &Theme::dim()}) {
      double before = oklab_lightness(theme->sequential(0)), most = 0, least = 1;
      const double sign = theme->dark ? 1 : -1;
      for (int i = 1; i <= 64; ++i) {
        const double now = oklab_lightness(theme->sequential(i / 64.0)), step = sign * (now - before);
        QVERIFY2(step > 0, qPrintable(QString("step %1 of the %2 map").arg(i).arg(theme->dark ? "dark" : "light")));
        most = std::max(most, step), least = std::min(least, step);
        before = now;
      }
      QVERIFY2(most < 3 * least, qPrintable(QString("%1 %2").arg(most).arg(least)));
      // Both sides of the diverging map are as far from its middle.
      for (int i = 1; i <= 8; ++i) {
        const double middle = oklab_lightness(theme->diverging(0)), below = std::abs(oklab_lightness(theme->diverging(-i / 8.0)) - middle),
                     above = std::abs(oklab_lightness(theme->diverging(i / 8.0)) - middle);
        QVERIFY(std::abs(below - above) < 0.1);
      }
    }
  }

  void texts_can_be_read_on_every_colour() {
    for (const Theme* theme : {&Theme::light(), &Theme::dim()}) {
      for (const QColor& c : {theme->text, theme->faint, theme->accent, theme->good, theme->bad, theme->warn})
        for (const QColor& on : {theme->background, theme->surface})
          QVERIFY2(contrast(c, on) >= 4.5, qPrintable(c.name() + " on " + on.name()));
      for (int i = 0; i <= 100; ++i) QVERIFY(contrast(Theme::text_on(theme->sequential(i / 100.0)), theme->sequential(i / 100.0)) >= 4.5);
      for (int i = -100; i <= 100; ++i) QVERIFY(contrast(Theme::text_on(theme->diverging(i / 100.0)), theme->diverging(i / 100.0)) >= 4.5);
    }
  }

  void tables_keep_the_rules_of_models() {
    TableModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.set({{{"name", "who"}, {"count", "how many"}, {"share", "of all"}},
               {{QString("a,b"), 12345LL, 0.5}, {QString("say \"x\""), Value(), 1e-9}}});
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.data(model.index(0, 1), Qt::DisplayRole).toString(), QString("12,345"));
    QCOMPARE(model.data(model.index(0, 1), Qt::AccessibleTextRole).toString(), QString("count: 12,345"));
    QCOMPARE(model.data(model.index(0, 1), TableModel::kSortRole).toLongLong(), 12345LL);
    QVERIFY(model.headerData(2, Qt::Horizontal, Qt::ToolTipRole).toString().contains("of all"));
    QCOMPARE(to_csv(model.table()), QString("name,count,share\r\n\"a,b\",12345,0.5\r\n\"say \"\"x\"\"\",,1.0000000000000001e-09\r\n"));
    model.set({});
    QCOMPARE(model.rowCount(), 0);
  }

  void places_and_batches_map_to_each_other() {
    const TimeScale s{10, 500, 1000};
    for (int64_t batch = 0; batch < 1000; batch += 7) QCOMPARE(s.batch(s.x(batch) + 0.01), batch);
    QCOMPARE(s.batch(-100), int64_t{0});
    QCOMPARE(s.batch(1e9), int64_t{1000});
    QCOMPARE(TimeScale({0, 100, 0}).batch(50), int64_t{0});
  }

  void a_range_is_dragged_moved_played_and_left() {
    TimeStrip strip;
    strip.resize(524, 44);  // a batch is five pixels
    strip.set_data(100, 1, std::vector<double>(100, 1.0));
    QSignalSpy wanted(&strip, &TimeStrip::range_wanted);
    const auto last = [&] { return std::pair(wanted.last()[0].toLongLong(), wanted.last()[1].toLongLong()); };
    QTest::mousePress(&strip, Qt::LeftButton, {}, {12 + 100, 20});
    QTest::mouseMove(&strip, {12 + 200, 20});
    QTest::mouseRelease(&strip, Qt::LeftButton, {}, {12 + 200, 20});
    QCOMPARE(last(), std::pair(20LL, 41LL));  // the batch below the pointer is in it
    QTest::keyClick(&strip, Qt::Key_Right);
    QCOMPARE(last(), std::pair(25LL, 46LL));
    QTest::keyClick(&strip, Qt::Key_End);
    QCOMPARE(last(), std::pair(79LL, 100LL));
    QTest::keyClick(&strip, Qt::Key_Escape);
    QCOMPARE(last(), std::pair(0LL, -1LL));
    QTest::mouseClick(&strip, Qt::LeftButton, {}, {12 + 102, 20});
    QCOMPARE(last(), std::pair(20LL, 21LL));
    QTest::keyClick(&strip, Qt::Key_Escape);
    strip.play(true);
    QTRY_VERIFY(wanted.count() > 6);
    strip.play(false);
    QCOMPARE(last().second - last().first, 10LL);
  }
};
STORMCELL_TEST(KitTest)

}  // namespace stormcell::views
#include "kit_test.moc"
