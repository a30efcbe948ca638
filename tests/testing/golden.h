// Pictures against stored ones: exact where they were made by the same Qt and FreeType, else nearly.
#pragma once
#include <QImage>
#include <QString>

class QWidget;

namespace stormcell::testing {

/// `widget` drawn at a size without being shown.
QImage draw(QWidget& widget, const QSize& size, double scale = 1);
/// Empty when `image` is tests/views/goldens/NAME.png, else what differs and where the new picture lies.
/// STORMCELL_UPDATE_GOLDENS=1 rewrites. Where Qt is another than that of the stored pictures, 0.1 % of the pixels may
/// differ.
QString compare_with_golden(const QImage& image, const QString& name);

}  // namespace stormcell::testing
