#include "views/drawing/thumbnail_image.h"

namespace stormcell::views {

QImage image_of(const Thumbnail& t) {
  if (t.empty()) return {};
  const auto width = static_cast<int>(t.size.width), height = static_cast<int>(t.size.height);
  const QImage lent(t.pixels.data(), width, height, static_cast<qsizetype>(t.size.width * t.channels),
                    t.channels == 1 ? QImage::Format_Grayscale8 : QImage::Format_RGB888);
  return lent.copy();
}

void draw_image(QPainter& p, QRectF box, const QImage& image) {
  const bool smooth = p.testRenderHint(QPainter::SmoothPixmapTransform);
  p.setRenderHint(QPainter::SmoothPixmapTransform, box.width() < image.width());
  p.drawImage(box, image);
  p.setRenderHint(QPainter::SmoothPixmapTransform, smooth);
}

}  // namespace stormcell::views
