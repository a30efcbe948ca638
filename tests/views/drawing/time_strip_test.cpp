// The time scale and the range that a mouse or a key chooses on it.
#include "views/drawing/time_strip.h"

#include <QSignalSpy>
#include <cstdint>

#include "tests/testing/testing.h"

namespace stormcell::views {

class TimeStripTest : public QObject {
  Q_OBJECT
 private slots:
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
STORMCELL_TEST(TimeStripTest)

}  // namespace stormcell::views
#include "time_strip_test.moc"
