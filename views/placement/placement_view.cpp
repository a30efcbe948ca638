#include "views/placement/placement_view.h"

#include <QComboBox>
#include <QFile>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTemporaryDir>
#include <QToolButton>
#include <QWidgetAction>
#include <algorithm>

#include "core/base/error.h"
#include "core/exports/export_formats.h"
#include "views/placement/cluster_choice.h"
#include "views/placement/step_choices.h"
#include "views/placement/stored_choice.h"
#include "views/words/fault_words.h"
#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {

constexpr double kSearchSeconds = 15;
constexpr int64_t kNewest = -1;  // in the place of a placement's number, before a session was opened

/// Files that servers read, of export_formats().
struct ServerFormat {
  const char *id, *server, *file;
};
constexpr ServerFormat kServerFormats[] = {{"sglang", "SGLang", "expert-location.json"},
                                           {"vllm-pr41141", "vLLM, pull request 41141", "eplb.json"},
                                           {"vllm-pr49572", "vLLM, pull request 49572", "eplb.json"},
                                           {"vllm-ascend", "vLLM Ascend", "expert-map.json"},
                                           {"trtllm", "TensorRT-LLM", "eplb.yaml"}};

/// Exports a placement of the session. It must be stored there first, because a server's file names it.
QByteArray server_file(const std::string& session, int64_t placement, const std::string& format,
                       const Progress& progress) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("placement");
  export_session(format, {session + "#" + std::to_string(placement), file.toStdString(), {}}, progress);
  QFile written(file);
  if (!written.open(QIODevice::ReadOnly)) failed(file.toStdString(), "cannot be read again", "is the disk full?");
  return written.readAll();
}

}  // namespace

PlacementView::PlacementView(QWidget* parent) : View(parent) {
  add_controls();
  picture_ = new PlacementPicture(this);
  set_picture(picture_);
  connect(cluster_, &ClusterChoice::chosen, this, &View::load_wanted);
  connect(choices_, &StepChoices::chosen, this, &View::load_wanted);
  for (QComboBox* box : {spare_, start_}) connect(box, &QComboBox::currentIndexChanged, this, &View::load_wanted);
  for (QComboBox* box : {layer_, part_})
    connect(box, &QComboBox::currentIndexChanged, this, [this] {
      end_preview();
      refresh_page();
    });
  connect(solve_, &QPushButton::clicked, this, &PlacementView::solve);
  connect(back_, &QPushButton::clicked, this, [this] {
    if (!edited_) return;
    end_preview();
    edit(tr("all as at the start"), difference(edited_->placement(), edited_->start()));
  });
  connect(store_, &QPushButton::clicked, this, &PlacementView::store);
  connect(picture_, &PlacementPicture::held_over, this, &PlacementView::show_change);
  connect(picture_, &PlacementPicture::dropped, this, [this](int from, int to, bool copies) {
    QString fault;
    const int32_t expert = picture_->page().held[from].branch;
    const PlacementChange change = change_of(from, to, copies, fault);
    const auto rank = picture_->page().rank_of(static_cast<size_t>(to));
    edit((copies ? tr("replica of expert %1 on GPU %2") : tr("expert %1 to GPU %2")).arg(expert).arg(rank), change);
  });
  connect(picture_, &PlacementPicture::drop_wanted, this, &PlacementView::drop);
  connect(picture_, &PlacementPicture::layer_wanted, layer_, &QComboBox::setCurrentIndex);
  connect(picture_, &PlacementPicture::front_wanted, this, &PlacementView::take_front);
  connect(picture_, &PlacementPicture::menu_wanted, this, &PlacementView::show_menu);
  connect(picture_, &PlacementPicture::branch_picked, this, [this](int branch) {
    Selection picked = selection_;
    picked.router = to_qstring(edited_->about().routers[layer()]), picked.branch = branch;
    emit selection_wanted(picked);
  });
}

