// Models in the window: opening a drop, the page of a model, its runs while they go on.
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QStackedWidget>
#include <algorithm>

#include "app/studio/fault_text.h"
#include "app/studio/main_window.h"
#include "app/studio/model_page.h"
#include "app/studio/notice_bar.h"
#include "app/studio/open_list.h"
#include "app/studio/opened_file.h"
#include "app/studio/typed_data.h"
#include "core/base/error.h"
#include "core/experiment/experiment.h"
#include "core/exports/export_formats.h"
#include "core/readings/session_view.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {

/// Everything that a drop brought, sorted.
struct MainWindow::Opened {
  QStringList sessions, traces, data, faults;
  std::vector<OpenedModel> models;
};

ModelPage* MainWindow::model_page() const { return open_list_ ? open_list_->page() : nullptr; }

void MainWindow::open_anything(const QStringList& paths) {
  const ModelPage* page = model_page();
  // The latest job wins: it also opens the paths that an earlier one has not opened yet.
  opening_ += paths;
  background_.start(
      Job::open_path,
      [this, all = opening_, takes_data = page && page->runs()](const Progress&) -> views::View::Deliver {
        const Opened found = find_opened(all, takes_data);
        return [this, found] {
          opening_.clear();
          take_found(found);
        };
      },
      [this](const QString& message) { complain(message); });
}

MainWindow::Opened MainWindow::find_opened(const QStringList& paths, bool takes_data) {
  Opened found;
  for (const QString& path : paths) try {
      switch (opened_as(path, takes_data)) {
        case OpenedAs::session:
          found.sessions << path;
          break;
        case OpenedAs::trace:
          found.traces << path;
          break;
        case OpenedAs::model:
          found.models.push_back(read_model(path));
          break;
        case OpenedAs::data:
          found.data << path;
          break;
      }
    } catch (...) {
      found.faults << fault_text(std::current_exception());
    }
  return found;
}

void MainWindow::take_found(const Opened& found) {
  QStringList faults = found.faults;
  for (const OpenedModel& model : found.models) show_model(model);
  // The first one is shown; the others wait in the list.
  for (qsizetype i = 1; i < found.sessions.size(); ++i)
    if (const QString file = QFileInfo(found.sessions[i]).absoluteFilePath(); open_list_->find_session(file) < 0)
      open_list_->add({nullptr, file});
  if (ModelPage* page = model_page(); page && !found.data.isEmpty()) {
    page->set_data(found.data.constFirst());
    page->show_fault({});
    show_view(kModelView);
    for (const QString& file : found.data.mid(1))
      faults << tr("%1: a run reads one file (drop the folder that holds the files)").arg(file);
  }
  if (!found.traces.isEmpty()) import_traces(found.traces);
  update_side();
  if (found.sessions.isEmpty()) {
    if (!faults.isEmpty()) complain(faults.join('\n'));
    return;
  }
  drop_faults_ = faults;
  document_.open(found.sessions.constFirst());
}

ModelPage* MainWindow::make_page(const OpenedModel& model) {
  auto* page = new ModelPage(model, center_);
  center_->addWidget(page);
  connect(page, &ModelPage::run_wanted, this, [this, page] { start_run(page); });
  connect(page, &ModelPage::stop_wanted, this, [this] { actions_.trigger("stop"); });
  connect(page, &ModelPage::copied, this, [this](const QString& what) { say(tr("Copied: %1").arg(what)); });
  connect(page, &ModelPage::again_wanted, this, [this, page] { read_again(page); });
  return page;
}

void MainWindow::show_model(const OpenedModel& model) {
  int index = open_list_->find_model(model.model);
  if (index < 0) {
    index = open_list_->add({make_page(model), {}});
    say(tr("Opened %1").arg(model.model));
  } else if (model.revision != open_list_->entry(index).page->model().revision && !runs_.running()) {
    replace_page(open_list_->entry(index).page, model);
  }
  open_list_->select(index);
  notice_->hide();
  show_entry(index);
}

