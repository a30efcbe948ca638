// Two tries of one recording beside each other: what each does to the choices. A try is no run, so there are no times,
// answers or quality to compare (docs/decisions/084-tries-of-a-recording.md).
#pragma once
#include "app/studio/recorded_tries.h"
#include "views/frame/table.h"

class QDialog;
class QWidget;

namespace stormcell::studio {

/// The change of a try in a line: "first/1 off, k 2", "as it was recorded"
QString headline_of(const RecordedTry& one);
/// Rows: tokens that take other branches, then of each router the changed choices and the largest load (a multiple of
/// the even share), then the choices of each branch that the two tries load differently. Columns: figure, first, second,
/// second less first. Both tries are of the same recording; one may be the recording as it is.
views::Table compare_tries(const RecordedTry& first, const RecordedTry& second);
/// Shows the table. Its owner destroys it, or it goes when it is closed.
QDialog* make_comparison_dialog(const RecordedTry& first, const RecordedTry& second, QWidget* parent);

}  // namespace stormcell::studio
