// A bar above the views that says what went wrong or was stopped, until it is put away or something new is opened. The
// rest of the window goes on.
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
  /// Something happened because somebody wanted it, and what to do next.
  void show_fact(const QString& message);
  QString message() const;  ///< empty: nothing is on show

 private:
  void show_text(const QString& message, int icon);
  QLabel *sign_, *text_;
};

}  // namespace stormcell::studio
