// A kept picture as something that Qt draws.
#pragma once
#include <QImage>
#include <QPainter>

#include "core/cell/thumbnail.h"

namespace stormcell::views {

/// Null where there is none.
QImage image_of(const Thumbnail& thumbnail);
/// Fills `box`. Made larger its pixels stay squares, as they are what is known; made smaller they are averaged.
void draw_image(QPainter& painter, QRectF box, const QImage& image);

}  // namespace stormcell::views
