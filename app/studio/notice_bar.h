// A bar above the views that reports an error or a stop, until it is closed or something new is opened. The rest of the
// window stays usable.
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
  /// Shows the outcome of a command, and the next step.
  void show_fact(const QString& message);
  QString message() const;  ///< empty: nothing is on show

 private:
  void show_text(const QString& message, int icon);
  QLabel *sign_, *text_;
};

}  // namespace stormcell::studio
