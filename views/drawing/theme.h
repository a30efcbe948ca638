// Colours of all pictures, light and dark. Maps are made in OKLab, so that equal steps look equal and survive colour
// blindness and grey.
#pragma once
#include <QColor>
#include <QPalette>
#include <QString>

namespace stormcell::views {

struct Theme {
  bool dark = false;
  QColor background, surface, text, faint, grid, accent, good, bad, warn;
  /// Hues that everybody can tell apart.
  static constexpr int kCategories = 8;
  /// One of kCategories, in an order in which neighbours differ in lightness too; an index beyond them is faint.
  QColor category(int index) const;
  /// t in [0, 1]: from the background's lightness to the strongest tone.
  QColor sequential(double t) const;
  /// t in [-1, 1]: blue below, orange above, the background's lightness at 0.
  QColor diverging(double t) const;
  /// The tone for values on both sides of a middle (diverging), or on one (sequential).
  QColor tone(double t, bool two_sided) const { return two_sided ? diverging(t) : sequential(t); }
  /// A colour that is readable on `fill`.
  static QColor text_on(const QColor& fill);

  static const Theme& light();
  static const Theme& dim();
  static const Theme& of(const QPalette& palette);
  /// For the whole application; its style must be Fusion.
  QPalette palette() const;
};

/// Lightness, a, b of OKLab (Ottosson 2020) to sRGB, out-of-gamut values clipped.
QColor from_oklab(double lightness, double a, double b);
double oklab_lightness(const QColor& color);
/// Equally light, without colour: for figures within chance.
inline QColor in_grey(const QColor& color) { return from_oklab(oklab_lightness(color), 0, 0); }
/// WCAG 2 contrast ratio of two colours, 1 to 21.
double contrast(const QColor& a, const QColor& b);

}  // namespace stormcell::views
