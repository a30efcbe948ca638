#include "app/studio/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QLabel>
#include <QListWidget>
#include <QMenuBar>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTime>

#include "app/studio/command_line.h"
#include "app/studio/model_page.h"
#include "app/studio/notice_bar.h"
#include "app/studio/open_list.h"
#include "app/studio/selection_bar.h"
#include "app/studio/welcome_page.h"
#include "core/base/pass_names.h"
#include "core/base/run_kind.h"
#include "core/summary/budget_text.h"
#include "views/drawing/theme.h"
#include "views/optimisations/optimisations_model.h"
#include "views/registry.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {

MainWindow::MainWindow() : document_(background_), actions_(this) {
  setWindowTitle("Stormcell Studio");
  setAcceptDrops(true);
  resize(1280, 800);
  for (const auto& rows : {open_actions(), export_actions(), close_actions(), run_actions(), choose_actions()})
    actions_.add(rows);
  build_center();
  build_side();
  build_log();
  build_what_if();
  build_status_bar();
  for (const auto& rows : {view_actions(), edit_actions(), look_actions(), help_actions()}) actions_.add(rows);
  actions_.fill(menuBar());
  connect_lists();
  connect_views();
  connect_document();
  connect_runs();
  update_view();
}

MainWindow::~MainWindow() = default;

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
  selection_bar_->set_selection(document_.selection());
  selection_bar_->setVisible(!document_.empty());
  ModelPage* page = model_page();
  view_list_->item(0)->setHidden(!page);
  view_list_->updateGeometry();
  if (!page && view_id() == kModelView) return view_list_->setCurrentRow(1);  // comes here again
  views::View* now = view();
  if (!runs_.running()) show_progress(false);
  if (page && document_.empty()) setWindowTitle(page->model().name + " - Stormcell Studio");
  if (page && !now) return center_->setCurrentWidget(page);
  if (!now) {
    center_->setCurrentWidget(welcome_);
    return;
  }
  center_->setCurrentWidget(now);
  if (views::View::Load load = now->look_at(document_.context(), document_.selection())) {
    if (!now->has_content()) now->show_message(tr("Reading..."));
    background_.start(now, std::move(load), [this, now](const QString& message) {
      now->show_message(message, {{"reload", tr("Try again")}, {"open-session", tr("Open another session...")}});
      say(message);
    });
  }
}

void MainWindow::show_wanted_run() {
  if (wanted_run_ == 0 || document_.empty()) return;
  if (QString::fromStdString(document_.session().file) != run_session_) return;
  for (const RunLine& run : document_.session().runs)
    if (run.id == wanted_run_ && run.status != RunStatus::running) {
      wanted_run_ = 0;
      document_.show_run(run.id);
      return;
    }
}

namespace {
/// The result that tells a run from its neighbours: its speed-up, and passes that were left out.
QString result_of(const RunLine& run) {
  const auto chosen = views::chosen_passes(run);
  if (!chosen) return {};
  QStringList words;
  const RunSummaryFigures& figures = run.result->figures;
  if (figures.speedup) words << views::to_text(views::Gain{*figures.speedup, figures.speedup_ci95});
  if (figures.withheld)
    words << MainWindow::tr("speed-up %1").arg(QString::fromStdString(not_measured_text(*figures.withheld)));
  QStringList left_out;
  for (const QString& pass : views::default_passes())
    if (!chosen->enabled.contains(pass)) left_out << QString::fromStdString(pass_name(pass.toStdString()));
  left_out.sort();
  if (!left_out.isEmpty()) words << MainWindow::tr("without %1").arg(left_out.join(", "));
  if (const QString options = views::options_text(*chosen); !options.isEmpty()) words << options;
  return words.join(", ");
}
}  // namespace

void MainWindow::update_runs() {
  const QSignalBlocker quiet(run_list_);
  run_list_->clear();
  if (document_.empty()) return;
  for (const RunLine& run : document_.session().runs) {
    QString text = title_of(run) + "\n" + views::counted_text(run.batches, "batch") + ", " +
                   views::to_qstring(to_text(run.status));
    if (run.weight_budget > 0) text += "\n" + QString::fromStdString(budget_word(run.weight_budget));
    if (const QString result = result_of(run); !result.isEmpty()) text += "\n" + result;
    const views::Source& other = document_.context().other;
    if (other.run == run.id && other.file == document_.session().file) text += "\n" + tr("compared with");
    auto* item = new QListWidgetItem(text, run_list_);
    item->setData(Qt::UserRole, static_cast<qlonglong>(run.id));
    item->setToolTip(tr("Begun %1").arg(QString::fromStdString(run.started)) + "\n" +
                     QString::fromStdString(run.settings));
    if (run.id == document_.context().main.run) run_list_->setCurrentItem(item);
  }
}

