// Writes a view's picture and table to files.
#pragma once
#include <QByteArray>
#include <QImage>
#include <QSize>
#include <QString>

#include "views/kit/view.h"

namespace stormcell::studio {

/// Drawn, not yet packed: that takes as long again and is for another thread.
struct DrawnPicture {
  QImage image;  ///< null: an SVG
  QByteArray svg;
  QByteArray bytes() const;
};
/// `view`'s picture at `size` device-independent pixels, PNG or SVG by the file's suffix; its message where the view has no content.
/// Throws Error(bad_input) for another suffix.
DrawnPicture draw_picture(views::View& view, const QSize& size, double scale, const QString& suffix);
/// Replaces the file when all bytes are written. Throws Error. May block.
void write_file(const QString& file, const QByteArray& bytes);

}  // namespace stormcell::studio
