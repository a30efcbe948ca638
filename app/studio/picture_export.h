// Writes a view's picture and table to files.
#pragma once
#include <QSize>
#include <QString>

#include "views/kit/view.h"

namespace stormcell::studio {

/// A PNG or SVG of `picture` at `size` device-independent pixels, by the file's suffix; of the message where the view has no content.
/// The bytes; throws Error(bad_input) for another suffix. Writing them is for another thread.
QByteArray draw_picture(views::View& view, const QSize& size, double scale, const QString& suffix);
/// Replaces the file when all bytes are written. Throws Error. May block.
void write_file(const QString& file, const QByteArray& bytes);

}  // namespace stormcell::studio