void PlacementView::add_controls() {
  cluster_ = new ClusterChoice(
      add_choice(tr("Cluster"),
                 tr("Whose GPUs, nodes and links the experts are placed on; its figures are published ones")),
      this);
  bar()->addWidget(cluster_->button());
  const QString spare = tr("Slots of a layer beyond one for each expert, on every GPU: replicas take them");
  spare_ = add_choice(tr("Spare slots"), spare, {{"0", spare}, {"1", spare}, {"2", spare}, {"4", spare}});
  start_ = add_choice(tr("Start"), tr("The layout to begin with, from which changes are counted"));
  start_->addItem(tr("newest"), qlonglong{kNewest});
  start_->setItemData(0, tr("The placement that was stored last, if there is one"), Qt::ToolTipRole);
  layer_ = add_choice(tr("Layer"), tr("The router whose experts are shown; PageUp and PageDown go through them"));
  const QString part =
      tr("Which part of the data loads and figures are of: what searches fit to, or what they never see");
  part_ = add_choice(tr("Data"), part, {{tr("held out"), part}, {tr("fitted"), part}});
  add_step_choices();
  solver_ = add_choice(tr("Solver"), tr("How Solve searches; it begins at the start"));
  for (const PlacementSolver& s : placement_solvers()) {
    if (s.kind == SolverKind::keep) continue;
    solver_->addItem(QString::fromUtf8(s.id.data(), static_cast<qsizetype>(s.id.size())));
    solver_->setItemData(solver_->count() - 1,
                         QString::fromUtf8(s.summary.data(), static_cast<qsizetype>(s.summary.size())),
                         Qt::ToolTipRole);
  }
  solver_->setCurrentIndex(std::max(0, solver_->findText("joint")));
  const auto add_button = [this](const QString& text, const QString& tip) {
    auto* button = new QPushButton(text, this);
    button->setToolTip(tip);
    bar()->addWidget(button);
    return button;
  };
  solve_ = add_button(tr("Solve"),
                      tr("Searches a placement for at most %1 s; can be stopped, and undone").arg(kSearchSeconds));
  bar()->add_stretch();
  back_ = add_button(tr("Back to start"), tr("All experts where they stood; can be undone"));
  store_ = add_button(tr("Store"),
                      tr("Writes the placement into the session, as `stormcell place` does: S.storm#NUMBER names it"));
  add_export_menu();
}

void PlacementView::add_step_choices() {
  auto* more = new QToolButton(this);
  more->setText(tr("Tokens"));
  more->setToolTip(tr("Which replicas tokens go to, and where they live: all figures follow"));
  more->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(more);
  auto* panel = new QWidget(menu);
  choices_ = new StepChoices(new QFormLayout(panel), this);
  auto* action = new QWidgetAction(menu);
  action->setDefaultWidget(panel);
  menu->addAction(action);
  more->setMenu(menu);
  bar()->addWidget(more);
}

void PlacementView::add_export_menu() {
  export_ = new QToolButton(this);
  export_->setText(tr("Export"));
  export_->setObjectName("export");
  export_->setToolTip(tr("Stores the placement and writes the file that a server reads"));
  export_->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(export_);
  menu->setToolTipsVisible(true);
  for (const ServerFormat& format : kServerFormats)
    for (const ExportFormat& known : export_formats()) {
      if (known.id != format.id) continue;
      QAction* action =
          menu->addAction(tr("For %1...").arg(format.server), this, [this, id = format.id] { export_as(id); });
      action->setToolTip(QString::fromUtf8(known.summary.data(), static_cast<qsizetype>(known.summary.size())));
    }
  export_->setMenu(menu);
  bar()->addWidget(export_);
}

PlacementView::Wanted PlacementView::wanted(const Context& context) const {
  Wanted w{context.main.file,
           cluster_->spec(),
           context.main.run,
           start_->currentData().toLongLong(),
           spare_->currentText().toInt(),
           choices_->replicas(),
           choices_->residence()};
  const bool same =
      w.file == shown_.file && w.run == shown_.run && w.cluster == shown_.cluster && w.spare == shown_.spare;
  if (w.file != shown_.file || w.run != shown_.run)
    w.start = kNewest;
  else if (!same)
    w.start = 0;  // of another shape
  return w;
}

