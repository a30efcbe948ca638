// The window's parts, and their connections.
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolButton>
#include <QUndoCommand>
#include <QVBoxLayout>
#include <utility>

#include "app/studio/main_window.h"
#include "app/studio/model_page.h"
#include "app/studio/notice_bar.h"
#include "app/studio/open_list.h"
#include "app/studio/recording_panel.h"
#include "app/studio/selection_bar.h"
#include "app/studio/welcome_page.h"
#include "app/studio/what_if_pages.h"
#include "app/studio/what_if_panel.h"
#include "core/base/run_kind.h"
#include "views/registry.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {
namespace {

/// A change that a view makes to itself.
class EditCommand : public QUndoCommand {
 public:
  EditCommand(const QString& what, std::function<void()> redo, std::function<void()> undo)
      : QUndoCommand(what), redo_(std::move(redo)), undo_(std::move(undo)) {}
  void redo() override { redo_(); }
  void undo() override { undo_(); }

 private:
  std::function<void()> redo_, undo_;
};

/// A list that is as high as all of its rows, in any font.
class WholeList : public QListWidget {
 public:
  explicit WholeList(QWidget* parent) : QListWidget(parent) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  }
  QSize sizeHint() const override {
    int shown = 0;
    for (int i = 0; i < count(); ++i) shown += item(i)->isHidden() ? 0 : 1;
    return {QListWidget::sizeHint().width(), sizeHintForRow(count() - 1) * shown + 2 * frameWidth() + 2};
  }
  QSize minimumSizeHint() const override { return {QListWidget::minimumSizeHint().width(), sizeHint().height()}; }

 protected:
  void changeEvent(QEvent* event) override {
    QListWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) updateGeometry();
  }
};

}  // namespace

void MainWindow::build_center() {
  center_ = new QStackedWidget(this);
  welcome_ =
      new WelcomePage(actions_, {"open-model", "open-sample", "run-demo", "open-session", "import-trace"}, center_);
  center_->addWidget(welcome_);
  for (const views::ViewEntry& entry : views::all_views()) {
    views::View* view = entry.make(center_);
    view->setAccessibleName(tr(entry.title));
    views_.insert(entry.id, view);
    center_->addWidget(view);
  }
  auto* middle = new QWidget(this);
  auto* rows = new QVBoxLayout(middle);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  notice_ = new NoticeBar(middle);
  rows->addWidget(notice_);
  selection_bar_ = new SelectionBar(middle);
  rows->addWidget(selection_bar_);
  rows->addWidget(center_, 1);
  setCentralWidget(middle);
}

void MainWindow::build_side() {
  side_ = new QDockWidget(tr("Session"), this);
  side_->setObjectName("session-dock");
  side_->setFeatures(QDockWidget::DockWidgetMovable |
                     QDockWidget::DockWidgetFloatable);  // put away by its command, which brings it back
  auto* column = new QWidget(side_);
  auto* layout = new QVBoxLayout(column);
  layout->setContentsMargins(6, 6, 6, 6);
  open_title_ = new QLabel(tr("Open"), column);
  open_list_ = new OpenList(column);
  open_list_->setMaximumHeight(open_list_->fontMetrics().lineSpacing() * 8);
  open_title_->setBuddy(open_list_);
  layout->addWidget(open_title_);
  layout->addWidget(open_list_);
  view_list_ = new WholeList(column);
  view_list_->setAccessibleName(tr("Views"));
  auto* model = new QListWidgetItem(tr("Model"), view_list_);
  model->setData(Qt::UserRole, kModelView);
  model->setToolTip(tr("The model's sheet, and data for another run"));
  for (const views::ViewEntry& entry : views::all_views()) {
    auto* item = new QListWidgetItem(tr(entry.title), view_list_);
    item->setData(Qt::UserRole, entry.id);
    item->setToolTip(tr(entry.help));
  }
  layout->addWidget(view_list_);
  runs_title_ = new QLabel(tr("Runs"), column);
  layout->addWidget(runs_title_);
  run_list_ = new QListWidget(column);
  run_list_->setObjectName("runs");
  run_list_->setAccessibleName(tr("Runs of the session"));
  run_list_->setContextMenuPolicy(Qt::ActionsContextMenu);
  run_list_->setWordWrap(true);
  run_list_->setSpacing(3);  // a run has two or three lines: which belong together must be seen
  layout->addWidget(run_list_, 1);
  runs_title_->setBuddy(run_list_);
  side_->setWidget(column);
  addDockWidget(Qt::LeftDockWidgetArea, side_);
  side_->setMinimumWidth(190);
  side_->hide();
}

