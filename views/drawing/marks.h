// Small things that painters of several views draw alike.
#pragma once
#include <QColor>
#include <QPainter>
#include <QString>

namespace stormcell::views {

/// Writes text in one line, in the middle of the height; text without room ends in "…".
void write_line(QPainter& painter, QRectF where, int align, const QString& text);
/// An empty rectangle.
void draw_frame(QPainter& painter, QRectF where, const QColor& color, double width, Qt::PenStyle style = Qt::SolidLine);

}  // namespace stormcell::views
