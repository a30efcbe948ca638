#include "views/graph/graph_picture.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cstdlib>

namespace stormcell::views {

GraphPicture::GraphPicture(QWidget* parent) : PagePicture(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 200);
  setAccessibleName(
      tr("Graph of routers; arrows go from place to place, with Shift from branch to branch; the table holds the same "
         "figures"));
}

void GraphPicture::set_page(GraphPage page) {
  layout_.reset();
  page_ = std::move(page);
  marks_ = {};
  updateGeometry();
  set_selected(router_, branch_);
}

void GraphPicture::set_selected(const QString& router, int branch) {
  router_ = router, branch_ = branch;
  marks_.router = marks_.branch = -1;
  for (size_t r = 0; r < page_.graph.routers.size(); ++r)
    if (QString::fromStdString(page_.graph.routers[r].line.name) == router)
      marks_.router = static_cast<int32_t>(r), marks_.branch = branch;
  tell();
}

void GraphPicture::set_way(GraphWay way, const QString& text) {
  marks_.way = std::move(way), marks_.way_text = text;
  tell();
}

void GraphPicture::tell() {
  QString text = marks_.router >= 0    ? spoken(page_, marks_.router, marks_.branch)
                 : page_.cards.empty() ? QString()
                                       : graph_caption(page_);
  if (!marks_.way_text.isEmpty()) text += ". " + marks_.way_text;
  setAccessibleDescription(text);
  update();
}

int GraphPicture::heightForWidth(int width) const {
  const QFontMetricsF metrics(font());
  return static_cast<int>(GraphLayout::needed_height(page_, width, metrics.height(), metrics.horizontalAdvance('0'),
                                                     graph_legend_height(metrics, page_, width))) +
         1;
}

const GraphLayout& GraphPicture::layout_of_page() const {
  if (!layout_) {
    const QFontMetricsF metrics(font());
    layout_ = std::make_unique<GraphLayout>(page_, QSizeF(size()), metrics.height(), metrics.horizontalAdvance('0'),
                                            graph_legend_height(metrics, page_, width()));
  }
  return *layout_;
}

void GraphPicture::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  p.fillRect(rect(), theme.background);
  if (!page_.cards.empty()) paint_graph(p, page_, layout_of_page(), marks_, theme);
}

QString GraphPicture::tip(QPointF point) const {
  if (page_.cards.empty()) return {};
  const GraphLayout& layout = layout_of_page();
  if (const auto at = layout.square_at(point)) {
    const GraphRow& row = page_.cards[at->card].rows[at->row];
    return describe_square(page_, row.router, row.squares[at->square]);
  }
  if (const auto card = layout.card_at(point)) return describe_place(page_, *card);
  if (const auto edge = layout.edge_at(point)) return describe_edge(page_, page_.layout.edges[*edge]);
  return {};
}

void GraphPicture::mouseMoveEvent(QMouseEvent* event) {
  if (page_.cards.empty()) return;
  const GraphLayout& layout = layout_of_page();
  const auto edge = layout.card_at(event->position()) ? std::nullopt : layout.edge_at(event->position());
  if (edge == marks_.edge) return;
  marks_.edge = edge;
  update();
}

void GraphPicture::leaveEvent(QEvent*) {
  marks_.edge.reset();
  update();
}

void GraphPicture::pick(int32_t router, int32_t branch) {
  emit picked(router < 0 ? QString() : QString::fromStdString(page_.router(router).line.name),
              router < 0 ? -1 : branch);
}

void GraphPicture::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || page_.cards.empty()) return;
  const GraphLayout& layout = layout_of_page();
  if (const auto at = layout.square_at(event->position())) {
    const GraphRow& row = page_.cards[at->card].rows[at->row];
    return pick(row.router, row.squares[at->square].first);
  }
  const auto card = layout.card_at(event->position());
  pick(card ? page_.place(*card).routers.front() : -1, -1);
}

void GraphPicture::go_to_place(int columns, int rows) {
  if (marks_.router < 0) return pick(page_.layout.places.front().routers.front(), -1);
  const RouterPlace& now = page_.place(static_cast<size_t>(page_.layout.place_of[marks_.router]));
  // The nearest in that direction, first along it, then across.
  const RouterPlace* best = nullptr;
  const auto distance = [&](const RouterPlace& p) {
    const int along = columns != 0 ? (p.column - now.column) * columns : (p.row - now.row) * rows,
              across = std::abs(columns != 0 ? p.row - now.row : p.column - now.column);
    return std::pair(along, across);
  };
  for (const RouterPlace& p : page_.layout.places)
    if (distance(p).first > 0 && (!best || distance(p) < distance(*best))) best = &p;
  if (best) pick(best->routers.front(), -1);
}

void GraphPicture::go_to_branch(int by) {
  if (marks_.router < 0) return pick(page_.layout.places.front().routers.front(), 0);
  const std::vector<int32_t>& routers = page_.place(static_cast<size_t>(page_.layout.place_of[marks_.router])).routers;
  const auto at = std::find(routers.begin(), routers.end(), marks_.router) - routers.begin();
  const int32_t wanted = marks_.branch < 0 && by > 0 ? 0 : std::max(-1, marks_.branch) + by,
                last = page_.router(marks_.router).line.branches - 1;
  if (wanted >= 0 && wanted <= last) return pick(marks_.router, wanted);
  // Beyond its branches those of the next router of the same place.
  const size_t next = at + by;
  if (at + by < 0 || next >= routers.size()) return;
  pick(routers[next], by > 0 ? 0 : page_.router(routers[next]).line.branches - 1);
}

void GraphPicture::keyPressEvent(QKeyEvent* event) {
  if (page_.cards.empty()) return QWidget::keyPressEvent(event);
  const bool branches = event->modifiers().testFlag(Qt::ShiftModifier);
  switch (event->key()) {
    case Qt::Key_Left:
      return branches ? go_to_branch(-1) : go_to_place(-1, 0);
    case Qt::Key_Right:
      return branches ? go_to_branch(1) : go_to_place(1, 0);
    case Qt::Key_Up:
      return branches ? go_to_branch(-1) : go_to_place(0, -1);
    case Qt::Key_Down:
      return branches ? go_to_branch(1) : go_to_place(0, 1);
    case Qt::Key_Home:
      return pick(page_.layout.places.front().routers.front(), -1);
    case Qt::Key_End:
      return pick(page_.layout.places.back().routers.front(), -1);
    case Qt::Key_Escape:
      return pick(-1, -1);
    default:
      return QWidget::keyPressEvent(event);
  }
}

}  // namespace stormcell::views