void MainWindow::build_log() {
  log_dock_ = new QDockWidget(tr("Log"), this);
  log_dock_->setObjectName("log-dock");
  log_dock_->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable);
  log_ = new QPlainTextEdit(log_dock_);
  log_->setReadOnly(true);
  log_->setMaximumBlockCount(5000);
  log_->setAccessibleName(tr("What happened"));
  log_dock_->setWidget(log_);
  addDockWidget(Qt::BottomDockWidgetArea, log_dock_);
  log_dock_->hide();
}

void MainWindow::build_what_if() {
  what_if_dock_ = new QDockWidget(tr("What if"), this);
  what_if_dock_->setObjectName("what-if-dock");
  what_if_dock_->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable);
  what_if_ = new WhatIfPages(what_if_dock_);
  what_if_dock_->setWidget(what_if_);
  addDockWidget(Qt::RightDockWidgetArea, what_if_dock_);
  what_if_dock_->setMinimumWidth(280);
  what_if_dock_->hide();
  connect(what_if_dock_, &QDockWidget::visibilityChanged, this, [this](bool shown) {
    if (shown) update_what_if();
  });
  const WhatIfPanel* runs = what_if_->of_runs();
  connect(runs, &WhatIfPanel::try_wanted, this, &MainWindow::try_out);
  connect(runs, &WhatIfPanel::search_wanted, this, &MainWindow::search_passes);
  connect(runs, &WhatIfPanel::run_chosen, &document_, &Document::show_run);
  connect(runs, &WhatIfPanel::compare_wanted, this, [this](qint64 first, qint64 second) {
    document_.show_run(second);
    document_.compare_with(QString::fromStdString(document_.session().file) + "#" + QString::number(first));
    show_view("compare");
  });
  connect(runs, &WhatIfPanel::save_wanted, this, &MainWindow::save);
  const auto say_copied = [this](const QString& what) { say(tr("Copied: %1").arg(what)); };
  connect(runs, &WhatIfPanel::copied, this, say_copied);
  const RecordingPanel* recordings = what_if_->of_recordings();
  connect(recordings, &RecordingPanel::work_wanted, &runs_, &RunController::start_work);
  connect(recordings, &RecordingPanel::choices_wanted, this, &MainWindow::write_choices);
  connect(recordings, &RecordingPanel::save_wanted, this, &MainWindow::save);
  connect(recordings, &RecordingPanel::copied, this, say_copied);
  connect(recordings, &RecordingPanel::said, this, &MainWindow::say);
}

void MainWindow::update_what_if() {
  // It reads what all runs of the session were made with: for nobody, while nobody sees it.
  if (!what_if_ || what_if_dock_->isHidden()) return;
  what_if_->set_session(document_.context().session, document_.context().main.run);
  what_if_->set_selection(document_.selection());
}

void MainWindow::build_status_bar() {
  progress_label_ = new QLabel(this);
  progress_ = new QProgressBar(this);
  progress_->setMaximumWidth(220);
  progress_->setTextVisible(false);
  stop_ = new QToolButton(this);
  stop_->setDefaultAction(actions_.action("stop"));
  for (QWidget* w :
       {static_cast<QWidget*>(progress_label_), static_cast<QWidget*>(progress_), static_cast<QWidget*>(stop_)})
    w->hide();
  statusBar()->addPermanentWidget(progress_label_);
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(stop_);
}

void MainWindow::connect_lists() {
  connect(&actions_, &Actions::refused, this, &MainWindow::say);
  connect(welcome_, &WelcomePage::recent_wanted, this, &MainWindow::open);
  connect(view_list_, &QListWidget::currentRowChanged, this, [this] { update_view(); });
  // After a click, the view has the focus: keys are for it, not for a search in the list.
  connect(view_list_, &QListWidget::itemClicked, this, [this] {
    if (view()) view()->picture()->setFocus();
  });
  connect(open_list_, &OpenList::chosen, this, &MainWindow::show_entry);
  connect(run_list_, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
    if (item) document_.show_run(item->data(Qt::UserRole).toLongLong());
  });
  for (const QString& id :
       {QString("compare-run"), QString("compare-nothing"), QString("run-again"), QString("copy-command")})
    run_list_->addAction(actions_.action(id));
}

