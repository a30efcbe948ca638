#include "views/simulation/simulation_picture.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>

namespace stormcell::views {

SimulationPicture::SimulationPicture(QWidget* parent) : PagePicture(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(520, 320);
  setAccessibleName(
      tr("Simulated steps; left and right choose a layer, up and down a GPU or a cluster, Enter takes that cluster, "
         "the table holds the "
         "figures"));
}

void SimulationPicture::set_page(SimulationPage page) {
  if (page.gpus.size() != page_.gpus.size() || page.part != page_.part) marks_ = {};
  if (marks_.cluster && *marks_.cluster >= page.clusters.size()) marks_.cluster.reset();
  page_ = std::move(page);
  layout_.reset();
  tell();
}

void SimulationPicture::tell() {
  QString text = page_.contents + " " + page_.headline;
  if (is_empty())
    text.clear();
  else if (page_.part == SimulationPart::clusters)
    text += marks_.cluster ? ". " + describe_cluster(page_, *marks_.cluster) : QString();
  else if (page_.part == SimulationPart::phases)
    text += ". " + (marks_.gpu ? describe_gpu_share(page_, *marks_.gpu) : describe_layer(page_, page_.layer));
  else
    for (const ShownExchange& e : page_.exchanges) text += ". " + e.title;
  setAccessibleDescription(text);
  update();
}

const SimulationLayout& SimulationPicture::layout_of_page() const {
  if (!layout_) {
    const QFontMetricsF metrics(font());
    layout_ =
        std::make_unique<SimulationLayout>(page_, QSizeF(size()), metrics.height(), metrics.horizontalAdvance('0'));
  }
  return *layout_;
}

void SimulationPicture::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  p.fillRect(rect(), theme.background);
  if (!is_empty()) paint_simulation(p, page_, layout_of_page(), marks_, theme);
}

QString SimulationPicture::tip(QPointF place) const {
  if (is_empty()) return {};
  const SimulationLayout& layout = layout_of_page();
  if (layout.assumed.contains(place))
    return QStringList(page_.assumptions.begin(), page_.assumptions.end()).join(";\n");
  if (page_.part == SimulationPart::clusters) {
    const auto cluster = layout.cluster_at(place);
    return cluster ? describe_cluster(page_, *cluster) : QString();
  }
  if (shows_exchange(page_.part)) {
    const auto at = layout.lane_at(place);
    if (!at) return {};
    const ShownExchange& e = page_.exchanges[at->exchange];
    return page_.part == SimulationPart::messages ? describe_message(e, at->lane)
                                                  : describe_lane(e, at->lane, at->span);
  }
  if (const auto layer = layout.bar_at(layout.layers, place)) return describe_layer(page_, *layer);
  if (const auto gpu = layout.bar_at(layout.gpus, place)) return describe_gpu_share(page_, *gpu);
  for (size_t i = 0; i < page_.figures.size(); ++i)
    if (layout.figure_row(i).contains(place)) return page_.figures[i].tip;
  for (size_t i = 0; i < layout.shown_sensitivity(); ++i)
    if (layout.sensitivity_row(i).contains(place)) return describe_sensitivity(page_.sensitivity[i]);
  return {};
}

void SimulationPicture::mousePressEvent(QMouseEvent* event) {
  if (is_empty() || event->button() != Qt::LeftButton) return;
  const SimulationLayout& layout = layout_of_page();
  if (page_.part == SimulationPart::clusters) {
    marks_.cluster = layout.cluster_at(event->position());
    tell();
    if (marks_.cluster) emit cluster_wanted(static_cast<int>(*marks_.cluster));
  } else if (page_.part == SimulationPart::phases) {
    if (const auto layer = layout.bar_at(layout.layers, event->position()))
      return emit layer_wanted(static_cast<int>(*layer));
    marks_.gpu = layout.bar_at(layout.gpus, event->position());
    tell();
  }
}

void SimulationPicture::go_to_layer(int layer) {
  const int last = static_cast<int>(page_.layers.size()) - 1, wanted = std::clamp(layer, 0, last);
  if (wanted != static_cast<int>(page_.layer)) emit layer_wanted(wanted);
}

void SimulationPicture::go_down(int by) {
  std::optional<size_t>& mark = page_.part == SimulationPart::clusters ? marks_.cluster : marks_.gpu;
  const size_t count = page_.part == SimulationPart::clusters ? page_.clusters.size() : page_.gpus.size();
  if (shows_exchange(page_.part) || count == 0) return;
  const int now = mark.value_or(by > 0 ? static_cast<size_t>(-1) : count);
  mark = static_cast<size_t>(std::clamp(now + by, 0, static_cast<int>(count) - 1));
  tell();
}

void SimulationPicture::keyPressEvent(QKeyEvent* event) {
  if (is_empty()) return QWidget::keyPressEvent(event);
  const int layer = static_cast<int>(page_.layer);
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_PageUp:
      return go_to_layer(layer - 1);
    case Qt::Key_Right:
    case Qt::Key_PageDown:
      return go_to_layer(layer + 1);
    case Qt::Key_Home:
      return go_to_layer(0);
    case Qt::Key_End:
      return go_to_layer(static_cast<int>(page_.layers.size()) - 1);
    case Qt::Key_Up:
      return go_down(-1);
    case Qt::Key_Down:
      return go_down(1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (marks_.cluster) emit cluster_wanted(static_cast<int>(*marks_.cluster));
      return;
    case Qt::Key_Escape:
      if (!marks_.gpu && !marks_.cluster) return QWidget::keyPressEvent(event);
      marks_ = {};
      return tell();
    default:
      return QWidget::keyPressEvent(event);
  }
}

}  // namespace stormcell::views
