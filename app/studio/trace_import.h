// Traces of other systems into a session of their own.
#pragma once
#include <QString>
#include <QStringList>
#include <optional>

#include "core/imports/import.h"

namespace stormcell::studio {

/// The ids of the formats that are read, with commas between.
QString trace_format_ids();
/// Usual ends of traces' names, each once: for dialogs, and to tell a dropped or named trace from a session.
QStringList trace_suffixes();

struct ImportResult {
  QString session;                       ///< empty: stopped before anything was read
  std::optional<ImportFigures> figures;  ///< nothing: stopped; the part that was read is in the session
};
/// Imports into a new session beside the first trace, or in the home folder if that folder is read-only. Throws Error.
/// May block.
ImportResult import_into_new_session(const QStringList& traces, const Progress& progress);

}  // namespace stormcell::studio
