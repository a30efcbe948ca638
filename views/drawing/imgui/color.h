// Colours as Dear ImGui's draw lists take them.
#pragma once

class QColor;

namespace stormcell::views {

/// An ImU32.
unsigned int color(const QColor& c, double alpha = 1);

}  // namespace stormcell::views
