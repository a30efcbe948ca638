// Commands of the window's actions.
#include <QApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMessageBox>
#include <QTextBrowser>
#include <QVBoxLayout>
#include <algorithm>

#include "app/studio/command_line.h"
#include "app/studio/main_window.h"
#include "app/studio/notice_bar.h"
#include "app/studio/picture_export.h"
#include "app/studio/recorded_tries.h"
#include "app/studio/trace_import.h"
#include "app/studio/tries.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/exports/export_formats.h"
#include "core/exports/replay_file.h"
#include "core/machine/doctor.h"
#include "core/readings/session_contents.h"
#include "views/optimisations/optimisations_model.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {

void MainWindow::open_dialog() {
  const QString file =
      QFileDialog::getOpenFileName(this, tr("Open session"), {}, tr("Sessions (*.storm);;All files (*)"));
  if (!file.isEmpty()) document_.open(file);
}

void MainWindow::open_sample() {
  background_.start(
      Job::open_path,
      [this](const Progress&) -> views::View::Deliver {
        const QString file = QString::fromStdString(sample_session());
        return [this, file] { document_.open(file); };
      },
      [this](const QString& message) { complain(message); });
}

void MainWindow::save(const QString& name, const QString& filter, const QByteArray& bytes) {
  const QString file = QFileDialog::getSaveFileName(this, tr("Save"), name, filter);
  if (!file.isEmpty()) write(file, [bytes] { return bytes; });
}

void MainWindow::write(const QString& file, const std::function<QByteArray()>& bytes) {
  background_.start(
      Job::write_file,
      [this, file, bytes](const Progress&) -> views::View::Deliver {
        write_file(file, bytes());
        return [this, file] { say(tr("Wrote %1").arg(file)); };
      },
      [this](const QString& message) { complain(message); });
}

int64_t MainWindow::newest_result() const {
  int64_t newest = 0;
  if (!document_.empty())
    for (const RunLine& run : document_.session().runs)
      if (run.result && run_kind(run.kind) != RunKind::import) newest = run.id;
  return newest;
}

void MainWindow::run_again(const Again& again) {
  if (!document_.run()) return say(tr("Open a session first"));
  if (!parse_settings(document_.run()->settings)) return say(tr("How this run was made is not known"));
  background_.start(
      Job::run_again,
      [this, again, main = document_.context().main, writable = writable_](const Progress&) -> views::View::Deliver {
        const bool may = writable(main.file);
        return [this, again, main, may] {
          if (!(document_.context().main == main)) return;  // another run has been chosen meanwhile
          may ? run_into_session(again) : ask_for_copy(again);
        };
      },
      [this](const QString& message) { complain(message); });
}

/// Passes that the current run was optimised with; all if it was not optimised.
PassSelection MainWindow::passes_of_run() const {
  const auto chosen = views::chosen_passes(*document_.run());
  return chosen ? views::selection_of(*chosen) : PassSelection();
}

void MainWindow::run_into_session(const Again& again) {
  if (again.attempt) return start_try(*again.attempt);
  const PassSelection passes = again.passes.value_or(passes_of_run());
  const auto options = [&] {
    auto o = parse_settings(document_.run()->settings);
    o->record_inputs |= again.inputs;
    return *o;
  }();
  show_new_run_ = true;
  followed_.reset();
  run_session_ = QString::fromStdString(document_.session().file);
  // A run with a time limit is repeated with a limit, which is longer if measuring takes longer.
  const double limit = time_limit_of(*document_.run()) * again.longer;
  runs_.start(
      {options, {passes, document_.session().file, (again.alone ? 8.0 : 3.0) * again.longer, again.alone, limit}});
  say(tr("Running: %1").arg(command_of(document_.run()->settings, run_session_, passes, limit)));
}

void MainWindow::try_out(const TrySettings& wanted) {
  if (document_.empty()) return;
  if (const QString refused = refusal_of(wanted); !refused.isEmpty()) return say(refused);
  if (const int64_t run = run_of_try(document_.session(), wanted)) {
    say(tr("Run #%1 of this session was this try").arg(run));
    return document_.show_run(run);
  }
  run_again({.attempt = wanted});
}

