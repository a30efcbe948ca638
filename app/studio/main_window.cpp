#include "app/studio/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QMenuBar>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTime>
#include <QToolBar>
#include <QToolButton>
#include <QUndoCommand>
#include <QVBoxLayout>

#include "app/studio/command_line.h"
#include "app/studio/welcome_page.h"
#include "views/kit/theme.h"
#include "views/registry.h"

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

}  // namespace

MainWindow::MainWindow() : document_(background_), actions_(this) {
  setWindowTitle("Stormcell Studio");
  setAcceptDrops(true);
  resize(1280, 800);
  actions_.add(file_actions());
  actions_.add(run_actions());
  build();
  actions_.add(view_actions());
  actions_.add(help_actions());
  actions_.fill(menuBar());
  connect_all();
  update_view();
}

MainWindow::~MainWindow() = default;

void MainWindow::build() {
  center_ = new QStackedWidget(this);
  welcome_ = new WelcomePage(actions_, {"open-sample", "run-demo", "open-session", "import-trace", "open-model"}, center_);
  center_->addWidget(welcome_);
  for (const views::ViewEntry& entry : views::all_views()) {
    views::View* view = entry.make(center_);
    view->setAccessibleName(tr(entry.title));
    views_.insert(entry.id, view);
    center_->addWidget(view);
  }
  setCentralWidget(center_);

  auto* side = new QDockWidget(tr("Session"), this);
  side->setObjectName("session-dock");
  auto* column = new QWidget(side);
  auto* layout = new QVBoxLayout(column);
  layout->setContentsMargins(6, 6, 6, 6);
  view_list_ = new QListWidget(column);
  view_list_->setAccessibleName(tr("Views"));
  for (const views::ViewEntry& entry : views::all_views()) {
    auto* item = new QListWidgetItem(tr(entry.title), view_list_);
    item->setData(Qt::UserRole, entry.id);
    item->setToolTip(tr(entry.help));
  }
  view_list_->setMaximumHeight(static_cast<int>((view_list_->sizeHintForRow(0) + 1.0) * view_list_->count()) + 8);
  view_list_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  layout->addWidget(view_list_);
  auto* runs_title = new QLabel(tr("Runs"), column);
  layout->addWidget(runs_title);
  run_list_ = new QListWidget(column);
  run_list_->setObjectName("runs");
  run_list_->setAccessibleName(tr("Runs of the session"));
  run_list_->setContextMenuPolicy(Qt::ActionsContextMenu);
  run_list_->setWordWrap(true);
  layout->addWidget(run_list_, 1);
  side->setWidget(column);
  addDockWidget(Qt::LeftDockWidgetArea, side);
  side->setMinimumWidth(190);

  auto* bottom = new QDockWidget(tr("Log"), this);
  bottom->setObjectName("log-dock");
  log_ = new QPlainTextEdit(bottom);
  log_->setReadOnly(true);
  log_->setMaximumBlockCount(5000);
  log_->setAccessibleName(tr("What happened"));
  bottom->setWidget(log_);
  addDockWidget(Qt::BottomDockWidgetArea, bottom);
  bottom->hide();

  selection_label_ = new QLabel(this);
  progress_label_ = new QLabel(this);
  progress_ = new QProgressBar(this);
  progress_->setMaximumWidth(220);
  progress_->setTextVisible(false);
  stop_ = new QToolButton(this);
  stop_->setDefaultAction(actions_.action("stop"));
  for (QWidget* w : {static_cast<QWidget*>(progress_label_), static_cast<QWidget*>(progress_), static_cast<QWidget*>(stop_)}) w->hide();
  statusBar()->addPermanentWidget(selection_label_);
  statusBar()->addPermanentWidget(progress_label_);
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(stop_);
}