void MainWindow::connect_views() {
  for (views::View* view : std::as_const(views_)) {
    connect(view, &views::View::selection_wanted, &document_, &Document::select);
    connect(view, &views::View::action_wanted, this, [this](const QString& id) { actions_.trigger(id); });
    connect(view, &views::View::load_wanted, this, &MainWindow::update_view);
    connect(view, &views::View::content_changed, this, [this] { actions_.refresh(); });
    connect(view, &views::View::said, this, &MainWindow::say);
    connect(view, &views::View::run_wanted, this,
            [this](const PassSelection& passes) { run_again({.passes = passes, .alone = false}); });
    connect(view, &views::View::thresholds_wanted, this, [this](const RouterThresholds& exits) {
      auto wanted = document_.run() ? try_settings(*document_.run()) : std::nullopt;
      if (!wanted) return say(tr("How this run was made is not known"));
      wanted->exits = exits;
      try_out(*wanted);
    });
    connect(view, &views::View::save_wanted, this, &MainWindow::save);
    connect(view, &views::View::work_wanted, &runs_, &RunController::start_work);
    connect(view, &views::View::edit_wanted, this,
            [this](const QString& what, const std::function<void()>& redo, const std::function<void()>& undo) {
              document_.undo_stack().push(new EditCommand(what, redo, undo));
              actions_.refresh();
            });
  }
}

void MainWindow::connect_document() {
  connect(&document_, &Document::opened, this, &MainWindow::take_opened);
  connect(&document_, &Document::runs_changed, this, [this](const QString& what) {
    update_runs();
    update_what_if();
    if (!what.isEmpty()) say(tr("The session changed: %1").arg(what));
    show_wanted_run();
  });
  connect(&document_, &Document::context_changed, this, [this] {
    update_runs();
    update_what_if();
    update_view();
  });
  connect(&document_, &Document::selection_changed, this, [this] {
    update_view();
    what_if_->set_selection(document_.selection());
  });
  connect(&document_, &Document::choices_changed, this, [this] { selection_bar_->set_choices(document_.choices()); });
  connect(selection_bar_, &SelectionBar::selection_wanted, &document_, &Document::select);
  connect(&document_, &Document::failed, this, [this](const QString& message) {
    after_opening_ = nullptr;
    if (!document_.empty())
      open_list_->select(open_list_->find_session(QString::fromStdString(document_.session().file)));
    drop_faults_ << message;
    complain(std::exchange(drop_faults_, {}).join('\n'));
  });
  connect(&document_, &Document::looked_over, this, [this](const QString& damage) {
    if (!damage.isEmpty()) complain(damage);
  });
}

void MainWindow::take_opened() {
  setWindowTitle(document_.empty()
                     ? QString("Stormcell Studio")
                     : QFileInfo(QString::fromStdString(document_.session().file)).fileName() + " - Stormcell Studio");
  if (!document_.empty()) {
    notice_->hide();
    remember(QString::fromStdString(document_.session().file));
    const size_t runs = document_.session().runs.size();
    say(tr("Opened %1: %2, %3")
            .arg(recent_.constFirst(), QString::fromStdString(document_.session().model),
                 views::counted_text(static_cast<qint64>(runs), "run")));
    const QString file = QString::fromStdString(document_.session().file);
    const int known = open_list_->find_session(file);
    open_list_->select(known >= 0 ? known : open_list_->add({nullptr, file}));
    if (view_list_->currentRow() < 0) view_list_->setCurrentRow(1);
  } else {
    runs_.release_model();
  }
  update_side();
  update_runs();
  update_view();
  if (const QStringList faults = std::exchange(drop_faults_, {}); !faults.isEmpty()) complain(faults.join('\n'));
  show_wanted_run();
  if (const auto waiting = std::exchange(after_opening_, nullptr); waiting && !document_.empty()) waiting();
}

void MainWindow::show_progress(bool shown) {
  for (QWidget* w :
       {static_cast<QWidget*>(progress_label_), static_cast<QWidget*>(progress_), static_cast<QWidget*>(stop_)})
    w->setVisible(shown);
  progress_->setRange(0, 0);
  progress_label_->clear();
}