void MainWindow::search_passes(const views::PassChoice& choice) {
  if (document_.empty()) return;
  if (const int64_t run = views::look_up(document_.session(), document_.context().main.run, choice).run) {
    say(tr("Run #%1 of this session was this try").arg(run));
    return document_.show_run(run);
  }
  run_again({.passes = views::selection_of(choice), .alone = false});
}

void MainWindow::start_try(const TrySettings& wanted) {
  const TryRequest request = try_request(document_.session(), *document_.run(), wanted);
  show_new_run_ = true;
  followed_.reset();
  run_session_ = QString::fromStdString(document_.session().file);
  runs_.start({.attempt = request});
  const QStringList changes = changes_between(request.base, request.changed);
  say(tr("Trying: %1").arg(changes.isEmpty() ? tr("the model as it came") : changes.join(", ")));
}

void MainWindow::ask_for_copy(const Again& again) {
  const QFileInfo session(QString::fromStdString(document_.session().file));
  say(tr("%1 cannot be written, so the run goes into a copy of it").arg(session.fileName()));
  auto* dialog = new QFileDialog(this, tr("This session cannot be written: keep a copy as"), QDir::homePath(),
                                 tr("Sessions (*.storm)"));
  dialog->setObjectName("copy-dialog");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix("storm");
  dialog->setOption(QFileDialog::DontConfirmOverwrite);  // a file that is there is never written over
  dialog->selectFile(session.completeBaseName() + "-copy.storm");
  connect(dialog, &QFileDialog::fileSelected, this, [this, again](const QString& copy) { run_into_copy(again, copy); });
  dialog->open();
}

void MainWindow::run_into_copy(const Again& again, const QString& copy) {
  background_.start(
      Job::run_again,
      [this, again, copy, main = document_.context().main](const Progress& progress) -> views::View::Deliver {
        export_session("session", {main.file, copy.toStdString(), {}}, progress);
        return [this, again, copy, run = main.run] {
          say(tr("Copied to %1").arg(copy));
          after_opening_ = [this, again] { run_again(again); };
          document_.open(copy + "#" + QString::number(run), document_.selection());
        };
      },
      [this](const QString& message) { complain(message); });
}

void MainWindow::write_choices(const ReplayOptions& options) {
  const auto formats = replay_formats();
  const auto of = std::find_if(formats.begin(), formats.end(),
                               [&](const ReplayFormat& format) { return format.id == options.format; });
  if (of == formats.end()) return;
  const QString suffix = views::to_qstring(of->suffix);
  auto* dialog = new QFileDialog(this, tr("Write choices for %1").arg(views::to_qstring(of->id)), QDir::homePath(),
                                 tr("Choices (*.%1)").arg(suffix));
  dialog->setObjectName("choices-dialog");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix(suffix);
  dialog->selectFile(file_of(*of));
  connect(dialog, &QFileDialog::fileSelected, this, [this, options](const QString& file) {
    ReplayOptions named = options;
    named.output = file.toStdString();
    runs_.start_work([this, named](const Progress& progress) -> views::View::Deliver {
      const ReplayFigures figures = write_replay(named, progress);
      return [this, figures] {
        const auto qt = [](const std::string& text) { return QString::fromStdString(text); };
        const QString message =
            tr("Wrote %1 for %2. There, %3.").arg(qt(figures.file), qt(figures.format), qt(figures.how));
        say(message);
        notice_->show_fact(message);
      };
    });
  });
  dialog->open();
}

void MainWindow::run_demo() {
  RunRequest request;
  request.experiment.model = request.experiment.data = "demo:switch-names";
  request.experiment.record_inputs = true;
  const QString folder = QDir::homePath();  // unlike a folder for documents, always there
  show_new_run_ = false;
  followed_.reset();
  run_session_ = folder + "/stormcell-demo.storm";
  request.optimize.session = run_session_.toStdString();
  runs_.start(request);
  say(tr("Running the demo into %1").arg(run_session_));
}

void MainWindow::import_traces(const QStringList& traces) {
  say(tr("Importing %1").arg(traces.join(", ")));
  runs_.start_import(traces);
}

