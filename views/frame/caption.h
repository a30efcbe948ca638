// Where an exported picture comes from, at its foot: a picture goes on without the window that says so.
#pragma once
#include <QPainter>
#include <QStringList>

#include "views/drawing/theme.h"
#include "views/frame/selection.h"

namespace stormcell::views {

struct Caption {
  QStringList parts;  ///< model, session and run, date, the other run, what of the run is on show
  QString note;       ///< the parts of the selection that the view ignores
};
/// `heeded`: what of the selection the figures heed, and Part::other where the other run is on show.
Caption caption_of(const Context& context, const Selection& selection, Parts heeded, const QString& note);
/// A line each.
QStringList lines_of(const Caption& caption);

/// Of the strip that paint_caption() fills; 0 where there is nothing to say.
int caption_height(const Caption& caption, const QFont& font);
void paint_caption(QPainter& painter, QRectF bounds, const Caption& caption, const QFont& font, const Theme& theme);

}  // namespace stormcell::views
