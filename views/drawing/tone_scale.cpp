#include "views/drawing/tone_scale.h"

#include <QFontMetricsF>
#include <algorithm>
#include <utility>

#include "views/drawing/value_axis.h"

namespace stormcell::views {

std::vector<double> scale_values(double low, double high, int most) {
  // A figure that near to an end would stand for the same.
  constexpr double kClear = 0.02;
  std::vector<double> values{low};
  for (const double value : ValueAxis{low, high, 0, 1}.ticks(most))
    if (value > low + kClear * (high - low) && value < high - kClear * (high - low)) values.push_back(value);
  values.push_back(high);
  return values;
}

std::vector<ToneTick> even_ticks(double high, int most, const std::function<QString(double)>& figure) {
  const QString end = figure(high);
  std::vector<ToneTick> ticks;
  for (const double value : scale_values(0, high, most)) {
    const QString words = figure(value);
    if (value < high && !ticks.empty() && (words == ticks.back().figure || words == end)) continue;
    ticks.push_back({value / high, words});
  }
  return ticks;
}

void paint_tone_scale(QPainter& p, const QRectF& bar, ToneSides sides, const std::vector<ToneTick>& ticks,
                      const Theme& theme) {
  constexpr double kGap = 6, kTick = 3;
  const bool two_sided = sides == ToneSides::two;
  for (int i = 0; i < static_cast<int>(bar.width()); ++i) {
    const double t = i / std::max(1.0, bar.width() - 1);
    p.fillRect(QRectF(bar.left() + i, bar.top(), 1.5, bar.height()), theme.tone(two_sided ? 2 * t - 1 : t, two_sided));
  }
  if (ticks.empty()) return;
  const QFontMetricsF metrics(p.font());
  const auto place = [&](const ToneTick& tick) {
    const double width = metrics.horizontalAdvance(tick.figure), x = bar.left() + tick.at * bar.width();
    const double left = std::clamp(x - width / 2, bar.left(), std::max(bar.left(), bar.right() - width));
    return QRectF(left, bar.bottom() + kTick, width + 1, metrics.height());
  };
  const double last = place(ticks.back()).left();
  double free_from = bar.left() - 1;
  for (const ToneTick& tick : ticks) {
    const double x = std::min(bar.left() + tick.at * bar.width(), bar.right() - 1);
    p.fillRect(QRectF(x, bar.bottom(), 1, kTick), theme.faint);
    const QRectF at = place(tick);
    if (at.left() < free_from || (&tick != &ticks.back() && at.right() + kGap > last)) continue;
    p.setPen(theme.faint);
    p.drawText(at, Qt::AlignLeft | Qt::AlignTop, tick.figure);
    free_from = at.right() + kGap;
  }
}

}  // namespace stormcell::views
