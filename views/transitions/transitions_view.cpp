#include "views/transitions/transitions_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <algorithm>

namespace stormcell::views {
namespace {
/// Pairs of a router that may get a ribbon. More than can be drawn: a chain goes on over pairs that are not among the
/// very strongest.
constexpr int64_t kMostPairs = 10 * kMostRibbons;
}  // namespace

TransitionsView::TransitionsView(QWidget* parent) : View(parent) {
  router_ = add_choice(tr("From router"), tr("Rows of the matrix; the columns are a router that its cells meet next"));
  next_ = add_choice(tr("To router"), tr("Columns of the matrix: cells of one router may meet several routers next"));
  value_ = add_choice(tr("Value"), tr("The figure that a square of the matrix shows"));
  for (const PairValue v : {PairValue::share, PairValue::cells, PairValue::lift}) {
    value_->addItem(text_of(v).name);
    value_->setItemData(value_->count() - 1, text_of(v).definition, Qt::ToolTipRole);
  }
  branches_ = add_choice(tr("Branches"), tr("How colours tell branches apart"));
  fill_branch_schemes(branches_);
  bar()->add_stretch();
  picture_ = new TransitionsPicture(this);
  set_picture(picture_);
  for (QComboBox* box : {value_, branches_})
    connect(box, &QComboBox::currentIndexChanged, this, [this] { show_data(); });
  connect(router_, &QComboBox::activated, this, [this](int index) {
    Selection wanted = selection_;
    wanted.router = router_->itemData(index).toString(), wanted.branch = -1;
    emit selection_wanted(wanted);
  });
  connect(next_, &QComboBox::activated, this, [this](int index) {
    wanted_next_ = next_->itemData(index).toString();
    emit load_wanted();
  });
  connect(picture_, &TransitionsPicture::picked, this, [this](const QString& router, int branch) {
    Selection wanted = selection_;
    wanted.router = router, wanted.branch = branch;
    emit selection_wanted(wanted);
  });
}

bool TransitionsView::answers(const QString& router) const {
  if (!data_.flow || data_.next != wanted_next_) return false;
  if (data_.asked == router) return true;
  if (router.isEmpty()) return true;  // what is on show may stay
  const auto shown = data_.flow->router;
  if (shown < 0) return true;
  const auto name_of = [&](int32_t at) { return QString::fromStdString(data_.flow->routers[at].line.name); };
  // The columns' router, too: its branches are marked there.
  return name_of(shown) == router ||
         (data_.flow->next >= 0 && name_of(data_.flow->next) == router && selection_.branch >= 0);
}

View::Load TransitionsView::load(const Context& context, const Selection& selection) {
  if (context.main.empty()) {
    data_ = {};
    show_no_run(context);
    return nullptr;
  }
  if (!(unread() & (Part::run | Part::range | Part::phase)) && answers(selection.router)) return nullptr;
  return [this, source = context.main, selection, next = wanted_next_](const Progress& progress) -> Deliver {
    const auto flow = read_routing_flow(source.file, source.run, {selection.first_batch, selection.end_batch},
                                        {selection.router.toStdString(), next.toStdString()}, kMostPairs, progress,
                                        selection.phase.toStdString());
    const BranchKeys keys =
        branch_keys(*read_load_windows(source.file, source.run, {0, -1}, kMostKeyWindows, progress));
    return [this, flow, next, keys, asked = selection.router] {
      data_ = {asked, next, flow, keys};
      show_data();
    };
  };
}

void TransitionsView::select(const Selection& selection) {
  selection_ = selection;
  picture_->set_selected(selection.router, selection.branch);
  if (data_.flow && scheme() == BranchScheme::one && unread() & (Part::router | Part::branch)) show_data();
}

QStringList TransitionsView::remarks() const {
  return selection_.label.isEmpty() ? QStringList() : QStringList{tr("Pairs are not kept by label.")};
}

void TransitionsView::show_data() {
  if (!data_.flow) return;
  const RoutingFlow& flow = *data_.flow;
  if (flow.routers.empty())
    return show_message(tr("The model of this run has no routers, so there is nothing to show here."));
  if (flow.batches == 0)
    return show_message(tr("No batch of this run is recorded yet."), {{"reload", tr("Look again")}});
  if (flow.router < 0)
    return show_message(
        tr("No cell goes from one router of this run to another, and none gets several branches: there are no pairs to "
           "show."));
  const auto name_of = [&](int32_t at) { return QString::fromStdString(flow.routers[at].line.name); };
  const QSignalBlocker quiet(router_), quiet_next(next_);
  router_->clear();
  for (const FlowRouter& r : flow.routers)
    if (!r.next.empty() || r.line.fan_out > 1)
      router_->addItem(QString::fromStdString(r.line.name), QString::fromStdString(r.line.name));
  const FlowRouter& from = flow.routers[flow.router];
  const QString name = QString::fromStdString(from.line.name);
  router_->setCurrentIndex(router_->findData(name));
  next_->clear();
  for (const FlowEdge& e : from.next) next_->addItem(name_of(e.to), name_of(e.to));
  if (flow.next >= 0) next_->setCurrentIndex(next_->findData(name_of(flow.next)));
  show_choice(next_, from.next.size() > 1);
  const auto value = static_cast<PairValue>(value_->currentIndex());
  std::vector<PairMatrix> matrices;
  if (flow.next >= 0) matrices.push_back(make_pairs(flow.transitions, name, name_of(flow.next), value, false));
  if (from.line.fan_out > 1) matrices.push_back(make_pairs(flow.together, name, name, value, true));
  QString note;
  if (flow.first_batch > 0 || flow.end_batch < flow.batches)
    note = tr("; batches %1 to %2").arg(flow.first_batch).arg(flow.end_batch - 1);
  picture_->set_data(std::move(matrices), ribbons(), note);
  picture_->set_selected(selection_.router, selection_.branch);
  show_content();
}

BranchScheme TransitionsView::scheme() const { return static_cast<BranchScheme>(branches_->currentIndex()); }

FlowRibbons TransitionsView::ribbons() const {
  FlowRibbons f = make_ribbons(*data_.flow);
  set_keys(f, with_scheme(data_.keys, scheme(), selection_.router.toStdString(), selection_.branch));
  return f;
}

std::vector<ColorMeaning> TransitionsView::told_apart() const {
  std::vector<ColorMeaning> meanings;
  if (!data_.flow) return meanings;
  const Theme& theme = Theme::of(palette());
  const FlowRibbons f = ribbons();
  if (!f.colours_chains()) return f.columns.empty() ? meanings : meanings_of(f.columns.front(), f.keys.front(), theme);
  for (int chain = 0; chain < std::min<int>(kChainsInColour, std::ssize(f.chains)); ++chain)
    meanings.push_back({tr("chain %1").arg(chain + 1), theme.category(chain)});
  return meanings;
}

Table TransitionsView::table() const { return data_.flow ? make_table(*data_.flow) : Table(); }

}  // namespace stormcell::views
