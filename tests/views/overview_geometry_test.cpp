// Cards of the overview, axes and the words of their marks.
#include "views/overview/overview_geometry.h"

#include <cmath>
#include <utility>
#include <vector>

#include "tests/testing/testing.h"
#include "views/drawing/value_axis.h"
#include "views/words/figure_text.h"

namespace stormcell::views {

class OverviewGeometryTest : public QObject {
  Q_OBJECT
 private slots:
  void cards_do_not_overlap_and_fill_the_width() {
    for (const auto& [width, room] :
         {std::pair{480.0, 0.0}, {760.0, 0.0}, {1080.0, 0.0}, {1730.0, 0.0}, {1080.0, 600.0}})
      for (const bool waterfall : {false, true}) {
        OverviewContent c;
        c.room = room;
        c.figures = 6, c.chart_rows = waterfall ? 15 : 12, c.notes = 2, c.interval = c.waterfall = waterfall;
        c.steps_height = [](double) { return 210.0; };
        const OverviewGeometry g(width, c);
        const QRectF page(0, 0, width, g.height());
        const std::vector<QRectF> all = {g.header(), g.notes(), g.hero(),  g.figures(),
                                         g.chart(),  g.steps(), g.footer()};
        for (size_t a = 0; a < all.size(); ++a) {
          QVERIFY(page.contains(all[a]));
          for (size_t b = a + 1; b < all.size(); ++b)
            QVERIFY2(!all[a].intersects(all[b]), qPrintable(QString("%1 %2").arg(a).arg(b)));
        }
        QVERIFY(g.figures().contains(g.figure_row(5)) && g.chart().contains(g.chart_row(c.chart_rows - 1)));
        QVERIFY(g.chart().contains(g.chart_area()) && g.chart_area().width() > 60);
        QVERIFY(g.steps_inside().height() >= 210);
      }
  }

  void next_steps_come_before_the_end_of_the_figures_in_a_low_window() {
    OverviewContent c;
    c.figures = 8, c.chart_rows = 4, c.interval = c.waterfall = true;
    c.steps_height = [](double) { return 190.0; };
    const OverviewGeometry high(1080, c);
    c.room = 630;
    const OverviewGeometry low(1080, c);
    QVERIFY(high.steps().bottom() > 630 && low.steps().bottom() <= 630);
    QVERIFY(low.value_height() < high.value_height());
    // A page that has room keeps its rows of cards.
    c.room = high.height() + 10;
    QCOMPARE(OverviewGeometry(1080, c).steps(), high.steps());
  }

  void axes_have_round_marks() {
    for (const double top : {0.03, 0.4, 1.7, 12.0, 900.0}) {
      const ValueAxis axis = ValueAxis::around({1, 1 + top}, 0, 300, 0.05);
      const auto ticks = axis.ticks(6);
      QVERIFY(ticks.size() >= 2 && ticks.size() <= 7);
      for (const double t : ticks)
        QVERIFY(t >= axis.low - 1e-9 && t <= axis.high + 1e-9 && axis.x(t) >= 0 && axis.x(t) <= 300);
    }
    QVERIFY(ValueAxis::around({}, 0, 10, 0.1).ticks(4).size() > 0);
    QVERIFY(ValueAxis::around({1, std::nan("")}, 0, 10, 0.1).x(1) == 5);
    QCOMPARE(duration_text(1533.4), QString("1,533 ms"));
    QCOMPARE(duration_text(0.0123), QString::fromUtf8("12.3 µs"));
    QCOMPARE(number_text(0.02), QString("0.02"));
    QCOMPARE(number_text(159057.9), QString("159,058"));
    QCOMPARE(bytes_text(5174272), QString("4.93 MiB"));
    QCOMPARE(change_text(2, 1), QString(QChar(0x2212)) + "50 %");
  }
};
STORMCELL_TEST(OverviewGeometryTest)

}  // namespace stormcell::views
#include "overview_geometry_test.moc"
