#include "views/transitions/transitions_picture.h"

#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "views/drawing/margin.h"
#include "views/words/figure_text.h"
#include "views/words/router_names.h"

namespace stormcell::views {

TransitionsPicture::TransitionsPicture(QWidget* parent) : PagePicture(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 200);
  setAccessibleName(tr("Transitions between branches; the table holds the same figures"));
}

void TransitionsPicture::set_data(std::vector<PairMatrix> matrices, FlowRibbons flow, const QString& note) {
  matrices_ = std::move(matrices);
  flow_ = std::move(flow);
  names_ = short_names(flow_.columns);
  note_ = note;
  hovered_.reset();
  band_ = -1;
  layout_.reset();
  update();
}

void TransitionsPicture::set_selected(const QString& router, int branch) {
  router_ = router, branch_ = branch;
  update();
}

QRectF TransitionsPicture::flow_area() const {
  if (!has_flow()) return {};
  const double line = QFontMetricsF(font()).height(), above = matrices_.empty() ? kMargin : scale_area().bottom() + 4;
  const double top = above + 2 * line + 14;
  return {kMargin + 4, top, width() - 2 * kMargin - 8, std::max(20.0, height() - top - kMargin)};
}

QRectF TransitionsPicture::scale_area() const {
  const double line = QFontMetricsF(font()).height();
  // Ribbons are below the matrix. With ribbons, the matrix takes at most half of the height, and never more than it
  // needs.
  int rows = 1;
  for (const PairMatrix& m : matrices_) rows = std::max(rows, m.rows);
  const double needed = kMargin / 2 + 2 * line + 8 + rows * kTallest + kMargin,
               room = (has_flow() ? height() * 0.53 : height() - kMargin) - line - 20;
  return {kMargin, std::min(needed, room), width() - 2 * kMargin, line + 16};
}

QRectF TransitionsPicture::matrix_area(size_t matrix) const {
  const double count = std::max<size_t>(1, matrices_.size());
  const double each = (width() - kMargin * (count + 1)) / count;
  return {kMargin + static_cast<double>(matrix) * (each + kMargin), kMargin / 2, each, scale_area().top() - kMargin};
}

PairGrid TransitionsPicture::grid(size_t matrix) const {
  const QFontMetricsF metrics(font());
  return pair_grid(matrix_area(matrix), matrices_[matrix].rows, matrices_[matrix].columns,
                   metrics.horizontalAdvance("0000") + 8, 2 * metrics.height() + 8);
}

const RibbonLayout& TransitionsPicture::ribbon_layout() const {
  if (!layout_) layout_ = has_flow() ? lay_out(flow_, flow_area(), QFontMetricsF(font()).height()) : RibbonLayout();
  return *layout_;
}

std::optional<TransitionsPicture::Hit> TransitionsPicture::hit(QPointF point) const {
  for (size_t m = 0; m < matrices_.size(); ++m) {
    if (const auto cell = grid(m).at(point)) return Hit{m, cell->first, cell->second};
  }
  return {};
}

void TransitionsPicture::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  const QFontMetricsF metrics(font());
  p.fillRect(rect(), theme.background);
  for (size_t m = 0; m < matrices_.size(); ++m) {
    PairMarks marks;
    if (matrices_[m].from == router_) marks.row = branch_;
    if (matrices_[m].to == router_) marks.column = branch_;
    if (hovered_ && hovered_->matrix == m) marks.hovered = std::pair{hovered_->row, hovered_->column};
    paint_pairs(p, matrix_area(m), grid(m), matrices_[m], marks, theme);
  }
  if (!matrices_.empty()) paint_pair_scale(p, scale_area(), matrices_[0], theme);
  if (!has_flow()) return;
  FlowMarks marks;
  for (size_t c = 0; c < flow_.columns.size(); ++c)
    if (QString::fromStdString(flow_.columns[c].name) == router_ && branch_ >= 0)
      marks.column = static_cast<int>(c), marks.branch = branch_;
  marks.band = band_;
  const QRectF area = flow_area();
  const QRectF title(area.left(), area.top() - 2 * metrics.height() - 6, area.width(), metrics.height() + 2);
  p.setPen(theme.text);
  const QString name = tr("Through the %1").arg(QString::fromStdString(flow_.columns[0].stack));
  p.drawText(title, Qt::AlignLeft | Qt::AlignVCenter, name);
  const double used = metrics.horizontalAdvance(name) + 12;
  p.setPen(theme.faint);
  p.drawText(title.adjusted(used, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
             metrics.elidedText(flow_caption(flow_) + note_, Qt::ElideRight, title.width() - used));
  paint_flow(p, area, metrics.height() + 2, flow_, ribbon_layout(), names_, marks, theme);
}