PlacementView::Wanted PlacementView::newest_of(const Opened& opened, const Wanted& want) {
  const auto usual = [](const auto& rule, const auto& standard) {
    return !rule || *rule == standard ? std::string() : std::string(to_text(*rule));
  };
  for (auto stored = opened.stored.rbegin(); stored != opened.stored.rend(); ++stored) {
    const Placement& p = stored->placement;
    const bool known = std::count(opened.presets.begin(), opened.presets.end(), stored->cluster) > 0;
    if (!known || p.ranks <= 0 || p.layers.empty()) continue;
    int32_t branches = 0;
    for (const LayerSlots& layer : p.layers)
      for (const int32_t branch : layer) branches = std::max(branches, branch + 1);
    Wanted newest = want;
    newest.start = stored->id, newest.cluster = "preset:" + stored->cluster;
    newest.spare = static_cast<int>(p.slot_count()) / p.ranks - (branches + p.ranks - 1) / p.ranks;
    newest.replicas = usual(stored->replicas, ReplicaRule::even);
    newest.residence = usual(stored->residence, Residence::home);
    return newest;
  }
  return want;
}

void PlacementView::show_wanted(const Wanted& want) {
  const QSignalBlocker quiet(spare_);
  const QString spare = QString::number(want.spare);
  if (spare_->findText(spare) < 0) spare_->addItem(spare);
  spare_->setCurrentIndex(spare_->findText(spare));
  choices_->set(want.replicas, want.residence);
}

View::Load PlacementView::load(const Context& context, const Selection&) {
  if (context.main.empty()) {
    edited_.reset(), stored_.clear(), shown_ = {};
    show_no_run(context);
    return nullptr;
  }
  const Wanted want = wanted(context);
  const bool same = edited_ && want == shown_;
  if (same && !(unread() & (Part::run | Part::session))) return nullptr;
  // If the session has only grown, for example by a stored placement, changes made by hand stay.
  const bool only_list = same && !(edited_->placement() == edited_->start());
  const bool replaces = edited_ && want.file == shown_.file && want.run == shown_.run;
  const bool judges = !replaces || (unread() & (Part::run | Part::session));
  // Controls that were set before anything was opened ask for something else than what was stored last.
  const bool takes_newest = edited_ || (want.spare == 0 && want.replicas.empty() && want.residence.empty());
  return [this, want, only_list, replaces, takes_newest, judges](const Progress& progress) -> Deliver {
    Opened opened;
    opened.stored = stored_layouts(want.file, want.run);
    opened.presets = cluster_presets();
    Wanted now = want;
    if (want.start == kNewest) {
      now.start = 0;
      if (takes_newest) open_newest(newest_of(opened, now), progress, opened, now);
    }
    try {
      if (!only_list && !opened.edited) opened.edited = open_wanted(now, progress);
    } catch (const Error& e) {
      if (!replaces || progress.cancel.cancelled()) throw;
      opened.refused = without_options(QString::fromUtf8(e.what()));
    }
    if (judges) opened.chances = read_load_chances(want.file, want.run, progress);
    return [this, now, opened] { take(now, opened); };
  };
}

std::shared_ptr<EditedPlacement> PlacementView::open_wanted(const Wanted& want, const Progress& progress) {
  PlaceOptions options;
  options.session = want.file + "#" + std::to_string(want.run), options.cluster = want.cluster;
  options.step.replicas = want.replicas, options.step.residence = want.residence;
  if (want.start > 0) options.from = want.file + "#" + std::to_string(want.start);
  return EditedPlacement::open(options, want.spare, progress);
}

