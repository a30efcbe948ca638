#include "app/studio/flow_layout.h"

#include <algorithm>

namespace stormcell::studio {

FlowLayout::~FlowLayout() { qDeleteAll(items_); }

void FlowLayout::setGeometry(const QRect& area) {
  QLayout::setGeometry(area);
  place(area, true);
}

QSize FlowLayout::sizeHint() const {
  QSize size(0, 0);
  for (const QLayoutItem* item : items_) {
    const QSize hint = item->sizeHint();
    size = {size.width() + hint.width() + (size.isEmpty() ? 0 : spacing()), std::max(size.height(), hint.height())};
  }
  return size;
}

QSize FlowLayout::minimumSize() const {
  QSize size(0, 0);
  for (const QLayoutItem* item : items_) size = size.expandedTo(item->minimumSize());
  return size;
}

int FlowLayout::place(const QRect& area, bool move) const {
  int x = area.left(), y = area.top(), row = 0;
  for (QLayoutItem* item : items_) {
    const QSize size = item->sizeHint();
    if (x > area.left() && x + size.width() > area.right() + 1) x = area.left(), y += row + spacing(), row = 0;
    if (move) item->setGeometry({QPoint(x, y), size.boundedTo({area.width(), size.height()})});
    x += size.width() + spacing();
    row = std::max(row, size.height());
  }
  return y + row - area.top();
}

}  // namespace stormcell::studio