void MainWindow::watch_model() {
  ModelPage* page = model_page();
  if (!page || !page->changed().isEmpty() || background_.does(Job::watch_model)) return;
  background_.start(
      Job::watch_model,
      [page = QPointer(page), model = page->model().model.toStdString(),
       before = page->model().revision](const Progress&) -> views::View::Deliver {
        const std::string now = files_revision({.model = model});
        return [page, before, now] {
          if (!page || now == before || page->model().revision != before) return;
          page->show_changed(now.empty() ? tr("The files of this model are gone: its sheet is as it was read.")
                                         : tr("The files of this model have changed: its sheet is as it was read. A "
                                              "run that began before may have read both."));
        };
      },
      [](const QString&) {});  // the next look finds them
}

void MainWindow::read_again(ModelPage* page) {
  background_.start(
      Job::read_again,
      [this, shown = QPointer(page), model = page->model().model](const Progress&) -> views::View::Deliver {
        const OpenedModel read = read_model(model);
        return [this, shown, read] {
          if (shown && !runs_.running()) replace_page(shown, read);
        };
      },
      [shown = QPointer(page)](const QString& message) {
        if (shown) shown->show_changed(message);
      });
}

/// Keeps what was typed, and the session.
void MainWindow::replace_page(ModelPage* page, const OpenedModel& model) {
  const int index = open_list_->index_of(page);
  if (index < 0) return;
  const bool on_show = center_->currentWidget() == page;
  ModelPage* next = make_page(model);
  next->set_data(page->data());
  if (!page->session().isEmpty()) next->set_session(page->session());
  open_list_->set_page(index, next);
  center_->removeWidget(page);
  page->deleteLater();
  say(tr("Read again: %1").arg(model.model));
  update_pages();
  update_view();
  if (on_show) next->setFocus();
}

void MainWindow::show_entry(int index) {
  const OpenList::Entry& entry = open_list_->entry(index);
  if (entry.page) show_view(kModelView);
  if (!entry.session.isEmpty()) {
    document_.open(entry.session);
  } else if (!document_.empty()) {
    document_.close();
  }
  update_pages();
  update_side();
  update_view();
  if (entry.page) entry.page->setFocus();
}

void MainWindow::close_entry() {
  const int index = open_list_->current();
  if (index < 0) return document_.close();
  if (ModelPage* page = open_list_->page()) {
    if (followed_ && followed_->page == page) runs_.cancel();
    center_->removeWidget(page);
    page->deleteLater();
  }
  open_list_->remove(index);
  document_.close();
  if (open_list_->size() == 0) return update_side();
  open_list_->select(std::min(index, open_list_->size() - 1));
  show_entry(open_list_->current());
}

void MainWindow::choose_model() {
  const QString file = QFileDialog::getOpenFileName(
      this, tr("Open model: any file of it"), {},
      tr("Models (*.safetensors *.gguf *.json *.onnx *.pt2 *.pt *.pth *.bin);;All files (*)"));
  if (!file.isEmpty()) open_anything(file);
}

void MainWindow::name_model() {
  const QString name =
      QInputDialog::getText(this, tr("Open demo or preset"), tr("Name"), QLineEdit::Normal, "demo:switch-names");
  if (!name.isEmpty()) open_anything(name);
}

void MainWindow::save_session() {
  const QString before = QString::fromStdString(document_.session().file);
  auto* dialog = new QFileDialog(this, tr("Save session as"), QDir::homePath(), tr("Sessions (*.storm)"));
  dialog->setObjectName("save-session-dialog");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix("storm");
  dialog->setOption(QFileDialog::DontConfirmOverwrite);  // a file that is there is never written over
  dialog->selectFile(QFileInfo(before).fileName());
  connect(dialog, &QFileDialog::fileSelected, this,
          [this, before](const QString& copy) { keep_session_at(copy, before); });
  dialog->open();
}