QString TransitionsPicture::tip(QPointF point) const {
  if (const auto at = hit(point)) return describe(matrices_[at->matrix], at->row, at->column);
  const QLocale english(QLocale::English);
  if (const RibbonLayout::Node* node = ribbon_layout().node_at(point)) {
    const QString router = QString::fromStdString(flow_.columns[node->column].name);
    return tr("%1, branch %2: %3 in the ribbons").arg(router).arg(node->branch).arg(counted_text(node->count, "cell"));
  }
  const int at = ribbon_layout().band_at(point);
  if (at < 0) return {};
  const int ribbon = ribbon_layout().bands[at].ribbon;
  if (ribbon < 0) {
    const size_t step = -1 - ribbon;
    return tr("%1, %2 % of this step, in %3 without a ribbon of their own; measured")
        .arg(counted_text(flow_.merged[step], "cell"))
        .arg(100 * flow_.merged_share(step), 0, 'f', 1)
        .arg(counted_text(flow_.merged_pairs[step], "pair"));
  }
  const auto& r = flow_.ribbons[ribbon];
  const size_t step = r.step;
  const auto name_of = [&](int column) { return QString::fromStdString(flow_.columns[column].name); };
  QString text = tr("%1 branch %2, then %3 branch %4: %5 cells, %6 % of this step; measured")
                     .arg(name_of(flow_.steps[step].from))
                     .arg(r.from)
                     .arg(name_of(flow_.steps[step].to))
                     .arg(r.to)
                     .arg(english.toString(static_cast<qlonglong>(r.count)))
                     .arg(100.0 * static_cast<double>(r.count) / (std::max<int64_t>(1, flow_.total[step])), 0, 'f', 1);
  if (const QString beside = text_of(r.beside); !beside.isEmpty()) text += "; " + beside;
  if (r.chain >= 0)
    text += tr("\nOn chain %1 of %2: pairs that follow one another. Sessions count pairs, not whole ways: at each step "
               "at least %3 cells took "
               "its pair and are in no hotter chain.")
                .arg(r.chain + 1)
                .arg(flow_.chains.size())
                .arg(english.toString(static_cast<qlonglong>(flow_.chains[r.chain].count)));
  return text;
}

void TransitionsPicture::mouseMoveEvent(QMouseEvent* event) {
  const auto at = hit(event->position());
  const int band = at ? -1 : ribbon_layout().band_at(event->position());
  if (at == hovered_ && band == band_) return;
  hovered_ = at, band_ = band;
  update();
}

void TransitionsPicture::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto at = hit(event->position())) return emit picked(matrices_[at->matrix].from, at->row);
  // Labels of a column are those of the router that cells go to.
  for (size_t m = 0; m < matrices_.size(); ++m) {
    const PairGrid g = grid(m);
    if (const auto above = g.at({event->position().x(), g.area.top() + 1});
        above && event->position().y() < g.area.top() && event->position().y() > g.area.top() - 24)
      return emit picked(matrices_[m].to, above->second);
  }
  if (const RibbonLayout::Node* node = ribbon_layout().node_at(event->position()); node)
    return emit picked(QString::fromStdString(flow_.columns[node->column].name), node->branch);
  if (const int band = ribbon_layout().band_at(event->position());
      band >= 0 && ribbon_layout().bands[band].ribbon >= 0) {
    const auto& r = flow_.ribbons[ribbon_layout().bands[band].ribbon];
    const int column = flow_.steps[r.step].from;
    return emit picked(QString::fromStdString(flow_.columns[column].name), r.from);
  }
  emit picked({}, -1);
}

void TransitionsPicture::leaveEvent(QEvent*) {
  hovered_.reset();
  band_ = -1;
  update();
}

void TransitionsPicture::keyPressEvent(QKeyEvent* event) {
  if (matrices_.empty()) return QWidget::keyPressEvent(event);
  const int by = event->key() == Qt::Key_Up ? -1 : event->key() == Qt::Key_Down ? 1 : 0;
  if (event->key() == Qt::Key_Escape) return emit picked({}, -1);
  if (by == 0) return QWidget::keyPressEvent(event);
  const int now = matrices_[0].from == router_ ? branch_ : -1;
  emit picked(matrices_[0].from, std::clamp(now + by, 0, matrices_[0].rows - 1));
}

}  // namespace stormcell::views