void MainWindow::say(const QString& message) {
  statusBar()->showMessage(message, 15000);
  log_->appendPlainText(QTime::currentTime().toString("HH:mm:ss  ") + message);
}

void MainWindow::complain(const QString& message) {
  say(message);
  notice_->show_fault(message);
}

void MainWindow::update_side() {
  const bool several = open_list_->size() > 1, session = !document_.empty();
  open_title_->setVisible(several);
  open_list_->setVisible(several);
  view_list_->setVisible(session);
  runs_title_->setVisible(session);
  run_list_->setVisible(session);
  side_->setVisible(side_wanted_ && (session || several));
  actions_.refresh();
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
  set_theme(settings.value("theme", "system").toString());
  if (const double points = settings.value("font-size").toDouble(); points >= 6 && points <= 32) set_font_size(points);
  restoreGeometry(settings.value("geometry").toByteArray());
  restoreState(settings.value("state").toByteArray());
  side_wanted_ = settings.value("side", true).toBool();
  update_side();
  show_view(settings.value("view", views::all_views()[0].id).toString());
  const QString last = settings.value("session").toString();
  if (!session_too || last.isEmpty()) return;
  settings.beginGroup("selection");
  views::Selection selection;
  selection.first_batch = settings.value("first-batch", 0).toLongLong();
  selection.end_batch = settings.value("end-batch", -1).toLongLong();
  selection.phase = settings.value("phase").toString();
  selection.label = settings.value("label").toString();
  selection.router = settings.value("router").toString();
  selection.branch = settings.value("branch", -1).toInt();
  if (settings.contains("sequence"))
    selection.cell = CellPlace{settings.value("sequence").toLongLong(), settings.value("position").toInt()};
  document_.open(last, selection);
}

void MainWindow::keep() const {
  QSettings settings;
  settings.setValue("geometry", saveGeometry());
  settings.setValue("state", saveState());
  settings.setValue("side", side_wanted_);
  settings.setValue("view", view_id());
  const views::Source& main = document_.context().main;
  settings.setValue("session",
                    main.empty() ? QString() : QString::fromStdString(main.file) + "#" + QString::number(main.run));
  const views::Selection& s = document_.selection();
  settings.remove("selection");
  settings.beginGroup("selection");
  settings.setValue("first-batch", static_cast<qlonglong>(s.first_batch));
  settings.setValue("end-batch", static_cast<qlonglong>(s.end_batch));
  settings.setValue("phase", s.phase);
  settings.setValue("label", s.label);
  settings.setValue("router", s.router);
  settings.setValue("branch", s.branch);
  if (s.cell)
    settings.setValue("sequence", static_cast<qlonglong>(s.cell->sequence)),
        settings.setValue("position", s.cell->position);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  runs_.cancel();
  if (remembers_) keep();
  event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().constFirst().isLocalFile())
    event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList files;
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile()) files << url.toLocalFile();
  event->acceptProposedAction();
  // Opening waits until the source of the drag is released.
  QMetaObject::invokeMethod(
      this, [this, files] { open_anything(files); }, Qt::QueuedConnection);
}

void MainWindow::set_theme(const QString& theme) {
  theme_ = theme;
  const bool dark =
      theme == "dark" || (theme == "system" && QGuiApplication::palette().color(QPalette::Window).lightness() < 128);
  const QPalette palette = (dark ? views::Theme::dim() : views::Theme::light()).palette();
  QApplication::setPalette(palette);
  // Fusion outlines these with a darker tone, which is invisible on a dark ground.
  QPalette fields = palette;
  if (dark) fields.setColor(QPalette::Base, palette.color(QPalette::Button));
  for (const char* type : {"QCheckBox", "QLineEdit", "QAbstractSpinBox"}) QApplication::setPalette(fields, type);
  if (remembers_) QSettings().setValue("theme", theme);
}

void MainWindow::set_font_size(double points) {
  QFont font = QApplication::font();
  font.setPointSizeF(points);
  QApplication::setFont(font);
  if (remembers_) QSettings().setValue("font-size", points);
}

}  // namespace stormcell::studio
