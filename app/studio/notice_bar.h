// What went wrong, above the views, until it is put away or something new is opened. The rest of the window goes on.
#pragma once
#include <QFrame>
#include <QString>

class QLabel;

namespace stormcell::studio {

class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);
  void show_fault(const QString& message);
  QString message() const;  ///< empty: nothing is on show

 private:
  QLabel* text_;
};

}  // namespace stormcell::studio