void MainWindow::take_import(const ImportResult& result) {
  if (result.session.isEmpty()) return say(tr("Import stopped before anything was read"));
  if (result.figures) {
    for (const std::string& warning : result.figures->warnings) say(QString::fromStdString(warning));
    say(tr("Imported %1 of %2 into %3")
            .arg(views::counted_text(result.figures->choices, "choice"),
                 views::counted_text(result.figures->model.layers, "layer"), result.session));
  } else {
    say(tr("Import stopped; what was read is in %1").arg(result.session));
  }
  document_.open(result.session);
}

void MainWindow::export_picture() {
  QString file =
      QFileDialog::getSaveFileName(this, tr("Export picture"), view_id() + ".png", tr("Pictures (*.png *.svg)"));
  if (file.isEmpty()) return;
  if (QFileInfo(file).suffix().isEmpty()) file += ".png";
  // The picture as it is on show, and room below it.
  const QSize size = view()->picture()->size() + QSize(0, caption_height(view()->caption(), view()->font()));
  try {
    write(file, [drawn = draw_picture(*view(), size, 2, QFileInfo(file).suffix())] { return drawn.bytes(); });
  } catch (const Error& e) {
    complain(QString::fromUtf8(e.what()));
  }
}

void MainWindow::export_table() {
  const QString file = QFileDialog::getSaveFileName(this, tr("Export table"), view_id() + ".csv", tr("Tables (*.csv)"));
  if (!file.isEmpty())
    write(file,
          [table = view()->table(), comments = table_comments(*view())] { return to_csv(table, comments).toUtf8(); });
}

void MainWindow::show_contents() {
  background_.start(
      Job::show_contents,
      [this, file = document_.session().file](const Progress&) -> views::View::Deliver {
        const SessionContents contents = session_contents(file);
        return [this, contents] {
          QStringList lines;
          for (const std::string& line : contents.holds) lines << QString::fromStdString(line);
          auto* box = new QMessageBox(QMessageBox::Information, tr("What this session holds"), lines.join("\n\n"),
                                      QMessageBox::Close, this);
          box->setAttribute(Qt::WA_DeleteOnClose);
          box->setInformativeText(contents.private_texts ? tr("Whoever gets this file can read the recorded texts.")
                                                         : tr("No text of the data is in this file."));
          box->open();
        };
      },
      [this](const QString& message) { complain(message); });
}

void MainWindow::show_page(const QString& title, const QString& html) {
  auto* dialog = new QDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(title);
  dialog->resize(620, 480);
  auto* layout = new QVBoxLayout(dialog);
  auto* text = new QTextBrowser(dialog);
  text->setAccessibleName(title);
  text->setHtml(html);
  layout->addWidget(text);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  layout->addWidget(buttons);
  dialog->show();
}

void MainWindow::show_about() {
  background_.start(
      Job::show_about,
      [this](const Progress&) -> views::View::Deliver {
        const DoctorReport report = examine_machine();
        return [this, report] {
          const auto escaped = [](const std::string& s) { return QString::fromStdString(s).toHtmlEscaped(); };
          QString html = "<h2>Stormcell " + escaped(report.version) + "</h2><table cellpadding='3'>";
          const auto row = [&](const QString& a, const QString& b) {
            html += "<tr><td>" + a + "</td><td>" + b + "</td></tr>";
          };
          row(tr("processor"), escaped(report.processor));
          row(tr("cores"), views::counted_text(report.cores, "core") + ", " +
                               views::counted_text(report.logical_processors, "thread"));
          row(tr("kernels in use"), escaped(report.isa));
          row(tr("memory"), tr("%1 of %2 GiB free")
                                .arg(static_cast<double>(report.available_bytes) / 1073741824.0, 0, 'f', 1)
                                .arg(static_cast<double>(report.memory_bytes) / 1073741824.0, 0, 'f', 1));
          row("CUDA", escaped(report.cuda_reason.empty() ? report.cuda_module : report.cuda_reason));
          for (const DoctorCard& card : report.cuda_cards) row("GPU", escaped(card.name));
          row(tr("resources"), escaped(report.resources));
          row("Qt", qVersion());
          for (const LibraryVersion& l : report.libraries)
            row(escaped(l.name), escaped(l.version.empty() ? l.note : l.version));
          show_page(tr("About Stormcell Studio"), html + "</table>");
        };
      },
      [this](const QString& message) { complain(message); });
}

}  // namespace stormcell::studio
