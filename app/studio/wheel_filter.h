// The wheel over a control scrolls the page below it, and changes the control only once that was clicked.
#pragma once
#include <QEvent>
#include <QObject>
#include <QWidget>

namespace stormcell::studio {

class WheelFilter : public QObject {
 public:
  explicit WheelFilter(QWidget* control) : QObject(control) {
    control->setFocusPolicy(Qt::StrongFocus);
    control->installEventFilter(this);
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    const auto* control = qobject_cast<QWidget*>(object);
    if (!control || event->type() != QEvent::Wheel || control->hasFocus()) return QObject::eventFilter(object, event);
    event->ignore();  // it goes on to the page
    return true;
  }
};

}  // namespace stormcell::studio
