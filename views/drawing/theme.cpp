#include "views/drawing/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stormcell::views {
namespace {

double to_linear(double s) { return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4); }
double to_srgb(double l) { return l <= 0.0031308 ? 12.92 * l : 1.055 * std::pow(l, 1 / 2.4) - 0.055; }

/// A point of a map in OKLCh: lightness, chroma, hue in degrees.
struct ThemeTone {
  double l, c, h;
};
template <size_t N>
QColor along(const std::array<ThemeTone, N>& tones, double t) {
  t = std::clamp(t, 0.0, 1.0) * (N - 1);
  const size_t i = std::min(N - 2, static_cast<size_t>(t));
  const double f = t - static_cast<double>(i);
  const auto mix = [&](double a, double b) { return a + (b - a) * f; };
  const double c = mix(tones[i].c, tones[i + 1].c), h = mix(tones[i].h, tones[i + 1].h) * M_PI / 180;
  return from_oklab(mix(tones[i].l, tones[i + 1].l), c * std::cos(h), c * std::sin(h));
}

constexpr std::array<ThemeTone, 4> kLightMap{
    {{0.97, 0.02, 110}, {0.80, 0.10, 165}, {0.56, 0.11, 225}, {0.30, 0.11, 275}}};
constexpr std::array<ThemeTone, 4> kDarkMap{
    {{0.26, 0.03, 275}, {0.46, 0.11, 250}, {0.70, 0.12, 180}, {0.94, 0.13, 105}}};
constexpr std::array<ThemeTone, 3> kLightBelow{{{0.97, 0.005, 250}, {0.72, 0.09, 250}, {0.42, 0.13, 258}}};
constexpr std::array<ThemeTone, 3> kLightAbove{{{0.97, 0.005, 60}, {0.76, 0.11, 62}, {0.47, 0.12, 45}}};
constexpr std::array<ThemeTone, 3> kDarkBelow{{{0.25, 0.005, 250}, {0.50, 0.10, 250}, {0.80, 0.09, 240}}};
constexpr std::array<ThemeTone, 3> kDarkAbove{{{0.25, 0.005, 60}, {0.54, 0.11, 52}, {0.86, 0.10, 75}}};

}  // namespace

QColor from_oklab(double lightness, double a, double b) {
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  const auto channel = [](double v) { return static_cast<float>(std::clamp(to_srgb(std::max(0.0, v)), 0.0, 1.0)); };
  return QColor::fromRgbF(channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                          channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                          channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s));
}

double oklab_lightness(const QColor& color) {
  const double r = to_linear(color.redF()), g = to_linear(color.greenF()), b = to_linear(color.blueF());
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

double contrast(const QColor& a, const QColor& b) {
  const auto luminance = [](const QColor& c) {
    return 0.2126 * to_linear(c.redF()) + 0.7152 * to_linear(c.greenF()) + 0.0722 * to_linear(c.blueF());
  };
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

QColor Theme::sequential(double t) const { return dark ? along(kDarkMap, t) : along(kLightMap, t); }

QColor Theme::diverging(double t) const {
  if (t < 0) return along(dark ? kDarkBelow : kLightBelow, -t);
  return along(dark ? kDarkAbove : kLightAbove, t);
}

QColor Theme::category(int index) const {
  // Hues far apart for the three kinds of colour blindness; lightness alternates.
  static constexpr std::array<ThemeTone, kCategories> tones{{{0.58, 0.14, 255},
                                                             {0.74, 0.13, 70},
                                                             {0.52, 0.11, 165},
                                                             {0.80, 0.10, 325},
                                                             {0.55, 0.16, 30},
                                                             {0.82, 0.10, 220},
                                                             {0.48, 0.13, 305},
                                                             {0.76, 0.14, 130}}};
  // Made once: a canvas asks for thousands in a frame.
  static const auto colors = [] {
    std::array<std::array<QColor, tones.size()>, 2> made;
    for (size_t i = 0; i < tones.size(); ++i)
      for (const bool for_dark : {false, true}) {
        const double h = tones[i].h * M_PI / 180;
        made[for_dark][i] =
            from_oklab(tones[i].l + (for_dark ? 0.04 : 0), tones[i].c * std::cos(h), tones[i].c * std::sin(h));
      }
    return made;
  }();
  return index >= 0 && index < kCategories ? colors[dark][index] : faint;
}

QColor Theme::text_on(const QColor& fill) {
  // Black and white alone: one of them always has a contrast of 4.58, which leaves nothing for softer tones.
  const QColor ink(0, 0, 0), paper(255, 255, 255);
  return contrast(fill, ink) >= contrast(fill, paper) ? ink : paper;
}

const Theme& Theme::light() {
  static const Theme theme{false,
                           QColor(250, 250, 251),
                           QColor(255, 255, 255),
                           QColor(28, 30, 36),
                           QColor(98, 103, 115),
                           QColor(222, 225, 231),
                           QColor(36, 92, 176),
                           QColor(20, 118, 70),
                           QColor(184, 44, 32),
                           QColor(148, 96, 0)};
  return theme;
}
const Theme& Theme::dim() {
  static const Theme theme{true,
                           QColor(24, 26, 31),
                           QColor(32, 35, 41),
                           QColor(228, 230, 235),
                           QColor(154, 160, 172),
                           QColor(56, 60, 70),
                           QColor(122, 172, 255),
                           QColor(96, 200, 142),
                           QColor(255, 134, 118),
                           QColor(236, 188, 92)};
  return theme;
}
const Theme& Theme::of(const QPalette& palette) {
  return palette.color(QPalette::Window).lightness() < 128 ? dim() : light();
}

QPalette Theme::palette() const {
  QPalette p;
  p.setColor(QPalette::Window, background);
  p.setColor(QPalette::Base, surface);
  p.setColor(QPalette::AlternateBase, background);
  p.setColor(QPalette::Button, dark ? QColor(44, 48, 56) : QColor(240, 241, 244));
  p.setColor(QPalette::ToolTipBase, surface);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText})
    p.setColor(role, text);
  p.setColor(QPalette::PlaceholderText, faint);
  p.setColor(QPalette::Highlight, accent);
  p.setColor(QPalette::HighlightedText, text_on(accent));
  p.setColor(QPalette::Link, accent);
  p.setColor(QPalette::Mid, grid);
  p.setColor(QPalette::Light, dark ? QColor(60, 65, 75) : QColor(255, 255, 255));
  p.setColor(QPalette::Dark, dark ? QColor(16, 17, 20) : QColor(190, 194, 202));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    p.setColor(QPalette::Disabled, role, faint);
  return p;
}

}  // namespace stormcell::views
