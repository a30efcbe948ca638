// Pictures without a window.
#pragma once
#include <QSize>
#include <QString>

#include "app/studio/view_state.h"

namespace stormcell::studio {

struct ExportRequest {
  QString view;
  QString file;  ///< .png, .svg, or .csv for the figures
  QString session;
  QString other;  ///< a session to compare with, empty: none
  QList<ControlState> controls;
  views::Selection selection;
  QSize size{1600, 1000};
  double scale = 1;
};
/// Writes one view of a session, or its figures, to a file. Returns the exit code; what is wrong stands on stderr in one line.
int export_view(const ExportRequest& request);

}  // namespace stormcell::studio