void MainWindow::connect_all() {
  connect(&actions_, &Actions::refused, this, &MainWindow::say);
  connect(welcome_, &WelcomePage::recent_wanted, this, &MainWindow::open);
  connect(view_list_, &QListWidget::currentRowChanged, this, [this] { update_view(); });
  connect(run_list_, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
    if (item) document_.show_run(item->data(Qt::UserRole).toLongLong());
  });
  for (const QString& id : {QString("compare-run"), QString("compare-nothing"), QString("run-again"), QString("copy-command")})
    run_list_->addAction(actions_.action(id));
  for (views::View* view : std::as_const(views_)) {
    connect(view, &views::View::selection_wanted, &document_, &Document::select);
    connect(view, &views::View::action_wanted, this, [this](const QString& id) { actions_.trigger(id); });
    connect(view, &views::View::load_wanted, this, &MainWindow::update_view);
    connect(view, &views::View::said, this, &MainWindow::say);
    connect(view, &views::View::run_wanted, this, [this](const PlanChoice& passes) { run_again({.passes = passes, .alone = false}); });
    connect(view, &views::View::save_wanted, this, &MainWindow::save);
    connect(view, &views::View::edit_wanted, this,
            [this](const QString& what, const std::function<void()>& redo, const std::function<void()>& undo) {
              document_.undo_stack().push(new EditCommand(what, redo, undo));
              actions_.refresh();
            });
  }

  connect(&document_, &Document::opened, this, [this] {
    setWindowTitle(document_.empty() ? QString("Stormcell Studio")
                                     : QFileInfo(QString::fromStdString(document_.session().file)).fileName() + " - Stormcell Studio");
    if (!document_.empty()) {
      remember(QString::fromStdString(document_.session().file));
      say(tr("Opened %1: %2, %3 runs")
              .arg(recent_.constFirst(), QString::fromStdString(document_.session().model))
              .arg(document_.session().runs.size()));
      if (view_list_->currentRow() < 0) view_list_->setCurrentRow(0);
    }
    update_runs();
    update_view();
  });
  connect(&document_, &Document::runs_changed, this, [this](const QString& what) {
    update_runs();
    if (!what.isEmpty()) say(tr("The session changed: %1").arg(what));
    show_wanted_run();
  });
  connect(&document_, &Document::context_changed, this, [this] {
    update_runs();
    update_view();
  });
  connect(&document_, &Document::selection_changed, this, [this] { update_view(); });
  connect(&document_, &Document::failed, this, &MainWindow::say);

  connect(&runs_, &RunController::running_changed, this, [this](bool running) {
    for (QWidget* w : {static_cast<QWidget*>(progress_label_), static_cast<QWidget*>(progress_), static_cast<QWidget*>(stop_)})
      w->setVisible(running);
    progress_->setRange(0, 0);
    actions_.refresh();
  });
  connect(&runs_, &RunController::progressed, this, [this](const QString& stage, int permille, double left) {
    progress_->setRange(0, permille < 0 ? 0 : 1000);
    progress_->setValue(std::max(0, permille));
    progress_label_->setText(left >= 0 ? tr("%1, %2 s left").arg(stage).arg(left, 0, 'f', left < 10 ? 1 : 0) : stage);
  });
  connect(&runs_, &RunController::finished, this, [this](const std::shared_ptr<const RunSummaryFigures>& f) {
    say(f->speedup ? tr("Run finished: %1 times the baseline, verified").arg(*f->speedup, 0, 'f', 2)
                   : tr("Run finished; its result could not be verified"));
    wanted_run_ = show_new_run_ ? f->session_run : 0;
    if (document_.empty() || QString::fromStdString(document_.session().file) != run_session_)
      document_.open(run_session_);
    else
      document_.poll();
    show_wanted_run();  // the timer may have seen it before
  });
  connect(&runs_, &RunController::failed, this, [this](const QString& message) { say(tr("The run failed: %1").arg(message)); });
  connect(&runs_, &RunController::cancelled, this, [this] { say(tr("Run cancelled; what it had finished is in the session")); });
}

views::View* MainWindow::view() const { return document_.empty() ? nullptr : views_.value(view_id()); }
QString MainWindow::view_id() const {
  return view_list_->currentItem() ? view_list_->currentItem()->data(Qt::UserRole).toString() : QString();
}

void MainWindow::show_view(const QString& id) {
  for (int i = 0; i < view_list_->count(); ++i)
    if (view_list_->item(i)->data(Qt::UserRole).toString() == id) view_list_->setCurrentRow(i);
}

void MainWindow::update_view() {
  actions_.refresh();
  const views::Selection& s = document_.selection();
  QString text;
  if (!s.router.isEmpty()) text = s.branch >= 0 ? tr("%1, branch %2").arg(s.router).arg(s.branch) : s.router;
  if (s.cell) text += (text.isEmpty() ? "" : "; ") + tr("cell %1:%2").arg(s.cell->sequence).arg(s.cell->position);
  selection_label_->setText(text);
  views::View* now = view();
  if (!now) {
    center_->setCurrentWidget(welcome_);
    return;
  }
  center_->setCurrentWidget(now);
  now->select(s);
  if (views::View::Load load = now->load(document_.context(), s)) {
    if (!now->has_content()) now->show_message(tr("Reading..."));
    background_.start(now, std::move(load), [this, now](const QString& message) {
      now->show_message(message, {{"reload", tr("Try again")}, {"open-session", tr("Open another session...")}});
      say(message);
    });
  }
}

