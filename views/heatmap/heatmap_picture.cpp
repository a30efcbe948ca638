#include "views/heatmap/heatmap_picture.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "views/drawing/margin.h"

namespace stormcell::views {
namespace {
constexpr double kScaleHeight = 36;
}

HeatmapPicture::HeatmapPicture(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 200);
  setAccessibleName(tr("Routing heatmap; the table holds the same figures"));
}

void HeatmapPicture::set_panels(std::vector<Panel> panels, std::vector<RouterOverTime> over_time, size_t routers) {
  panels_ = std::move(panels);
  routers_ = routers;
  over_time_.clear();
  for (RouterOverTime& t : over_time) {
    QImage tones = tone_image(t, Theme::of(palette()));
    over_time_.push_back({std::move(t), std::move(tones)});
  }
  labels_ = -1;
  hovered_.reset();
  update();
}

void HeatmapPicture::set_trail_text(const QString& text) {
  trail_text_ = text;
  update();
}

void HeatmapPicture::set_part_text(const QString& text) {
  part_text_ = text;
  setAccessibleDescription(text);
  update();
}

void HeatmapPicture::set_selected(const QString& router, int branch) {
  router_ = router, branch_ = branch;
  update();
}

void HeatmapPicture::reset_zoom() {
  window_ = {0, 0, 1e9, 1e9};
  update();
}

double HeatmapPicture::labels() const {
  if (panels_.empty()) return 0;
  if (labels_ < 0) labels_ = label_width(QFontMetricsF(font()), panels_[0].matrix);
  return std::min(labels_, width() * 0.28);
}

QRectF HeatmapPicture::bounds(size_t panel) const {
  // Room below the map: its scale, and routers over time if any are shown.
  const double below = kScaleHeight + (over_time_.empty() ? 0 : std::clamp(height() * 0.38, 90.0, 340.0));
  const double count = std::max<size_t>(1, panels_.size()), each = (width() - kMargin * (count + 1)) / count;
  const double top = kMargin + (panels_.size() > 1 ? fontMetrics().height() + 4 : 0) + head();
  return {kMargin + static_cast<double>(panel) * (each + kMargin), top, each, height() - top - below - kMargin};
}

double HeatmapPicture::head() const {
  const int lines = static_cast<int>(!part_text_.isEmpty()) + static_cast<int>(!trail_text_.isEmpty());
  return lines * (fontMetrics().height() + 6.0);
}

HeatGeometry HeatmapPicture::geometry(size_t panel) const {
  const HeatMatrix& m = panels_[panel].matrix;
  const int rows = static_cast<int>(m.rows.size());
  return {rows, m.columns,
          heat_area(bounds(panel), labels(), fontMetrics().height() + 6.0, rows,
                    over_time_.empty() ? BelowMap::nothing : BelowMap::routers_over_time),
          window_};
}

std::optional<std::pair<size_t, HeatCell>> HeatmapPicture::at(QPointF point) const {
  for (size_t i = 0; i < panels_.size(); ++i)
    if (const auto cell = geometry(i).at(point);
        cell && cell->column < static_cast<int>(panels_[i].matrix.rows[cell->row].value.size()))
      return std::pair{i, *cell};
  return {};
}

std::optional<HeatCell> HeatmapPicture::selected(const HeatMatrix& matrix) const {
  for (size_t r = 0; r < matrix.rows.size(); ++r)
    if (matrix.rows[r].router == router_ && !router_.isEmpty())
      return HeatCell{static_cast<int>(r), std::max(0, matrix.rows[r].column_of(branch_))};
  return {};
}

void HeatmapPicture::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  p.fillRect(rect(), theme.background);
  double scale_top = 0;
  for (size_t i = 0; i < panels_.size(); ++i) {
    const Panel& panel = panels_[i];
    const HeatGeometry g = geometry(i);
    if (panels_.size() > 1) {
      p.setPen(theme.text);
      p.drawText(
          QRectF(bounds(i).left() + labels(), bounds(i).top() - fontMetrics().height() - 6,
                 bounds(i).width() - labels(), fontMetrics().height()),
          Qt::AlignLeft,
          fontMetrics().elidedText(panel.title, Qt::ElideMiddle, static_cast<int>(bounds(i).width() - labels())));
    }
    HeatMarks marks;
    if (hovered_ && hovered_->first == i) marks.hovered = hovered_->second;
    marks.selected = selected(panel.matrix);
    marks.paths = panel.paths;
    paint_matrix(p, panel.matrix, panel.tones, g, labels(), theme, marks);
    scale_top = std::max(scale_top, g.area().bottom());
  }
  if (panels_.empty()) return;
  const double left = bounds(0).left() + labels();
  double line = kMargin - 4;
  const auto say = [&](const QString& text, bool strong) {
    if (text.isEmpty()) return;
    p.save();
    QFont words = font();
    words.setBold(strong);
    p.setFont(words);
    const QFontMetricsF metrics(words);
    const QRectF room(left, line, width() - left - kMargin, metrics.height() + 2);
    p.setPen(theme.bad);
    p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(text, Qt::ElideRight, room.width()));
    p.restore();
    line += metrics.height() + 6;
  };
  say(part_text_, true);
  say(trail_text_, false);
  paint_scale(p, QRectF(left, scale_top + 8, width() - left - kMargin, kScaleHeight), panels_[0].matrix, theme);
  if (over_time_.empty()) return;
  const QRectF below(bounds(0).left(), scale_top + kScaleHeight + 18, width() - 2 * kMargin,
                     height() - 4 - (scale_top + kScaleHeight + 18));
  std::vector<int> branches;
  for (const TimePanel& panel : over_time_) branches.push_back(panel.over_time.branches);
  const std::vector<QRectF> places = time_panels(below, branches);
  // Routers without room here can be shown by choosing one.
  const QString aside = routers_shown(places.size(), routers_, !router_.isEmpty());
  for (size_t i = 0; i < places.size(); ++i) {
    const RouterOverTime& t = over_time_[i].over_time;
    paint_over_time(p, places[i], labels(), t, over_time_[i].tones, theme, t.router == router_ ? branch_ : -1,
                    i == 0 ? aside : QString());
  }
  if (!places.empty()) return;
  p.setPen(theme.faint);
  p.drawText(below, Qt::AlignLeft | Qt::AlignTop, tr("Over time: %1").arg(aside));
}

