#include "views/drawing/fonts.h"

#include <QFontDatabase>

namespace stormcell::views {

QFont picture_font() {
  static const int added = QFontDatabase::addApplicationFont(":/fonts/DejaVuSans.ttf");
  static const int bold = QFontDatabase::addApplicationFont(":/fonts/DejaVuSans-Bold.ttf");
  (void)bold;
  QFont font = added >= 0 ? QFont("DejaVu Sans") : QFont();
  font.setPointSizeF(9.5);
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

}  // namespace stormcell::views
