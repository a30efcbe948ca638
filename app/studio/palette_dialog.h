// The command palette: type a few letters of what you want, Enter does it.
#pragma once
#include <QDialog>

#include "app/studio/actions.h"

class QLineEdit;
class QListWidget;

namespace stormcell::studio {

class PaletteDialog : public QDialog {
  Q_OBJECT
 public:
  PaletteDialog(Actions& actions, QWidget* parent);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void filter(const QString& typed);
  void choose();
  Actions& actions_;
  QLineEdit* line_;
  QListWidget* list_;
};

/// All keys in a table.
QDialog* make_keys_dialog(const Actions& actions, QWidget* parent);

}  // namespace stormcell::studio
