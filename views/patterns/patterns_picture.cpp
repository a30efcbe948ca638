#include "views/patterns/patterns_picture.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "views/words/figure_text.h"

namespace stormcell::views {

PatternsPicture::PatternsPicture(QWidget* parent) : PagePicture(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 200);
  setAccessibleName(tr("Figures that papers publish; the table holds the same figures"));
}

void PatternsPicture::set_page(PatternPage page) {
  page_ = std::move(page);
  hovered_.reset(), layout_.reset();
  setAccessibleDescription(page_.title);
  update();
}

const PatternGeometry& PatternsPicture::geometry_now() const {
  if (!layout_) {
    const QFontMetricsF metrics(font());
    double widest = 0;
    if (page_.map.rows.empty()) {
      for (const double mark : marks_of(range_of(page_)))
        widest = std::max(widest, metrics.horizontalAdvance(page_.shares ? percent_text(mark) : number_text(mark)));
    }
    for (const QString& name : page_.map.rows) widest = std::max(widest, metrics.horizontalAdvance(name));
    const auto columns = page_.map.rows.empty() ? page_.places.size() : page_.map.columns.size();
    layout_.emplace(PatternShape{QSizeF(size()), metrics.height(), widest, static_cast<int>(page_.map.rows.size()),
                                 static_cast<int>(columns)});
  }
  return *layout_;
}

void PatternsPicture::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  p.fillRect(rect(), theme.background);
  p.setFont(font());
  paint_pattern_page(p, page_, geometry_now(), hovered_, theme);
}

QString PatternsPicture::words_at(PatternSpot spot) const {
  if (!page_.hint.isEmpty()) return {};
  if (!page_.map.rows.empty()) {
    const auto& square = page_.map.squares[page_.map.index(spot.row, spot.column)];
    if (!square) return tr("%1, %2: no cell").arg(page_.map.rows[spot.row], page_.map.columns[spot.column]);
    return square->beyond ? square->words : tr("%1 (within chance)").arg(square->words);
  }
  QStringList lines;
  for (size_t i = 0; i < page_.lines.size(); ++i) lines << line_words(page_, i, static_cast<size_t>(spot.column));
  lines.removeAll(QString());
  return lines.join('\n');
}

QString PatternsPicture::tip(QPointF place) const {
  if (const auto spot = geometry_now().spot_at(place)) return words_at(*spot);
  if (geometry_now().title.contains(place)) return page_.title;
  return {};
}

void PatternsPicture::hover(std::optional<PatternSpot> spot) {
  if (spot == hovered_ || !page_.hint.isEmpty()) return;
  hovered_ = spot;
  update();
}

void PatternsPicture::mouseMoveEvent(QMouseEvent* event) { hover(geometry_now().spot_at(event->position())); }

void PatternsPicture::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !page_.hint.isEmpty()) return;
  const auto spot = geometry_now().spot_at(event->position());
  if (!spot) return;
  hover(spot);
  emit picked(*spot);
}

void PatternsPicture::leaveEvent(QEvent*) { hover({}); }

void PatternsPicture::keyPressEvent(QKeyEvent* event) {
  const PatternShape& shape = geometry_now().shape;
  if (shape.columns == 0 || !page_.hint.isEmpty()) return QWidget::keyPressEvent(event);
  PatternSpot to = hovered_.value_or(PatternSpot{});
  switch (event->key()) {
    case Qt::Key_Up:
      --to.row;
      break;
    case Qt::Key_Down:
      ++to.row;
      break;
    case Qt::Key_Left:
      --to.column;
      break;
    case Qt::Key_Right:
      ++to.column;
      break;
    case Qt::Key_Return:
    case Qt::Key_Space:
      return emit picked(to);
    default:
      return QWidget::keyPressEvent(event);
  }
  to = {std::clamp(to.row, 0, std::max(0, shape.rows - 1)), std::clamp(to.column, 0, shape.columns - 1)};
  hover(to);
  setAccessibleDescription(words_at(to));
}

}  // namespace stormcell::views
