#include "views/drawing/marks.h"

#include <QFontMetricsF>

namespace stormcell::views {

void write_line(QPainter& p, QRectF where, int align, const QString& text) {
  p.drawText(where, align | Qt::AlignVCenter, QFontMetricsF(p.font()).elidedText(text, Qt::ElideRight, where.width()));
}

void draw_frame(QPainter& p, QRectF where, const QColor& color, double width, Qt::PenStyle style) {
  p.setBrush(Qt::NoBrush);
  p.setPen(QPen(color, width, style));
  p.drawRect(where);
}

}  // namespace stormcell::views