bool HeatmapPicture::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    auto* help = static_cast<QHelpEvent*>(event);
    if (const auto hit = at(help->pos()))
      emit tip_wanted(hit->first, hit->second.row, hit->second.column, help->globalPos());
    else
      QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

void HeatmapPicture::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) remake_tones();
  if (event->type() == QEvent::FontChange) labels_ = -1;
  QWidget::changeEvent(event);
}

void HeatmapPicture::remake_tones() {
  for (Panel& panel : panels_) panel.tones = tone_image(panel.matrix, Theme::of(palette()));
  for (TimePanel& panel : over_time_) panel.tones = tone_image(panel.over_time, Theme::of(palette()));
  update();
}

void HeatmapPicture::wheelEvent(QWheelEvent* event) {
  if (panels_.empty()) return;
  const auto hit = at(event->position());
  window_ = geometry(hit ? hit->first : 0).zoomed(event->position(), std::pow(1.2, event->angleDelta().y() / 120.0));
  event->accept();
  update();
}

void HeatmapPicture::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  grabbed_ = event->position();
  if (!panels_.empty()) grabbed_window_ = geometry(0).zoomed(event->position(), 1);
  moved_ = false;
}

void HeatmapPicture::mouseMoveEvent(QMouseEvent* event) {
  if (grabbed_ && !panels_.empty()) {
    const QPointF by = event->position() - *grabbed_;
    if (by.manhattanLength() > 4) moved_ = true;
    if (moved_) {
      window_ = grabbed_window_;
      window_ = geometry(0).moved(by);
      update();
    }
    return;
  }
  if (const auto hit = at(event->position()); hit != hovered_) {
    hovered_ = hit;
    update();
  }
}

void HeatmapPicture::mouseReleaseEvent(QMouseEvent* event) {
  if (grabbed_ && !moved_) {
    if (const auto hit = at(event->position())) {
      const HeatRow& row = panels_[hit->first].matrix.rows[hit->second.row];
      emit picked(row.router, row.branch[hit->second.column]);
    } else {
      emit picked({}, -1);
    }
  }
  grabbed_.reset();
}

void HeatmapPicture::mouseDoubleClickEvent(QMouseEvent*) { reset_zoom(); }

void HeatmapPicture::leaveEvent(QEvent*) {
  hovered_.reset();
  update();
}

void HeatmapPicture::keyPressEvent(QKeyEvent* event) {
  if (panels_.empty()) return;
  const HeatMatrix& m = panels_[0].matrix;
  const HeatGeometry g = geometry(0);
  HeatCell at = selected(m).value_or(HeatCell{0, 0});
  const auto zoom = [&](double factor) {
    window_ = g.zoomed(g.area().center(), factor);
    update();
  };
  const auto pan = [&](double x, double y) {
    window_ = g.moved({x * g.area().width() / 8, y * g.area().height() / 8});
    update();
  };
  switch (event->key()) {
    case Qt::Key_W:
      return zoom(1.25);
    case Qt::Key_S:
      return zoom(0.8);
    case Qt::Key_A:
      return pan(1, 0);
    case Qt::Key_D:
      return pan(-1, 0);
    case Qt::Key_0:
      return reset_zoom();
    case Qt::Key_Left:
      --at.column;
      break;
    case Qt::Key_Right:
      ++at.column;
      break;
    case Qt::Key_Up:
      --at.row;
      break;
    case Qt::Key_Down:
      ++at.row;
      break;
    case Qt::Key_Escape:
      emit picked({}, -1);
      return;
    default:
      return QWidget::keyPressEvent(event);
  }
  at.row = std::clamp(at.row, 0, static_cast<int>(m.rows.size()) - 1);
  const HeatRow& row = m.rows[at.row];
  at.column = std::clamp(at.column, 0, static_cast<int>(row.branch.size()) - 1);
  emit picked(row.router, row.branch[at.column]);
}

}  // namespace stormcell::views
