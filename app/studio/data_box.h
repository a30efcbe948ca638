// The box for the data of a run: text is typed into it, a dropped file or folder is named in it.
#pragma once
#include <QPlainTextEdit>

namespace stormcell::studio {

class DataBox : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit DataBox(QWidget* parent = nullptr);

 signals:
  /// Ctrl+Enter was pressed.
  void run_wanted();

 protected:
  bool canInsertFromMimeData(const QMimeData* source) const override;
  void insertFromMimeData(const QMimeData* source) override;
  void keyPressEvent(QKeyEvent* event) override;
};

}  // namespace stormcell::studio
