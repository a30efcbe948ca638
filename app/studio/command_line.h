// Commands for a shell that do the same as the window.
#pragma once
#include <QString>
#include <QStringList>

#include "core/experiment/experiment.h"
#include "core/readings/session_view.h"

namespace stormcell::studio {

/// Quotes a word so that a shell takes it as one.
QString shell_quoted(const QString& word);
/// The command `stormcell optimize MODEL --data ...` that repeats a run with its settings. Empty settings give an empty
/// text. `time_limit`: seconds; 0: none.
QString command_of(const std::string& settings, const QString& session, const PassSelection& passes = {},
                   double time_limit = 0);
/// The time limit that the run had, in seconds; 0: none.
double time_limit_of(const RunLine& run);
/// `other`: the session that views compare with, empty: none; `how`: further options, quoted.
QString export_command(const QString& view, const QString& file, const QString& session, const QString& other = {},
                       const QStringList& how = {});

}  // namespace stormcell::studio
