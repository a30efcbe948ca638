// Mouse, wheel and keys of the view of cells.
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "views/cells/cells_picture.h"

namespace stormcell::views {

bool CellsPicture::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    auto* help = static_cast<QHelpEvent*>(event);
    if (const auto at = hit(help->pos()))
      QToolTip::showText(
          help->globalPos(),
          describe(*columns_[at->column].page, columns_[at->column].shown, at->line, static_cast<size_t>(at->chip)),
          this);
    else
      QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

void CellsPicture::resizeEvent(QResizeEvent*) {
  laid_out_ = true;
  forget_layout();
  if (wanted_ >= 0) make_visible(wanted_);
  emit scrolled_to(scroll_.sequence);
}

void CellsPicture::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange) {
    widths_.clear();
    forget_layout();
  }
  QWidget::changeEvent(event);
}

void CellsPicture::wheelEvent(QWheelEvent* event) {
  scroll_by(event->pixelDelta().isNull() ? -event->angleDelta().y() * 0.6 : -event->pixelDelta().y());
  event->accept();
}

void CellsPicture::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  for (size_t b = 0; b < legend_.size(); ++b)
    if (legend_[b].contains(event->position())) {
      // A second click on the branch that is looked at lets go of it.
      const bool again = !columns_.empty() && columns_[0].shown.options.branch == static_cast<int>(b);
      emit branch_picked(again ? -1 : static_cast<int>(b));
      return;
    }
  if (const auto at = hit(event->position()))
    emit cell_picked(place_of(*at));
  else if (text_area().contains(event->position()) && cell_)
    emit cell_picked(std::nullopt);
}

void CellsPicture::mouseMoveEvent(QMouseEvent* event) {
  if (const auto at = hit(event->position()); at != hovered_) {
    hovered_ = at;
    update();
  }
}

void CellsPicture::leaveEvent(QEvent*) {
  hovered_.reset();
  update();
}

/// Moves along the text by chips, or to the row above or below; at the end into the next sequence.
void CellsPicture::move_cell(int chips, int rows) {
  const auto now = selected(0);
  if (!now) {
    const auto all = blocks();
    for (const Block& b : all)
      if (b.column == 0 && !columns_[0].shown.lines[b.line].chips.empty())
        return emit cell_picked(place_of({0, b.line, 0}));
    return;
  }
  const auto& lines = columns_[0].shown.lines;
  const auto count_of = [&](size_t line) { return static_cast<int>(lines[line].chips.size()); };
  const auto beside = [&](int steps) -> std::optional<size_t> {
    const int64_t number = number_of(lines[now->line].sequence) + steps;
    return number < 0 || number >= count() ? std::nullopt : line_of(0, sequence_at(number));
  };
  Hit to = *now;
  if (rows != 0) {
    const int neighbour = layout(0, now->line).neighbour(now->chip, rows);
    if (neighbour >= 0) return emit cell_picked(place_of({0, now->line, neighbour}));
    const auto line = beside(rows * across());
    if (!line || count_of(*line) == 0) return;
    to.line = *line;
    // Goes to the first or last row of the neighbouring sequence, at the same horizontal place.
    const LineLayout& there = layout(0, to.line);
    const int row = rows > 0 ? 0 : there.row.back();
    const double x = layout(0, now->line).chips[now->chip].center().x();
    to.chip = -1;
    for (int c = 0; c < count_of(to.line); ++c) {
      const auto distance = [&](int chip) { return std::abs(there.chips[chip].center().x() - x); };
      if (there.row[c] == row && (to.chip < 0 || distance(c) < distance(to.chip))) to.chip = c;
    }
    return emit cell_picked(place_of(to));
  }
  to.chip += chips;
  if (to.chip < 0 || to.chip >= count_of(to.line)) {
    const auto line = beside(to.chip < 0 ? -1 : 1);
    if (!line || count_of(*line) == 0) return;
    to.line = *line;
    to.chip = chips < 0 ? count_of(to.line) - 1 : 0;
  }
  emit cell_picked(place_of(to));
}

void CellsPicture::keyPressEvent(QKeyEvent* event) {
  if (columns_.empty()) return;
  switch (event->key()) {
    case Qt::Key_Left:
      return move_cell(-1, 0);
    case Qt::Key_Right:
      return move_cell(1, 0);
    case Qt::Key_Up:
      return move_cell(0, -1);
    case Qt::Key_Down:
      return move_cell(0, 1);
    case Qt::Key_PageUp:
      return scroll_by(-text_area().height() * 0.9);
    case Qt::Key_PageDown:
      return scroll_by(text_area().height() * 0.9);
    case Qt::Key_Home:
      return show_sequence(first_);
    case Qt::Key_End:
      return show_sequence(end_ - 1);
    case Qt::Key_Escape:
      return emit cell_picked(std::nullopt);
    default:
      return QWidget::keyPressEvent(event);
  }
}

}  // namespace stormcell::views
