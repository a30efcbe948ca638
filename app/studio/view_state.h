// Settings of a view's controls, as names and texts, so that a command can set them again.
#pragma once
#include <QList>
#include <QPair>
#include <QString>

#include "views/frame/view.h"

namespace stormcell::studio {

/// Accessible name of a control and its value: the text of a list, "on" or "off", a number.
using ControlState = QPair<QString, QString>;

/// All controls of the view that a command can set.
QList<ControlState> control_states(const views::View& view);
/// The controls that differ from those of a new view.
QList<ControlState> changed_controls(const views::View& view, const views::ViewEntry& entry);
/// Throws Error(bad_input) if the view has no such control, or it cannot have this value.
void set_control(views::View& view, const ControlState& state);

/// Options of --export for the selected part of the run; empty without a selection.
QStringList selection_words(const views::Selection& selection);

}  // namespace stormcell::studio
