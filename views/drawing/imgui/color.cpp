#include "views/drawing/imgui/color.h"

#include <imgui.h>

#include <QColor>

namespace stormcell::views {

unsigned int color(const QColor& c, double alpha) {
  return IM_COL32(c.red(), c.green(), c.blue(), static_cast<int>(255 * alpha));
}

}  // namespace stormcell::views