/// One that cannot be opened, as of a cluster whose figures were changed since, leaves `now` as it is.
void PlacementView::open_newest(const Wanted& newest, const Progress& progress, Opened& opened, Wanted& now) {
  if (newest == now) return;
  try {
    opened.edited = open_wanted(newest, progress);
    now = newest;
  } catch (const Error&) {
    if (progress.cancel.cancelled()) throw;
  }
}

void PlacementView::take(const Wanted& want, Opened opened) {
  stored_ = std::move(opened.stored);
  if (opened.chances) chances_ = std::move(*opened.chances);
  if (!opened.refused.isEmpty()) {
    emit said(opened.refused);
    show_wanted(shown_);
  }
  if (opened.edited) {
    picture_->let_go();
    preview_.clear();
    edited_ = std::move(opened.edited);
    shown_ = want;
    show_wanted(shown_);
    fill_layers();
    follow_router();
    show_front_of_session();
  }
  cluster_->set(opened.presets, shown_.cluster, edited_->about().cluster);
  fill_starts();
  select(selection_);
  refresh_page();
  show_content();
}

void PlacementView::fill_starts() {
  const QSignalBlocker quiet(start_);
  start_->clear();
  start_->addItem(tr("contiguous (no placement)"), qlonglong{0});
  start_->setItemData(0, tr("No placement: expert after expert, as servers begin"), Qt::ToolTipRole);
  add_stored(
      start_, stored_, [this](const StoredLayout& s) { return fits(s); }, tr("with another Cluster or Spare slots"));
  start_->setCurrentIndex(std::max(0, start_->findData(static_cast<qlonglong>(shown_.start))));
}

void PlacementView::fill_layers() {
  const QSignalBlocker quiet(layer_);
  const QString chosen = layer_->currentText();
  layer_->clear();
  const EditedAbout& about = edited_->about();
  for (size_t l = 0; l < about.routers.size(); ++l) {
    layer_->addItem(layer_name(about, l));
    layer_->setItemData(layer_->count() - 1, to_qstring(about.routers[l]), Qt::ToolTipRole);
  }
  layer_->setCurrentIndex(std::max(0, layer_->findText(chosen)));
  part_->setEnabled(about.has_held_out);
}

/// True if it has as many GPUs and slots as the current placement.
bool PlacementView::fits(const StoredLayout& stored) const {
  return stored.placement.ranks == edited_->about().ranks &&
         stored.placement.slot_count() == edited_->about().slot_count;
}

/// Takes the front of the search that made the start, else of the newest one whose figures are those shown here.
void PlacementView::show_front_of_session() {
  front_.clear(), front_placements_.clear(), front_of_.clear();
  const EditedAbout& about = edited_->about();
  const StoredLayout* best = nullptr;
  for (const StoredLayout& s : stored_)
    if (!s.front.empty() && fits(s) && s.cluster == about.cluster.name && s.replicas == about.replicas &&
        s.residence == about.residence.value_or(Residence::home) && (!best || best->id != shown_.start))
      best = &s;
  if (best) front_ = best->front, front_of_ = QString("#%1 %2").arg(best->id).arg(to_qstring(best->name));
}

QStringList PlacementView::remarks() const {
  if (!edited_) return {};
  const EditedAbout& about = edited_->about();
  QStringList lines = {
      tr("Nothing runs on %1 here: figures are predicted.").arg(counted_text(about.ranks, "GPU", "GPUs"))};
  if (!about.backend) lines << tr("The model's sizes or its steps are not known, so no step is costed.");
  if (!about.has_held_out) lines << tr("There is one step: nothing is held out.");
  if (about.followed_tokens > 0 && std::max(about.fitted, about.held_out) > about.followed_tokens)
    lines
        << tr("Traffic and steps are of %1 tokens of each part, evenly chosen.").arg(count_text(about.followed_tokens));
  return lines;
}

size_t PlacementView::layer() const { return static_cast<size_t>(std::max(0, layer_->currentIndex())); }
DataPart PlacementView::part() const { return part_->currentIndex() == 1 ? DataPart::fitted : DataPart::held_out; }

