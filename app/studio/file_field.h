// A line for a file's name, and a button that asks for the file.
#pragma once
#include <QString>

class QLineEdit;
class QWidget;

namespace stormcell::studio {

/// A row of `line` and the button. A file that was chosen is taken as if it had been typed. `filter`: as QFileDialog
/// has it.
QWidget* make_file_field(QLineEdit* line, const QString& filter);

}  // namespace stormcell::studio
