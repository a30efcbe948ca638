// Pictures without a window.
#pragma once
#include <QSize>
#include <QString>

namespace stormcell::studio {

struct ExportRequest {
  QString view, file, session;
  QString other;  ///< a session to compare with, empty: none
  QSize size{1600, 1000};
  double scale = 1;
};
/// Writes one view of a session to a file. Returns the exit code; what is wrong stands on stderr in one line.
int export_view(const ExportRequest& request);

}  // namespace stormcell::studio
