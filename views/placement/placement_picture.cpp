#include "views/placement/placement_picture.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>

namespace stormcell::views {

PlacementPicture::PlacementPicture(QWidget* parent) : PagePicture(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(520, 320);
  setAccessibleName(
      tr("Experts on GPUs; arrows choose a slot, Enter takes its expert and lets it go elsewhere, the table holds the "
         "figures"));
}

void PlacementPicture::set_page(PlacementPage page) {
  const bool same = page.layer == page_.layer && page.held.size() == page_.held.size() && page.ranks == page_.ranks;
  if (!same) {
    marks_ = {.selected_branch = marks_.selected_branch};
    pressed_.reset();
  }
  page_ = std::move(page);
  layout_.reset();
  tell();
}

void PlacementPicture::set_fault(const QString& fault) {
  marks_.fault = fault;
  update();
}

void PlacementPicture::set_selected_branch(int branch) {
  marks_.selected_branch = branch;
  update();
}

void PlacementPicture::let_go() {
  pressed_.reset();
  marks_.taken.reset(), marks_.target.reset(), marks_.hand.reset();
  marks_.fault.clear();
  tell();
}

void PlacementPicture::tell() {
  QString text = page_.headline + ". " + page_.state;
  if (marks_.focus && *marks_.focus < page_.held.size()) text += ". " + describe_slot(page_, *marks_.focus);
  setAccessibleDescription(text);
  update();
}

const PlacementLayout& PlacementPicture::layout_of_page() const {
  if (!layout_) {
    const QFontMetricsF metrics(font());
    layout_ =
        std::make_unique<PlacementLayout>(page_, QSizeF(size()), metrics.height(), metrics.horizontalAdvance('0'));
  }
  return *layout_;
}

void PlacementPicture::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  p.fillRect(rect(), theme.background);
  if (!page_.held.empty()) paint_placement(p, page_, layout_of_page(), marks_, theme);
}

QString PlacementPicture::tip(QPointF place) const {
  if (page_.held.empty()) return {};
  const PlacementLayout& layout = layout_of_page();
  if (const auto slot = layout.slot_at(place); slot && !marks_.taken)
    return tr("%1. Drag it onto another slot to change places, with Ctrl to leave a replica behind. Loads are counted.")
        .arg(describe_slot(page_, *slot));
  if (const auto rank = layout.gpu_at(place))
    return (page_.nearest ? tr("%1. Counted; of replicas the nearest take a token.")
                          : tr("%1. Counted; replicas share evenly."))
        .arg(describe_gpu(page_, *rank));
  if (const auto layer = layout.layer_at(place))
    return tr("Layer %1: imbalance %2, the largest load of a GPU over the mean, less 1; counted, %3")
        .arg(QString::number(*layer), QString::number(page_.layers[*layer], 'g', 3), page_.part);
  if (const auto point = layout.front_at(place))
    return tr("%1: imbalance %2, cross pairs %3, as fitted. Click it to take it.")
        .arg(QString::fromStdString(page_.front[*point].name), QString::number(page_.front[*point].imbalance, 'g', 3),
             QString::number(page_.front[*point].cross_pairs, 'g', 3));
  const double row = layout.row();
  if (layout.figures.contains(place)) {
    const auto number = static_cast<int>((place.y() - layout.figures.top()) / row) - 1,
               own = static_cast<int>(page_.figures.size());
    const int other = number - own - 1;
    if (number >= 0 && number < own) return page_.figures[number].tip;
    if (other >= 0 && other < static_cast<int>(page_.other_figures.size())) return page_.other_figures[other].tip;
  }
  return {};
}

void PlacementPicture::take(size_t slot, bool copies, std::optional<QPointF> hand) {
  if (page_.held[slot].branch < 0) return;
  marks_.taken = slot, marks_.expert = page_.held[slot], marks_.target.reset(), marks_.hand = hand,
  marks_.copies = copies;
  marks_.fault.clear();
  tell();
}

void PlacementPicture::hold_over(std::optional<size_t> target, bool copies) {
  if (target == marks_.taken) target.reset();
  const bool changed = target != marks_.target || copies != marks_.copies;
  marks_.target = target, marks_.copies = copies;
  if (changed) emit held_over(static_cast<int>(*marks_.taken), target ? static_cast<int>(*target) : -1, copies);
  update();
}

