// Pictures without a window.
#pragma once
#include <QSize>
#include <QString>
#include <chrono>

#include "app/studio/background.h"
#include "app/studio/view_state.h"
#include "core/readings/selected_view.h"

namespace stormcell::studio {

struct ExportRequest {
  QString view;
  QString file;  ///< .png, .svg, or .csv for the figures
  QString session;
  QString other;  ///< a session or a trace to compare with, empty: none
  QList<ControlState> controls;
  views::Selection selection;
  QSize size{1600, 1000};
  double scale = 1;
  std::chrono::milliseconds patience = std::chrono::minutes(5);  ///< for all that has to be read
  bool window = false;  ///< the whole window, with the panel What if beside the view
};
/// Writes one view of a session, or its figures, to a file. For kModelView it is the page of a model, which `session`
/// then names. Returns the exit code; an error is one line on stderr.
int export_view(const ExportRequest& request);

/// Throws Error(bad_input) if `selection` names something that the run does not have; the error lists what it has.
/// Cells are not checked.
void check_selection(const std::string& file, const SelectionChoices& choices, const views::Selection& selection);
/// Shows the wanted state in `view`, in as many readings as it takes: controls may come with the data, and their values
/// may need other data. Throws Error for a control that cannot have its value, for data that cannot be read, and if it
/// takes longer than `patience`.
void settle(views::View& view, Background& background, const views::Context& context, views::Selection selection,
            const QList<ControlState>& controls, std::chrono::milliseconds patience);

}  // namespace stormcell::studio
