#include "views/diff/diff_picture.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>

#include "views/words/figure_text.h"

namespace stormcell::views {

DiffPicture::DiffPicture(QWidget* parent) : PagePicture(parent), figures_(std::make_shared<DifferenceFigures>()) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 200);
  setAccessibleName(tr("The same tokens in two recordings; the table holds the same figures"));
}

void DiffPicture::set_figures(std::shared_ptr<const DifferenceFigures> figures) {
  figures_ = std::move(figures);
  names_ = layer_names(*figures_);
  marks_ = {};
  layout_.reset();
  update();
}

void DiffPicture::set_chosen(DiffPlace place) {
  if (place.layer >= std::ssize(figures_->layers) || place.group >= groups_of(*figures_)) place = {};
  if (place == marks_.chosen) return;
  marks_.chosen = place, marks_.first_line = 0;
  setAccessibleDescription(describe(*figures_, place));
  update();
}

const DiffGeometry& DiffPicture::geometry_now() const {
  if (!layout_) {
    const QFontMetricsF metrics(font());
    double widest = 0;
    for (const QString& name : names_) widest = std::max(widest, metrics.horizontalAdvance(name));
    layout_.emplace(DiffShape{QSizeF(size()), metrics.height(), widest, static_cast<int>(figures_->layers.size()),
                              groups_of(*figures_), lines_of_words(words_of(*figures_))});
  }
  return *layout_;
}

void DiffPicture::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  p.fillRect(rect(), theme.background);
  p.setFont(font());
  paint_diff(p, *figures_, geometry_now(), names_, marks_, theme);
}

QString DiffPicture::tip(QPointF place) const {
  const DiffGeometry& g = geometry_now();
  if (const auto at = g.place_at(place)) return describe(*figures_, *at);
  if (g.verdict.contains(place)) {
    const DiffWords words = words_of(*figures_);
    QStringList lines{words.verdict, words.evidence, words.next, words.counts, words.rest};
    lines.removeAll(QString());
    return lines.join('\n');
  }
  if (g.margins.contains(place))
    return tr(
        "A margin is the distance of the last chosen score from the first one that was not chosen. A near tie has "
        "at most a quarter of its router's median margin.");
  if (g.experts.contains(place)) return tr("Cells that have the expert in b alone minus those that have it in a alone");
  if (g.sequences.contains(place)) return tr("The first position of each request at which any choice differs");
  if (const int line = g.list_line_at(place); line >= 0) {
    const std::vector<const DiffSample*> cells = samples_at(*figures_, marks_.chosen);
    if (const int i = marks_.first_line + line; i < static_cast<int>(cells.size()))
      return describe_cell(*figures_, *cells[i]);
  }
  if (g.list.contains(place))
    return tr("Cells of the chosen square whose choices differ. Faint: an earlier router of the cell differs too.");
  return {};
}

void DiffPicture::mouseMoveEvent(QMouseEvent* event) {
  const DiffPlace at = geometry_now().place_at(event->position()).value_or(DiffPlace{});
  if (at == marks_.hovered) return;
  marks_.hovered = at;
  update();
}

void DiffPicture::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto at = geometry_now().place_at(event->position())) return emit picked(*at);
  const int line = geometry_now().list_line_at(event->position());
  const std::vector<const DiffSample*> cells = samples_at(*figures_, marks_.chosen);
  const int i = marks_.first_line + line;
  if (line >= 0 && i < static_cast<int>(cells.size()))
    emit cell_picked(static_cast<int>(cells[i] - figures_->samples.data()));
}

void DiffPicture::scroll_list(int lines) {
  const int all = static_cast<int>(samples_at(*figures_, marks_.chosen).size());
  marks_.first_line = std::clamp(marks_.first_line + lines, 0, std::max(0, all - geometry_now().list_lines()));
  update();
}

void DiffPicture::wheelEvent(QWheelEvent* event) {
  if (!geometry_now().list.contains(event->position())) return QWidget::wheelEvent(event);
  constexpr int kNotch = 120, kLines = 3;
  scroll_list(-event->angleDelta().y() * kLines / kNotch);
  event->accept();
}

void DiffPicture::leaveEvent(QEvent*) {
  marks_.hovered = {};
  update();
}

void DiffPicture::keyPressEvent(QKeyEvent* event) {
  const int layers = static_cast<int>(figures_->layers.size()), groups = groups_of(*figures_);
  if (layers == 0 || groups == 0) return QWidget::keyPressEvent(event);
  DiffPlace to = marks_.chosen.there() ? marks_.chosen : DiffPlace{0, 0};
  switch (event->key()) {
    case Qt::Key_Up:
      --to.layer;
      break;
    case Qt::Key_Down:
      ++to.layer;
      break;
    case Qt::Key_Left:
      --to.group;
      break;
    case Qt::Key_Right:
      ++to.group;
      break;
    case Qt::Key_PageDown:
      return scroll_list(geometry_now().list_lines());
    case Qt::Key_PageUp:
      return scroll_list(-geometry_now().list_lines());
    default:
      return QWidget::keyPressEvent(event);
  }
  emit picked({std::clamp(to.layer, 0, layers - 1), std::clamp(to.group, 0, groups - 1)});
}

}  // namespace stormcell::views
