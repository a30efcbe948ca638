// The command line of the window.
#pragma once
#include <QString>
#include <QStringList>
#include <optional>

#include "app/studio/headless.h"

namespace stormcell::studio {

struct Options {
  QStringList sessions;
  QString theme;                         ///< light, dark or system; empty: as it was
  bool fresh = false;                    ///< does not reopen the last session
  std::optional<ExportRequest> picture;  ///< is written instead of opening a window
};
/// Prints help, the version or the views if asked for, and ends the program. Throws Error(bad_input) for invalid
/// arguments. `headless`: the arguments ask for a picture.
Options parse_options(const QStringList& arguments, bool headless);

}  // namespace stormcell::studio
