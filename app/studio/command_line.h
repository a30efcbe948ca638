// What the window does, as a command for a shell.
#pragma once
#include <QString>
#include <QStringList>

#include "app/studio/run_controller.h"
#include "core/readings/session_view.h"

namespace stormcell::studio {

/// A word that a shell takes as one.
QString shell_quoted(const QString& word);
/// `stormcell optimize MODEL --data ...` that does what the run's settings say. Empty settings: empty.
QString command_of(const std::string& settings, const QString& session, const PassSelection& passes = {});
/// `other`: the session that views compare with, empty: none; `how`: further options, quoted.
QString export_command(const QString& view, const QString& file, const QString& session, const QString& other = {},
                       const QStringList& how = {});

}  // namespace stormcell::studio
