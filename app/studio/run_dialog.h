// Model, data and session of a new run.
#pragma once
#include <QDialog>

#include "app/studio/run_controller.h"

class QCheckBox;
class QComboBox;
class QDialogButtonBox;
class QLineEdit;
class QSpinBox;

namespace stormcell::studio {

class RunDialog : public QDialog {
  Q_OBJECT
 public:
  /// `model` may be empty: it is asked for.
  RunDialog(const QString& model, QWidget* parent);
  RunRequest request() const;
  QString session() const;

 private:
  QLineEdit* path_line(const QString& name, const QString& placeholder, bool folder, bool save);
  void check();

  QLineEdit *model_, *data_, *session_, *label_;
  QSpinBox *batch_, *batches_, *new_tokens_, *time_limit_;
  QComboBox* phase_;
  QCheckBox *by_length_, *inputs_;
  QDialogButtonBox* buttons_;
};

}  // namespace stormcell::studio
