// Writes a view's picture and table to files.
#pragma once
#include <QByteArray>
#include <QImage>
#include <QSize>
#include <QString>

#include "views/frame/view.h"

namespace stormcell::studio {

/// Drawn, not yet packed: that takes as long again and is for another thread.
struct DrawnPicture {
  QImage image;  ///< null: an SVG
  QByteArray svg;
  QByteArray bytes() const;
};
/// Draws the view's picture, or its message if it has no content, and below it a line with its origin. The size is
/// `size` device-independent pixels, PNG or SVG by the file's suffix. Throws Error(bad_input) for another suffix.
DrawnPicture draw_picture(views::View& view, const QSize& size, double scale, const QString& suffix);
/// The lines above the figures of a view in a file: program, device, date and session, as in all exported tables, and
/// the view's notes.
QStringList table_comments(const views::View& view);
/// Replaces the file when all bytes are written. Throws Error. May block.
void write_file(const QString& file, const QByteArray& bytes);

}  // namespace stormcell::studio