void MainWindow::show_wanted_run() {
  if (wanted_run_ == 0 || document_.empty()) return;
  for (const RunLine& run : document_.session().runs)
    if (run.id == wanted_run_ && run.status != "running") {
      wanted_run_ = 0;
      document_.show_run(run.id);
      return;
    }
}

void MainWindow::update_runs() {
  const QSignalBlocker quiet(run_list_);
  run_list_->clear();
  if (document_.empty()) return;
  for (const RunLine& run : document_.session().runs) {
    QString text = title_of(run) + "\n" + tr("%1 batches, %2").arg(run.batches).arg(QString::fromStdString(run.status));
    const views::Source& other = document_.context().other;
    if (other.run == run.id && other.file == document_.session().file) text += "\n" + tr("compared with");
    auto* item = new QListWidgetItem(text, run_list_);
    item->setData(Qt::UserRole, static_cast<qlonglong>(run.id));
    item->setToolTip(tr("Begun %1").arg(QString::fromStdString(run.started)) + "\n" + QString::fromStdString(run.settings));
    if (run.id == document_.context().main.run) run_list_->setCurrentItem(item);
  }
}

void MainWindow::say(const QString& message) {
  statusBar()->showMessage(message, 15000);
  log_->appendPlainText(QTime::currentTime().toString("HH:mm:ss  ") + message);
}

void MainWindow::remember(const QString& session) {
  recent_.removeAll(session);
  recent_.prepend(session);
  while (recent_.size() > 8) recent_.removeLast();
  welcome_->set_recent(recent_);
  if (remembers_) QSettings().setValue("recent", recent_);
}

void MainWindow::restore(bool session_too) {
  remembers_ = true;
  QSettings settings;
  recent_ = settings.value("recent").toStringList();
  welcome_->set_recent(recent_);
  restoreGeometry(settings.value("geometry").toByteArray());
  restoreState(settings.value("state").toByteArray());
  set_theme(settings.value("theme", "system").toString());
  if (const double points = settings.value("font-size").toDouble(); points >= 6 && points <= 32) set_font_size(points);
  show_view(settings.value("view", views::all_views()[0].id).toString());
  const QString last = settings.value("session").toString();
  if (session_too && !last.isEmpty()) {
    views::Selection selection;
    selection.router = settings.value("router").toString();
    selection.branch = settings.value("branch", -1).toInt();
    selection.first_batch = settings.value("first-batch", 0).toLongLong();
    selection.end_batch = settings.value("end-batch", -1).toLongLong();
    document_.open(last, selection);
  }
}

void MainWindow::closeEvent(QCloseEvent* event) {
  runs_.cancel();
  if (remembers_) {
    QSettings settings;
    settings.setValue("geometry", saveGeometry());
    settings.setValue("state", saveState());
    settings.setValue("view", view_id());
    const views::Source& main = document_.context().main;
    settings.setValue("session", main.empty() ? QString() : QString::fromStdString(main.file) + "#" + QString::number(main.run));
    settings.setValue("router", document_.selection().router);
    settings.setValue("branch", document_.selection().branch);
    settings.setValue("first-batch", static_cast<qlonglong>(document_.selection().first_batch));
    settings.setValue("end-batch", static_cast<qlonglong>(document_.selection().end_batch));
  }
  event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().constFirst().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QString file = event->mimeData()->urls().constFirst().toLocalFile();
  event->acceptProposedAction();
  // After the source of the drag has been let go.
  QMetaObject::invokeMethod(
      this, [this, file] { open_anything(file); }, Qt::QueuedConnection);
}

void MainWindow::set_theme(const QString& theme) {
  theme_ = theme;
  const bool dark = theme == "dark" || (theme == "system" && QGuiApplication::palette().color(QPalette::Window).lightness() < 128);
  QApplication::setPalette((dark ? views::Theme::dim() : views::Theme::light()).palette());
  if (remembers_) QSettings().setValue("theme", theme);
}

void MainWindow::set_font_size(double points) {
  QFont font = QApplication::font();
  font.setPointSizeF(points);
  QApplication::setFont(font);
  if (remembers_) QSettings().setValue("font-size", points);
}

}  // namespace stormcell::studio
