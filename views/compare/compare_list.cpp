#include "views/compare/compare_list.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "views/compare/compare_painter.h"

namespace stormcell::views {

CompareList::CompareList(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  setAccessibleName(tr("Figures of two runs; the table holds the same figures"));
}

void CompareList::set_model(CompareModel model, const CompareFilter& filter) {
  lines_.clear();  // they point into the old model
  model_ = std::move(model);
  set_filter(filter);
}

void CompareList::set_filter(const CompareFilter& filter) {
  lines_ = make_lines(model_, filter);
  current_ = hovered_ = -1;
  update_range();
  viewport()->update();
}

CompareGeometry CompareList::geometry_now() const {
  return {QSizeF(viewport()->size()), QFontMetricsF(font()).height(), 1 + static_cast<int>(model_.warnings.size()),
          static_cast<int>(lines_.size()), static_cast<double>(verticalScrollBar()->value())};
}

void CompareList::update_range() {
  const CompareGeometry g = geometry_now();
  verticalScrollBar()->setRange(0, static_cast<int>(g.most_scrolled()));
  verticalScrollBar()->setPageStep(static_cast<int>(g.body().height()));
  verticalScrollBar()->setSingleStep(static_cast<int>(g.line_height()));
}

void CompareList::paintEvent(QPaintEvent*) {
  QPainter p(viewport());
  const Theme& theme = Theme::of(palette());
  p.fillRect(viewport()->rect(), theme.background);
  p.setFont(font());
  paint_compare(p, model_, lines_, geometry_now(), theme, current_, hovered_);
}

void CompareList::resizeEvent(QResizeEvent*) { update_range(); }

void CompareList::choose(int line, int direction) {
  const int count = static_cast<int>(lines_.size());
  line = std::clamp(line, 0, std::max(0, count - 1));
  while (line >= 0 && line < count && !lines_[line].row) line += direction;
  if (line < 0 || line >= count) return;
  current_ = line;
  const CompareRow& row = *lines_[line].row;
  setAccessibleDescription(tr("%1: reference %2, this run %3, difference %4, %5")
                               .arg(row.name, row.a, row.b, row.difference, text_of(row.meaning)));
  const CompareGeometry g = geometry_now();
  QScrollBar* bar = verticalScrollBar();
  if (g.line(line).top() < g.body().top())
    bar->setValue(static_cast<int>(bar->value() - (g.body().top() - g.line(line).top()) - g.line_height()));
  if (g.line(line).bottom() > g.body().bottom())
    bar->setValue(static_cast<int>(bar->value() + g.line(line).bottom() - g.body().bottom()) + 1);
  viewport()->update();
  if (!row.router.isEmpty()) emit picked(row.router, row.branch);
}

void CompareList::keyPressEvent(QKeyEvent* event) {
  const int page = std::max(1, static_cast<int>(geometry_now().body().height() / geometry_now().line_height()) - 1);
  switch (event->key()) {
    case Qt::Key_Down:
      return choose(current_ + 1, 1);
    case Qt::Key_Up:
      return choose(current_ - 1, current_ <= 1 ? 1 : -1);
    case Qt::Key_PageDown:
      return choose(current_ + page, 1);
    case Qt::Key_PageUp:
      return choose(std::max(0, current_ - page), 1);
    case Qt::Key_Home:
      return choose(0, 1);
    case Qt::Key_End:
      return choose(static_cast<int>(lines_.size()) - 1, -1);
    default:
      return QAbstractScrollArea::keyPressEvent(event);
  }
}

void CompareList::mousePressEvent(QMouseEvent* event) {
  if (const int line = geometry_now().at(event->position()); line >= 0 && lines_[line].row) choose(line, 1);
}

void CompareList::mouseMoveEvent(QMouseEvent* event) {
  if (const int line = geometry_now().at(event->position()); line != hovered_) {
    hovered_ = line;
    viewport()->update();
  }
}

bool CompareList::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    hovered_ = -1;
    viewport()->update();
  }
  if (event->type() == QEvent::ToolTip) {
    auto* help = static_cast<QHelpEvent*>(event);
    const int line = geometry_now().at(help->pos());
    if (line >= 0 && lines_[line].row)
      QToolTip::showText(help->globalPos(), lines_[line].row->tip, viewport());
    else
      QToolTip::hideText();
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace stormcell::views