void MainWindow::tell_progress(const QString& text, int permille) {
  progress_->setRange(0, permille < 0 ? 0 : 1000);
  progress_->setValue(std::max(0, permille));
  progress_label_->setText(text);
}

void MainWindow::connect_runs() {
  connect(&runs_, &RunController::running_changed, this, [this](bool running) {
    show_progress(running);
    document_.expect_changes(running);
    if (!running) end_following();
    what_if_->set_running(running);
    update_pages();
    actions_.refresh();
  });
  document_.set_busy([this] { return view() && background_.reads(view()); });
  watch_timer_.setInterval(1000);
  connect(&watch_timer_, &QTimer::timeout, this, &MainWindow::watch_model);
  watch_timer_.start();
  follow_timer_.setInterval(300);
  connect(&follow_timer_, &QTimer::timeout, this, &MainWindow::follow_run);
  connect(&runs_, &RunController::progressed, this,
          [this](const QString& text, int permille) { tell_progress(text, permille); });
  // Shows the progress of the current view's reading, unless a run is going on.
  connect(&background_, &Background::progressed, this,
          [this](const views::View* of, const QString& text, int permille) {
            if (runs_.running() || of != view()) return;
            if (stop_->isHidden()) {
              show_progress(true);
              actions_.refresh();
            }
            tell_progress(text, permille);
          });
  connect(&background_, &Background::read, this, [this](const views::View* of) {
    if (runs_.running() || of != view()) return;
    show_progress(false);
    actions_.refresh();
  });
  connect(&runs_, &RunController::imported, this, &MainWindow::take_import);
  connect(&runs_, &RunController::finished, this,
          [this](const std::shared_ptr<const RunSummaryFigures>& figures) { take_result(*figures); });
  connect(&runs_, &RunController::failed, this, [this](const QString& message) {
    run_fault_ = tr("Failed: %1").arg(message);
    complain(run_fault_);
    if (followed_ && followed_->page)
      followed_->page->show_fault(message);
    else
      what_if_->show_fault(message);
  });
  connect(&runs_, &RunController::files_changed, this, [this] {
    complain(tr("Files of the model or the data changed while the run went on: it may have read both. Run it again."));
  });
  connect(&runs_, &RunController::work_stopped, this, [this] { say(tr("Stopped: nothing was changed")); });
  connect(&runs_, &RunController::cancelled, this, [this] {
    const QString message =
        tr("Stopped. What was recorded until then is in the session, and a run that was cut short is marked "
           "interrupted. Run it again to "
           "start anew.");
    say(message);
    notice_->show_fact(message);
  });
}

namespace {

/// Outcome of an optimisation, in a sentence without its end.
QString outcome(const RunSummaryFigures& f) {
  const auto& ci = f.speedup_ci95;
  if (run_kind(f.verb) == RunKind::run)
    return f.is_verified() ? MainWindow::tr("verified") : MainWindow::tr("its result could not be verified");
  if (!f.optimized && f.verified && f.verified->passed)
    return MainWindow::tr("verified: nothing was gained, the plan is the baseline's");
  if (f.withheld)
    return MainWindow::tr("verified: the speed-up was %1").arg(QString::fromStdString(not_measured_text(*f.withheld)));
  if (!f.speedup) return MainWindow::tr("its result could not be verified");
  if (ci && (*ci)[0] <= 1 && (*ci)[1] >= 1)
    return MainWindow::tr("verified: no measurable difference, 95 % interval %1 to %2 times the baseline")
        .arg((*ci)[0], 0, 'f', 2)
        .arg((*ci)[1], 0, 'f', 2);
  return MainWindow::tr("%1 times as fast as the baseline, verified").arg(*f.speedup, 0, 'f', 2);
}

}  // namespace

void MainWindow::take_result(const RunSummaryFigures& f) {
  const QString both = f.decode ? tr("; decoding: %1").arg(outcome(*f.decode)) : QString();
  say(tr("Run finished: %1").arg(outcome(f)) + both);
  if (followed_) {
    if (followed_->page != model_page()) return;  // something else is on show now
    if (!std::exchange(followed_->shown, true) && view_id() == kModelView) show_view("heatmap");
  }
  wanted_run_ = show_new_run_ ? f.session_run : 0;
  if (document_.empty() || QString::fromStdString(document_.session().file) != run_session_)
    document_.open(run_session_);
  else
    document_.poll();
  show_wanted_run();  // the timer may have seen it before
}

}  // namespace stormcell::studio
