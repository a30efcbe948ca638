// A kept picture as something that Qt draws.
#pragma once
#include <QImage>
#include <QPainter>

#include "core/cell/thumbnail.h"

namespace stormcell::views {

/// Null where there is none.
QImage image_of(const Thumbnail& thumbnail);
/// Fills `box`. Enlarged pixels stay squares, since no more is known; reduced ones are averaged.
void draw_image(QPainter& painter, QRectF box, const QImage& image);

}  // namespace stormcell::views
