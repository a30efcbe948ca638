#include "views/frame/flow_layout.h"

#include <QLabel>
#include <QSpacerItem>
#include <algorithm>

namespace stormcell::views {
namespace {

bool is_stretch(QLayoutItem* item) { return item->spacerItem() != nullptr; }

/// True if `item` is the label of `next`.
bool is_label_of(QLayoutItem* item, QLayoutItem* next) {
  const auto* label = qobject_cast<QLabel*>(item->widget());
  return label && label->buddy() && label->buddy() == next->widget();
}

int height_of(const QList<QLayoutItem*>& group) {
  int height = 0;
  for (const QLayoutItem* item : group) height = std::max(height, item->sizeHint().height());
  return height;
}

}  // namespace

FlowLayout::~FlowLayout() { qDeleteAll(items_); }

void FlowLayout::add_stretch() { addItem(new QSpacerItem(0, 0, QSizePolicy::Expanding, QSizePolicy::Minimum)); }

QList<FlowLayout::Group> FlowLayout::groups() const {
  QList<Group> all;
  QLayoutItem* before = nullptr;
  for (QLayoutItem* item : items_) {
    if (item->isEmpty() && !is_stretch(item)) continue;
    if (before && is_label_of(before, item))
      all.last() << item;
    else
      all << Group{item};
    before = item;
  }
  return all;
}

int FlowLayout::width_of(const Group& group) const {
  int width = static_cast<int>(group.size() - 1) * spacing();
  for (const QLayoutItem* item : group) width += item->sizeHint().width();
  return width;
}

QList<FlowLayout::Row> FlowLayout::rows_for(int width) const {
  QList<Row> rows;
  int used = 0;
  for (const Group& group : groups()) {
    const int needed = width_of(group);
    if (rows.isEmpty() || (used > 0 && used + spacing() + needed > width)) {
      // A stretch at the end of a full row has nothing to push.
      if (!rows.isEmpty() && is_stretch(group.first())) continue;
      rows << Row();
      used = 0;
    }
    used += needed + (used > 0 ? spacing() : 0);
    rows.last().groups << group;
    rows.last().height = std::max(rows.last().height, height_of(group));
  }
  return rows;
}

void FlowLayout::place_row(const Row& row, const QRect& area) const {
  int used = -spacing(), stretches = 0;
  for (const Group& group : row.groups) {
    used += width_of(group) + spacing();
    stretches += is_stretch(group.first());
  }
  const int left_over = stretches > 0 ? std::max(0, area.width() - used) / stretches : 0;
  int x = area.left();
  for (const Group& group : row.groups)
    for (QLayoutItem* item : group) {
      const QSize size = item->sizeHint().boundedTo({area.width(), row.height});
      if (is_stretch(item))
        x += left_over;
      else
        item->setGeometry({QPoint(x, area.top() + (row.height - size.height()) / 2), size});
      x += size.width() + spacing();
    }
}

int FlowLayout::heightForWidth(int width) const {
  const QMargins margins = contentsMargins();
  int height = -spacing();
  for (const Row& row : rows_for(width - margins.left() - margins.right())) height += row.height + spacing();
  return std::max(0, height) + margins.top() + margins.bottom();
}

void FlowLayout::setGeometry(const QRect& area) {
  QLayout::setGeometry(area);
  const QRect inside = area.marginsRemoved(contentsMargins());
  int y = inside.top();
  for (const Row& row : rows_for(inside.width())) {
    place_row(row, {inside.left(), y, inside.width(), row.height});
    y += row.height + spacing();
  }
}

QSize FlowLayout::sizeHint() const {
  QSize size(-spacing(), 0);
  for (const Group& group : groups())
    size = {size.width() + width_of(group) + spacing(), std::max(size.height(), height_of(group))};
  return size.expandedTo({0, 0}).grownBy(contentsMargins());
}

QSize FlowLayout::minimumSize() const {
  QSize size(0, 0);
  for (const QLayoutItem* item : items_)
    if (!item->isEmpty()) size = size.expandedTo(item->minimumSize());
  return size.grownBy(contentsMargins());
}

}  // namespace stormcell::views
