// Why something cannot be done, below the controls of a panel. Its lines have their room whether there is a fault or not,
// so that no control moves when one comes.
#pragma once
#include <QLabel>

namespace stormcell::studio {

class FaultLine : public QLabel {
  Q_OBJECT
 public:
  explicit FaultLine(QWidget* parent = nullptr);
  /// Empty: none. All of it is in the tip, since there may be more lines than room.
  void show_fault(const QString& message);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void reserve_room();
};

}  // namespace stormcell::studio
