// The font of pictures: compiled in, so that a picture looks the same on every machine.
#pragma once
#include <QFont>

namespace stormcell::views {

/// DejaVu Sans, from Debian's package at build; the system's font if the build found none.
QFont picture_font();

}  // namespace stormcell::views