void PlacementView::select(const Selection& selection) {
  const bool other_router = selection.router != selection_.router;
  selection_ = selection;
  if (!edited_) return;
  if (other_router) follow_router();
  const bool here = selection.router.isEmpty() || selection.router == to_qstring(edited_->about().routers[layer()]);
  picture_->set_selected_branch(here ? selection.branch : -1);
}

/// Moves to the layer of the common selection, if it is here.
void PlacementView::follow_router() {
  const std::vector<std::string>& routers = edited_->about().routers;
  const auto at = std::find(routers.begin(), routers.end(), selection_.router.toStdString());
  if (at != routers.end()) layer_->setCurrentIndex(static_cast<int>(at - routers.begin()));
}

void PlacementView::refresh_page() {
  if (!edited_) return;
  PlacementPage page = make_placement_page(*edited_, layer(), part(), chances_);
  page.front = front_, page.front_of = front_of_;
  picture_->set_page(std::move(page));
  back_->setEnabled(!(edited_->placement() == edited_->start()));
  refresh_table();
}

void PlacementView::end_preview() {
  if (preview_.empty()) return;
  edited_->apply(inverse(preview_));
  preview_.clear();
}

void PlacementView::solve() {
  if (!edited_) return;
  emit work_wanted(
      [this, edited = edited_, solver = solver_->currentText().toStdString()](const Progress& progress) -> Deliver {
        const auto found = std::make_shared<const FoundLayout>(edited->solve(solver, kSearchSeconds, progress));
        return [this, edited, found] { take_found(edited, *found); };
      });
}

void PlacementView::take_found(const Edited& edited, const FoundLayout& found) {
  if (edited != edited_) return emit said(tr("The search was for another cluster than the one on show"));
  end_preview();
  picture_->let_go();
  if (!found.front.empty()) {
    front_.clear(), front_placements_.clear();
    for (const FoundLayout::Other& o : found.front) front_.push_back(o.point), front_placements_.push_back(o.placement);
    front_of_ = to_qstring(found.figures.solver);
  }
  for (const std::string& warning : found.figures.warnings) emit said(to_qstring(warning));
  emit said(tr("Advice: %1").arg(to_qstring(found.figures.advice)));
  edit(tr("solved by %1").arg(to_qstring(found.figures.solver)), difference(edited_->placement(), found.placement));
  refresh_page();
}

void PlacementView::take_front(int point) {
  const size_t p = point;
  if (p >= front_placements_.size())
    return emit said(tr("A stored search keeps the figures of its front, not the placements. Solve finds them again"));
  end_preview();
  edit(tr("the front's %1").arg(to_qstring(front_[p].name)), difference(edited_->placement(), front_placements_[p]));
}

void PlacementView::store() {
  if (!edited_) return;
  end_preview();
  emit work_wanted([this, edited = edited_, placement = edited_->placement()](const Progress& progress) -> Deliver {
    const int64_t id = edited->store(placement, "hand", progress);
    return [this, edited, id] { emit said(tr("Stored: %1#%2").arg(to_qstring(edited->about().session)).arg(id)); };
  });
}

void PlacementView::export_as(const std::string& format) {
  if (!edited_) return;
  end_preview();
  emit work_wanted(
      [this, edited = edited_, placement = edited_->placement(), format](const Progress& progress) -> Deliver {
        const int64_t id = edited->store(placement, "hand", progress);
        const QByteArray bytes = server_file(edited->about().session, id, format, progress);
        return [this, bytes, format] {
          for (const ServerFormat& f : kServerFormats)
            if (format == f.id) {
              const QString suffix = QString(f.file).section('.', -1);
              emit save_wanted(f.file, tr("Placements for %1 (*.%2)").arg(f.server, suffix), bytes);
            }
        };
      });
}

Table PlacementView::table() const { return edited_ ? make_placement_table(picture_->page()) : Table(); }

}  // namespace stormcell::views
