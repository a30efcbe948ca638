#include "views/exits/exits_picture.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>

namespace stormcell::views {

ExitsPicture::ExitsPicture(QWidget* parent) : PagePicture(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 200);
  setAccessibleName(tr("Early exits; left and right choose a threshold, the table holds the same figures"));
}

void ExitsPicture::set_page(ExitsPage page) {
  layout_.reset();
  page_ = std::move(page);
  marks_.point = 0;
  marks_.hovered.reset();
  drags_ = false;
  tell();
}

void ExitsPicture::set_point(size_t point) {
  if (point >= page_.points.size()) return;
  marks_.point = point;
  tell();
}

void ExitsPicture::set_selected(std::optional<int64_t> sequence, const QString& label) {
  marks_.chosen = sequence;
  marks_.label = label.isEmpty() ? std::nullopt : std::optional(label);
  update();
}

void ExitsPicture::tell() {
  if (!page_.points.empty()) setAccessibleDescription(page_.headline + ". " + describe(page_, marks_.point));
  update();
}

const ExitsLayout& ExitsPicture::layout_of_page() const {
  if (!layout_) {
    const QFontMetricsF metrics(font());
    layout_ = std::make_unique<ExitsLayout>(page_, QSizeF(size()), metrics.height(), metrics.horizontalAdvance('0'));
  }
  return *layout_;
}

void ExitsPicture::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  p.fillRect(rect(), theme.background);
  if (!page_.points.empty()) paint_exits(p, page_, layout_of_page(), marks_, theme);
}

QString ExitsPicture::tip(QPointF place) const {
  if (page_.points.empty()) return {};
  const ExitsLayout& layout = layout_of_page();
  if (const auto item = layout.item_at(place)) return describe(page_, page_.gallery[*item]);
  if (const auto point = layout.point_near(place))
    return tr("%1. Replayed on the scores of one run in which all went through the whole network; operations are "
              "counted.")
        .arg(describe(page_, *point));
  for (size_t e = 0; e < page_.exits.size(); ++e)
    if (layout.bar(e).contains(place) && e < page_.costs.size())
      return tr("%1: answering there takes %2 % %3; counted")
          .arg(page_.exits[e])
          .arg(100 * page_.costs[e], 0, 'f', 1)
          .arg(with_plan(page_, tr("of the operations of the whole network")));
  return {};
}

void ExitsPicture::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || page_.points.empty()) return;
  if (const auto item = layout_of_page().item_at(event->position()))
    return emit item_picked(page_.gallery[*item].sequence);
  if (const auto point = layout_of_page().point_near(event->position())) {
    drags_ = true;
    emit point_wanted(static_cast<int>(*point));
  }
}

void ExitsPicture::mouseMoveEvent(QMouseEvent* event) {
  if (page_.points.empty()) return;
  const auto point = layout_of_page().point_near(event->position());
  if (drags_ && point && *point != marks_.point) emit point_wanted(static_cast<int>(*point));
  if (point == marks_.hovered) return;
  marks_.hovered = point;
  update();
}

void ExitsPicture::mouseReleaseEvent(QMouseEvent*) { drags_ = false; }

void ExitsPicture::leaveEvent(QEvent*) {
  marks_.hovered.reset();
  update();
}

void ExitsPicture::keyPressEvent(QKeyEvent* event) {
  if (!page_.has_curve()) return QWidget::keyPressEvent(event);
  const auto last = static_cast<int>(page_.points.size()) - 1, now = static_cast<int>(marks_.point);
  switch (event->key()) {
    case Qt::Key_Left:
      return emit point_wanted(now == 0 ? last : std::max(1, now - 1));
    case Qt::Key_Right:
      return emit point_wanted(std::min(last, now + 1));
    case Qt::Key_Home:
    case Qt::Key_Escape:
      return emit point_wanted(0);
    default:
      return QWidget::keyPressEvent(event);
  }
}

}  // namespace stormcell::views
