// Dotted paths of figures as a person reads them: their section, name, unit and definition. Pure.
#pragma once
#include <QString>

namespace stormcell::views {

struct FigureName {
  QString section, name, definition;
  int rank = 0;  ///< of the section: latency first, the machine last
  QString router;
  int branch = -1;
  QString (*text)(double) = nullptr;
  bool relative = true;  ///< a difference in percent says something
};
FigureName name_of(const QString& path);

}  // namespace stormcell::views
