// What a person has set in a view's controls, as names and texts, so that a command can set it again.
#pragma once
#include <QList>
#include <QPair>
#include <QString>

#include "views/frame/view.h"

namespace stormcell::studio {

/// A control by its accessible name, and what it stands at: the text of a list, "on" or "off", a number.
using ControlState = QPair<QString, QString>;

/// All controls of the view that a command can set, as they stand.
QList<ControlState> control_states(const views::View& view);
/// Those that stand otherwise than in a view that was just made.
QList<ControlState> changed_controls(const views::View& view, const views::ViewEntry& entry);
/// Throws Error(bad_input) where the view has no such control, or it cannot stand so.
void set_control(views::View& view, const ControlState& state);

/// Options of --export for what of the run is selected; empty where nothing is.
QStringList selection_words(const views::Selection& selection);

}  // namespace stormcell::studio