void MainWindow::keep_session_at(const QString& copy, const QString& before) {
  background_.start(
      Job::save_session,
      [this, copy, before](const Progress& progress) -> views::View::Deliver {
        export_session("session", {before.toStdString(), copy.toStdString(), {}}, progress);
        const QString file = QFileInfo(copy).absoluteFilePath();
        return [this, file, before] {
          say(tr("Saved as %1").arg(file));
          if (const int index = open_list_->find_session(before); index >= 0) {
            open_list_->set_session(index, file);
            if (ModelPage* page = open_list_->entry(index).page) page->set_session(file);
          }
          document_.open(file, document_.selection());
        };
      },
      [this](const QString& message) { complain(message); });
}

namespace {

int64_t last_run_of(const QString& session) {
  if (!QFileInfo::exists(session)) return 0;
  const SessionOverview overview = open_session(session.toStdString());
  return overview.runs.empty() ? 0 : overview.runs.back().id;
}

}  // namespace

void MainWindow::start_run(ModelPage* page) {
  if (runs_.running()) return;
  page->show_fault({});
  RunRequest request;
  try {
    request = page->request();
  } catch (const Error& error) {
    return page->show_fault(QString::fromUtf8(error.what()));
  }
  background_.start(
      Job::prepare_run,
      [this, request, typed = page->data(), pictures = page->model().takes_pictures,
       shown = QPointer(page)](const Progress&) -> views::View::Deliver {
        const QString session = QFileInfo(QString::fromStdString(request.optimize.session)).absoluteFilePath();
        if (!QDir().mkpath(QFileInfo(session).path()))
          bad_input(session.toStdString(), "its folder cannot be made", "choose another session under Settings");
        const QString data = data_of(typed, sessions_folder(), pictures);
        const int64_t last_run = last_run_of(session);
        return [this, shown, request, data, session, last_run]() mutable {
          if (!shown || runs_.running()) return;
          request.optimize.session = session.toStdString();
          begin_run(shown, request, data, last_run);
        };
      },
      [shown = QPointer(page)](const QString& message) {
        if (shown) shown->show_fault(message);
      });
}

void MainWindow::begin_run(ModelPage* page, RunRequest request, const QString& data, int64_t last_run) {
  request.experiment.data = data.toStdString();
  run_session_ = QString::fromStdString(request.optimize.session);
  open_list_->set_session(open_list_->index_of(page), run_session_);
  show_new_run_ = true;
  notice_->hide();
  run_fault_.clear();
  followed_ = Followed{page, last_run};
  follow_timer_.start();
  runs_.start(request);
  say(tr("Running %1").arg(QString::fromStdString(request.experiment.model)));
}

void MainWindow::follow_run() {
  if (!followed_ || followed_->shown || background_.does(Job::follow_run)) return;
  background_.start(
      Job::follow_run,
      [this, session = run_session_, last = followed_->last_run](const Progress&) -> views::View::Deliver {
        int64_t begun = 0;
        if (QFileInfo::exists(session))
          for (const RunLine& run : open_session(session.toStdString()).runs)
            if (begun == 0 && run.id > last && run.batches > 0) begun = run.id;
        return [this, begun] {
          if (begun > 0) show_followed(begun);
          if (!runs_.running()) followed_.reset();
        };
      },
      // The file is being made: the next look finds it.
      [this](const QString&) {
        if (!runs_.running()) followed_.reset();
      });
}

void MainWindow::show_followed(int64_t run) {
  if (!followed_ || followed_->shown) return;
  followed_->shown = true;
  if (followed_->page != model_page()) return;
  if (view_id() == kModelView) show_view("heatmap");
  if (!run_fault_.isEmpty()) drop_faults_ << run_fault_;
  document_.open(run_session_ + "#" + QString::number(run));
}

void MainWindow::end_following() {
  follow_timer_.stop();
  if (!followed_) return;
  if (!followed_->shown) return follow_run();  // what a stopped run has recorded is opened
  document_.poll();
  followed_.reset();
}

void MainWindow::update_pages() {
  for (int i = 0; i < open_list_->size(); ++i) {
    ModelPage* page = open_list_->entry(i).page;
    if (!page) continue;
    const bool own = followed_ && followed_->page == page;
    page->set_state(!runs_.running() ? ModelPage::State::ready : own ? ModelPage::State::runs : ModelPage::State::busy);
  }
}

}  // namespace stormcell::studio
