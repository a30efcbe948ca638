// Scales of tones: ticks with figures, the ends always among them.
#include "views/drawing/tone_scale.h"

#include <QImage>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "tests/testing/testing.h"

namespace stormcell::views {

class ToneScaleTest : public QObject {
  Q_OBJECT
 private slots:
  void ticks_have_figures_of_their_own_and_hold_the_ends() {
    for (const double high : {1.0, 2.0, 0.0224, 7.0, 1234.0, 1e6}) {
      const auto plain = even_ticks(high, 4, [](double v) { return QString::number(v, 'f', 0); });
      const auto fine = even_ticks(high, 4, [](double v) { return QString::number(v, 'g', 4); });
      for (const std::vector<ToneTick>& ticks : {high < 1 ? fine : plain, fine}) {
        QCOMPARE(ticks.front().at, 0.0);
        QVERIFY(ticks.size() <= 6);
        for (size_t i = 1; i < ticks.size(); ++i)
          QVERIFY2(ticks[i].at > ticks[i - 1].at && ticks[i].figure != ticks[i - 1].figure,
                   qPrintable(ticks[i].figure));
      }
      QCOMPARE(fine.back().at, 1.0);
      QVERIFY(fine.size() >= 3);
    }
    const std::vector<double> values = scale_values(0, 0.25, 4);
    QCOMPARE(values.size(), size_t{4});
    QVERIFY(std::abs(values[1] - 0.1) < 1e-9 && std::abs(values[2] - 0.2) < 1e-9);
    // One choice at most has no half.
    QCOMPARE(even_ticks(1, 5, [](double v) { return QString::number(v, 'f', 0); }).size(), size_t{2});
  }

  void a_bar_has_its_tones_and_a_line_at_each_tick() {
    QImage image(240, 40, QImage::Format_RGB32);
    image.fill(Theme::light().background);
    QPainter p(&image);
    const QRectF bar(10, 4, 200, 10);
    paint_tone_scale(p, bar, ToneSides::one, {{0, "0"}, {0.5, "half"}, {1, "all"}}, Theme::light());
    p.end();
    for (const double at : {0.0, 0.5, 1.0}) {
      const int x = static_cast<int>(std::min(bar.left() + at * bar.width(), bar.right() - 1));
      QCOMPARE(image.pixelColor(x, 15), Theme::light().faint);
    }
    QCOMPARE(image.pixelColor(60, 15), Theme::light().background);
    QVERIFY(image.pixelColor(15, 8).lightness() > image.pixelColor(200, 8).lightness());
  }
};
STORMCELL_TEST(ToneScaleTest)

}  // namespace stormcell::views
#include "tone_scale_test.moc"
