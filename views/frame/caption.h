// Origin of an exported picture, at its foot: the picture is also seen without the window that states it.
#pragma once
#include <QPainter>
#include <QStringList>

#include "views/drawing/theme.h"
#include "views/frame/selection.h"

namespace stormcell::views {

struct Caption {
  QStringList parts;  ///< model, session and run, date, the other run, the selected part of the run
  QString note;       ///< the parts of the selection that the view ignores
};
/// `heeded`: parts of the selection that the figures depend on, and Part::other if the other run is shown.
Caption caption_of(const Context& context, const Selection& selection, Parts heeded, const QString& note);
/// A line each.
QStringList lines_of(const Caption& caption);

/// Height of the strip that paint_caption() fills; 0 if it is empty.
int caption_height(const Caption& caption, const QFont& font);
void paint_caption(QPainter& painter, QRectF bounds, const Caption& caption, const QFont& font, const Theme& theme);

}  // namespace stormcell::views
