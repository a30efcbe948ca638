// Colours, tables and time scales: pure functions.
#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <cmath>

#include "tests/testing/testing.h"
#include "views/kit/caption.h"
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

  void a_caption_says_where_a_picture_comes_from() {
    Context context;
    auto session = std::make_shared<SessionOverview>();
    session->model = "/models/switch-base-8";
    session->runs.push_back({.id = 2, .kind = "optimize", .started = "2026-11-03T08:09:10Z"});
    context.session = session;
    context.main.file = "/somewhere/a.storm", context.main.run = 2, context.main.title = "a.storm #2 optimize";
    context.other.file = "/somewhere/b.storm", context.other.run = 1, context.other.title = "b.storm #1 run";
    Selection selection;
    selection.first_batch = 3, selection.end_batch = 9, selection.label = "fr", selection.router = "some";
    const QStringList all = {"switch-base-8", "a.storm #2 optimize", "2026-11-03 08:09 UTC"};
    QCOMPARE(caption_of(context, {}, Part::range, {}).parts, all);
    // What is heeded stands there; a router only marks.
    QCOMPARE(caption_of(context, selection, Part::range | Part::other, {}).parts,
             all + QStringList({"against b.storm #1 run", "batches 3 to 8"}));
    const Caption caption = caption_of(context, selection, Part::range, "Not applied here: label fr.");
    QCOMPARE(lines_of(caption).size(), 2);
    QVERIFY(lines_of(caption)[1].contains("label fr"));
    QCOMPARE(caption_height({}, QFont()), 0);
    QVERIFY(lines_of(caption_of({}, {}, Part::range, {})).isEmpty());
  }

  void a_caption_stays_in_its_strip() {
    const Caption caption{{"a model", QString(300, 'w') + ".storm #1 run", "2026-11-03 08:09 UTC"}, QString(400, 'x')};
    for (const Theme* theme : {&Theme::light(), &Theme::dim()})
      for (const int width : {1600, 300}) {
        const int height = caption_height(caption, QFont());
        QImage image(width, 100 + height, QImage::Format_RGB32);
        image.fill(Qt::magenta);
        QPainter p(&image);
        paint_caption(p, QRectF(0, 100, width, height), caption, QFont(), *theme);
        p.end();
        int readable = 0;
        for (int y = 0; y < image.height(); ++y)
          for (int x = 0; x < width; ++x) {
            const QColor at = image.pixelColor(x, y);
            QCOMPARE(at == QColor(Qt::magenta), y < 100);
            if (y < 100) continue;
            QVERIFY((x >= 11 && x < width - 11) || at == theme->background);
            readable += contrast(at, theme->background) >= 4.5;
          }
        QVERIFY2(readable > width / 5, qPrintable(QString::number(readable)));
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
    // Lines above that say where a table comes from; a text that looks like one is quoted.
    QCOMPARE(to_csv({{{"name", ""}}, {{QString("#1")}}}, {"of a\nrun", "two"}), QString("# of a run\r\n# two\r\nname\r\n\"#1\"\r\n"));
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
