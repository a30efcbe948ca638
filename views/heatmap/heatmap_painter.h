// Draws a HeatMatrix with labels, scale and marks. Knows no widget.
#pragma once
#include <QImage>
#include <QPainter>
#include <optional>

#include "views/drawing/theme.h"
#include "views/heatmap/heatmap_geometry.h"
#include "views/heatmap/heatmap_model.h"

namespace stormcell::views {

/// An image with one pixel a cell: drawing it scaled makes moving and zooming cheap. Columns that a router does not
/// have are transparent.
QImage tone_image(const HeatMatrix& matrix, const Theme& theme);

struct HeatMarks {
  std::optional<HeatCell> hovered, selected;
  std::vector<std::vector<HeatCell>> paths;  ///< of a followed cell, row by row, one for each stack of routers
};

void paint_matrix(QPainter& painter, const HeatMatrix& matrix, const QImage& tones, const HeatGeometry& geometry,
                  double label_width, const Theme& theme, const HeatMarks& marks);
/// Paints the scale with the values of its ends, in a strip about 30 pixels high.
void paint_scale(QPainter& painter, QRectF bounds, const HeatMatrix& matrix, const Theme& theme);
/// An image with one pixel for each window and branch.
QImage tone_image(const RouterOverTime& over_time, const Theme& theme);
/// Paints one router over time, time to the right; `tones`: its tone_image(); `aside` is at the right of its title.
void paint_over_time(QPainter& painter, QRectF bounds, double label_width, const RouterOverTime& over_time,
                     const QImage& tones, const Theme& theme, int selected_branch, const QString& aside);
/// "4 of 48 routers; ..."; empty if all are shown.
QString routers_shown(size_t shown, size_t routers, bool chosen);

/// Width that row labels want: the routers' names, and the branches' below.
double label_width(const QFontMetricsF& metrics, const HeatMatrix& matrix);

}  // namespace stormcell::views
