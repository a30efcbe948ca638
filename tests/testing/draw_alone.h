// A view's picture drawn at a size of its own, whatever room the row of controls wants.
#pragma once
#include <memory>

#include "tests/testing/golden.h"
#include "views/kit/view.h"

namespace stormcell::testing {

/// The view has no picture any more afterwards.
inline QImage draw_alone(views::View& view, const QSize& size, double scale = 1) {
  const QPalette palette = view.palette();
  const std::unique_ptr<QWidget> picture(view.picture());
  picture->setParent(nullptr);
  picture->setPalette(palette);
  return draw(*picture, size, scale);
}

}  // namespace stormcell::testing
