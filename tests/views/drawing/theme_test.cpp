// Colours: pure functions.
#include "views/drawing/theme.h"

#include <algorithm>
#include <cmath>

#include "tests/testing/testing.h"

namespace stormcell::views {

class ThemeTest : public QObject {
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
        const double middle = oklab_lightness(theme->diverging(0)),
                     below = std::abs(oklab_lightness(theme->diverging(-i / 8.0)) - middle),
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
      for (int i = 0; i <= 100; ++i)
        QVERIFY(contrast(Theme::text_on(theme->sequential(i / 100.0)), theme->sequential(i / 100.0)) >= 4.5);
      for (int i = -100; i <= 100; ++i)
        QVERIFY(contrast(Theme::text_on(theme->diverging(i / 100.0)), theme->diverging(i / 100.0)) >= 4.5);
    }
  }
};
STORMCELL_TEST(ThemeTest)

}  // namespace stormcell::views
#include "theme_test.moc"
