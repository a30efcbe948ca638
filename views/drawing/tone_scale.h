// The scale of tones that a picture uses: a bar, and below it a line and a figure at each tick.
#pragma once
#include <QPainter>
#include <QString>
#include <functional>
#include <vector>

#include "views/drawing/theme.h"

namespace stormcell::views {

/// A mark on a scale: its place, from 0 to 1, and its figure in words.
struct ToneTick {
  double at = 0;
  QString figure;
};
/// The ends, and round values between them that keep clear of the ends: at most `most` of these.
std::vector<double> scale_values(double low, double high, int most);
/// Ticks from 0 to `high` on an even scale, without those that a neighbour's figure would stand at. `figure`: a value as
/// text.
std::vector<ToneTick> even_ticks(double high, int most, const std::function<QString(double)>& figure);

enum class ToneSides { one, two };
/// Figures are as many as have room; the first and the last always have. Height below the bar: 3 pixels and a line.
void paint_tone_scale(QPainter& painter, const QRectF& bar, ToneSides sides, const std::vector<ToneTick>& ticks,
                      const Theme& theme);

}  // namespace stormcell::views