void PlacementPicture::finish() {
  const std::optional<size_t> from = marks_.taken, to = marks_.target;
  const bool copies = marks_.copies, may = marks_.fault.isEmpty();
  if (from) emit held_over(static_cast<int>(*from), -1, copies);  // the figures are again those of what stands
  let_go();
  if (from && to && may) emit dropped(static_cast<int>(*from), static_cast<int>(*to), copies);
}

void PlacementPicture::mousePressEvent(QMouseEvent* event) {
  if (page_.held.empty() || event->button() != Qt::LeftButton) return;
  const PlacementLayout& layout = layout_of_page();
  if (const auto layer = layout.layer_at(event->position())) return emit layer_wanted(static_cast<int>(*layer));
  if (const auto point = layout.front_at(event->position())) return emit front_wanted(static_cast<int>(*point));
  const auto slot = layout.slot_at(event->position());
  if (marks_.taken) {  // held by keys
    hold_over(slot, event->modifiers() & Qt::ControlModifier);
    return finish();
  }
  marks_.focus = slot, pressed_ = slot, pressed_at_ = event->position();
  if (slot && page_.held[*slot].branch >= 0) emit branch_picked(page_.held[*slot].branch);
  tell();
}

void PlacementPicture::mouseMoveEvent(QMouseEvent* event) {
  if (page_.held.empty()) return;
  const auto slot = layout_of_page().slot_at(event->position());
  const bool copies = event->modifiers() & Qt::ControlModifier;
  if (pressed_ && !marks_.taken &&
      (event->position() - pressed_at_).manhattanLength() >= QApplication::startDragDistance())
    take(*pressed_, copies, event->position());
  if (marks_.taken && marks_.hand) {
    marks_.hand = event->position();
    return hold_over(slot, copies);
  }
  if (slot == marks_.hovered) return;
  marks_.hovered = slot;
  update();
}

void PlacementPicture::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  pressed_.reset();
  if (marks_.taken && marks_.hand) finish();
}

void PlacementPicture::contextMenuEvent(QContextMenuEvent* event) {
  if (page_.held.empty()) return;
  const bool by_mouse = event->reason() == QContextMenuEvent::Mouse;
  const auto slot = by_mouse ? layout_of_page().slot_at(event->pos()) : marks_.focus;
  if (!slot) return;
  marks_.focus = slot;
  tell();
  emit menu_wanted(static_cast<int>(*slot),
                   by_mouse ? event->globalPos() : mapToGlobal(layout_of_page().cell(*slot).center().toPoint()));
}

void PlacementPicture::leaveEvent(QEvent*) {
  marks_.hovered.reset();
  update();
}

bool PlacementPicture::move_by_key(int key) {
  const int dx = key == Qt::Key_Right  ? 1
                 : key == Qt::Key_Left ? -1
                                       : 0,
            dy = key == Qt::Key_Down ? 1
                 : key == Qt::Key_Up ? -1
                                     : 0;
  if (dx == 0 && dy == 0) return false;
  marks_.focus = marks_.focus ? layout_of_page().neighbour(*marks_.focus, dx, dy) : 0;
  if (marks_.taken && !marks_.hand) hold_over(marks_.focus, marks_.copies);
  tell();
  return true;
}

void PlacementPicture::keyPressEvent(QKeyEvent* event) {
  if (page_.held.empty() || move_by_key(event->key())) return;
  const int layer = static_cast<int>(page_.layer);
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (marks_.taken) return finish();
      if (marks_.focus) take(*marks_.focus, event->modifiers() & Qt::ControlModifier, {});
      return;
    case Qt::Key_Control:
      if (marks_.taken && marks_.hand) hold_over(marks_.target, true);
      return;
    case Qt::Key_Escape:
      if (!marks_.taken) return QWidget::keyPressEvent(event);
      marks_.target.reset();
      return finish();
    case Qt::Key_Delete:
      if (marks_.focus && !marks_.taken) emit drop_wanted(static_cast<int>(*marks_.focus));
      return;
    case Qt::Key_PageUp:
      return emit layer_wanted(std::max(0, layer - 1));
    case Qt::Key_PageDown:
      return emit layer_wanted(std::min(static_cast<int>(page_.layers.size()) - 1, layer + 1));
    default:
      return QWidget::keyPressEvent(event);
  }
}

void PlacementPicture::keyReleaseEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Control && marks_.taken && marks_.hand) hold_over(marks_.target, false);
  QWidget::keyReleaseEvent(event);
}

}  // namespace stormcell::views
