#include "views/graph/graph_view.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QScrollArea>
#include <algorithm>

#include "core/base/error.h"
#include "views/words/figure_text.h"

namespace stormcell::views {

namespace {
/// Places in the choice of colours, behind those of GraphValue.
constexpr int kClusters = 2, kOne = 3;
}  // namespace

GraphView::GraphView(QWidget* parent)
    : View(parent), scroll_(new QScrollArea(this)), picture_(new GraphPicture(scroll_)) {
  value_ = add_choice(tr("Colour"), tr("The meaning of the colour of a branch's square"));
  for (const GraphValue v : {GraphValue::of_all, GraphValue::of_router}) {
    value_->addItem(text_of(v).name);
    value_->setItemData(value_->count() - 1, text_of(v).definition, Qt::ToolTipRole);
  }
  value_->addItem(tr("Cluster"));
  value_->setItemData(kClusters, tr("Branches of a router that are busy in the same batches have one colour"),
                      Qt::ToolTipRole);
  value_->addItem(tr("One against the rest"));
  value_->setItemData(kOne, tr("The chosen branch has a colour, all others are grey"), Qt::ToolTipRole);
  listed_ = add_choice(tr("Table"), tr("The content of the table (Ctrl+T) and of an exported table"),
                       {{tr("branches"), tr("Each branch of each router, with its cells and its place in the graph")},
                        {tr("edges"), tr("From which branch cells went on to which router")}});
  bar()->add_stretch();
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setWidget(picture_);
  scroll_->setFocusProxy(picture_);
  scroll_->setAccessibleName(tr("Graph"));
  scroll_->viewport()->installEventFilter(this);
  set_picture(scroll_);
  connect(value_, &QComboBox::currentIndexChanged, this, [this] { show_data(); });
  connect(listed_, &QComboBox::currentIndexChanged, this, [this] { refresh_table(); });
  connect(picture_, &GraphPicture::picked, this, [this](const QString& router, int branch) {
    Selection wanted = selection_;
    wanted.router = router, wanted.branch = branch;
    emit selection_wanted(wanted);
  });
}

void GraphView::fit_picture() {
  // Not setWidgetResizable(): it would undo the size that an export gives the picture.
  const QSize room = scroll_->viewport()->size();
  picture_->resize(room.width(), std::max(room.height(), picture_->heightForWidth(room.width())));
}

bool GraphView::eventFilter(QObject* object, QEvent* event) {
  if (object == scroll_->viewport() && event->type() == QEvent::Resize) fit_picture();
  return View::eventFilter(object, event);
}

void GraphView::changeEvent(QEvent* event) {
  View::changeEvent(event);
  if (event->type() == QEvent::FontChange) fit_picture();
}

View::Load GraphView::load(const Context& context, const Selection& selection) {
  if (context.main.empty()) {
    data_.reset();
    way_ = {};
    show_no_run(context);
    return nullptr;
  }
  const bool graph = !data_ || (unread() & (Part::run | Part::range | Part::phase)),
             way = (unread() & Part::run) || way_.of != selection.cell;
  if (!graph && !way) return nullptr;
  const bool judged = !data_ || (unread() & Part::run);
  return [this, source = context.main, selection, graph, way, judged](const Progress& progress) -> Deliver {
    std::shared_ptr<const RouterGraph> data;
    if (graph)
      data = read_router_graph(source.file, source.run, {selection.first_batch, selection.end_batch},
                               selection.phase.toStdString(), progress);
    std::shared_ptr<const GuardsOfRun> guards;
    BranchKeys keys;
    LoadChances chances;
    if (judged) chances = read_load_chances(source.file, source.run, progress);
    if (graph) {
      guards = read_guards(source.file, source.run, {0, 0}, progress);
      keys = branch_keys(*read_load_windows(source.file, source.run, {0, -1}, kMostKeyWindows, progress));
    }
    Way read{selection.cell, {}, {}};
    if (way && selection.cell) {
      try {
        read.trail = read_cell_trail(source.file, source.run, *selection.cell);
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::bad_input) throw;
        read.fault = QString::fromUtf8(e.what());
      }
    }
    return [this, data, guards, keys, chances, way, judged, read] {
      if (way) way_ = read;
      if (judged) chances_ = chances;
      if (data) data_ = data, guards_ = guards, keys_ = keys;
      if (data)
        show_data();
      else
        show_way();
    };
  };
}

void GraphView::select(const Selection& selection) {
  selection_ = selection;
  const bool recolours = scheme() == BranchScheme::one && (unread() & (Part::router | Part::branch));
  if (recolours && data_ && has_content()) return show_data();
  picture_->set_selected(selection.router, selection.branch);
}

BranchScheme GraphView::scheme() const {
  const int index = value_->currentIndex();
  return index == kClusters ? BranchScheme::cluster : index == kOne ? BranchScheme::one : BranchScheme::load;
}

GraphPage GraphView::made_page() const {
  const bool tells_branches = scheme() != BranchScheme::load;
  GraphPage page =
      make_graph_page(*data_, tells_branches ? GraphValue::of_router : static_cast<GraphValue>(value_->currentIndex()));
  page.scheme = scheme();
  page.keys = with_scheme(keys_, page.scheme, selection_.router.toStdString(), selection_.branch);
  if (guards_) page.guards = *guards_;
  // A part of a run is not judged: many looks at parts find something in the end.
  if (selection_.all_batches() && selection_.phase.isEmpty()) page.chances = chances_;
  return page;
}

std::vector<ColorMeaning> GraphView::told_apart() const {
  const GraphPage& page = picture_->page();
  if (!page.tells_branches() || page.graph.routers.empty()) return {};
  const RouterLine& router = page.graph.routers.front().line;
  return meanings_of(router, key_of(page.keys, router.name), Theme::of(palette()));
}

QStringList GraphView::remarks() const {
  return way_.fault.isEmpty() ? QStringList()
                              : QStringList{tr("The way of the chosen cell is not shown: %1.").arg(way_.fault)};
}

void GraphView::show_way() {
  if (!way_.trail) return picture_->set_way({}, {});
  GraphWay way = find_way(picture_->page(), *way_.trail);
  const GraphPage& page = picture_->page();
  const bool is_picture = !way.stops.empty() && page.router(way.stops.front().router).line.space == "picture";
  const QString of = is_picture ? tr("picture %1").arg(way_.of->sequence)
                                : tr("sequence %1, position %2").arg(way_.of->sequence).arg(way_.of->position);
  const QString text =
      tr("Blue: the way of %1, computed for at %2 of %3")
          .arg(of, QString::number(way.places.size()), counted_text(static_cast<qint64>(page.cards.size()), "place"));
  picture_->set_way(std::move(way), text);
}

void GraphView::show_data() {
  if (!data_) return;
  picture_->set_page({});
  if (data_->routers.empty())
    return show_message(tr("The model of this run has no routers, so there is nothing to show here."));
  if (data_->batches == 0)
    return show_message(tr("No batch of this run is recorded yet."), {{"reload", tr("Look again")}});
  picture_->set_page(made_page());
  picture_->set_selected(selection_.router, selection_.branch);
  show_way();
  fit_picture();
  show_content();
}

Table GraphView::table() const {
  if (!data_) return {};
  return listed_->currentIndex() == 1 ? make_edge_table(picture_->page()) : make_branch_table(picture_->page());
}

}  // namespace stormcell::views
