// Draws the overview's page: its cards, figures and intervals. Knows no widget.
#pragma once
#include <QPainter>

#include "views/drawing/theme.h"
#include "views/overview/overview_geometry.h"
#include "views/overview/overview_model.h"

namespace stormcell::views {

void paint_overview(QPainter& painter, const OverviewPageModel& page, const OverviewGeometry& geometry,
                    const Theme& theme);
/// Lines that the proof's text takes in a card of this width.
double proof_lines(const OverviewPageModel& page, const QFont& font, double card_width);
/// A measured run's only note, where it warns of nothing, is beside the first line of a header of this width if both fit:
/// the steps below it are then visible in a low window.
bool note_is_beside(const OverviewPageModel& page, const QFont& font, double width);

/// One figure on an axis with 1 marked, its 95 % interval as a bar; for the result at the top.
void paint_ratio(QPainter& painter, QRectF bounds, const HeroFigure& figure, const Theme& theme);
void paint_waterfall(QPainter& painter, const OverviewPageModel& page, const OverviewGeometry& geometry,
                     const Theme& theme);
void paint_routers(QPainter& painter, const OverviewPageModel& page, const OverviewGeometry& geometry,
                   const Theme& theme);

QColor tone_color(Tone tone, const Theme& theme);
QFont scaled(const QFont& font, double factor, bool bold = false);

}  // namespace stormcell::views
