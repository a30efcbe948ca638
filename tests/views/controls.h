// A view's controls, as a reader of the screen finds them.
#pragma once
#include <QString>
#include <QWidget>

namespace stormcell::testing {

/// The control of this kind that is called so; null: there is none.
template <class Control>
Control* control_of(const QWidget& view, const QString& name) {
  for (Control* control : view.findChildren<Control*>())
    if (control->accessibleName() == name) return control;
  return nullptr;
}

}  // namespace stormcell::testing
