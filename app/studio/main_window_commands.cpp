// What the window does when its actions are asked for.
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

#include "app/studio/command_line.h"
#include "app/studio/main_window.h"
#include "app/studio/picture_export.h"
#include "app/studio/run_dialog.h"
#include "core/base/error.h"
#include "core/experiment/doctor.h"
#include "core/experiment/import.h"
#include "core/experiment/session_contents.h"

namespace stormcell::studio {

void MainWindow::open_dialog() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Open session"), {}, tr("Sessions (*.storm);;All files (*)"));
  if (!file.isEmpty()) document_.open(file);
}

void MainWindow::open_sample() {
  background_.start(
      welcome_,
      [this](const Progress&) -> views::View::Deliver {
        const QString file = QString::fromStdString(sample_session());
        return [this, file] { document_.open(file); };
      },
      [this](const QString& message) { say(message); });
}

void MainWindow::save(const QString& name, const QString& filter, const QByteArray& bytes) {
  const QString file = QFileDialog::getSaveFileName(this, tr("Save"), name, filter);
  if (!file.isEmpty()) write(file, [bytes] { return bytes; });
}

void MainWindow::write(const QString& file, const std::function<QByteArray()>& bytes) {
  background_.start(
      &actions_,
      [this, file, bytes](const Progress&) -> views::View::Deliver {
        write_file(file, bytes());
        return [this, file] { say(tr("Wrote %1").arg(file)); };
      },
      [this](const QString& message) { say(message); });
}

int64_t MainWindow::newest_result() const {
  int64_t newest = 0;
  if (!document_.empty())
    for (const RunLine& run : document_.session().runs)
      if (!run.summary.empty() && run.kind != "import") newest = run.id;
  return newest;
}

void MainWindow::run_again(const Again& again) {
  if (!document_.run()) return say(tr("Open a session first"));
  auto options = options_of(document_.run()->settings);
  if (!options) return say(tr("How this run was made is not known"));
  options->record_inputs |= again.inputs;
  // Switches look their results up by themselves, and undo must go back over them.
  show_new_run_ = again.alone;
  run_session_ = QString::fromStdString(document_.session().file);
  runs_.start({*options, {again.passes, document_.session().file, (again.alone ? 8.0 : 3.0) * again.longer, again.alone}});
  say(tr("Running: %1").arg(command_of(document_.run()->settings, run_session_, again.passes)));
}

void MainWindow::run_demo() {
  RunRequest request;
  request.experiment.model = request.experiment.data = "demo:switch-names";
  request.experiment.record_inputs = true;
  const QString folder = QDir::homePath();  // unlike a folder for documents, always there
  show_new_run_ = false;
  run_session_ = folder + "/stormcell-demo.storm";
  request.optimize.session = run_session_.toStdString();
  runs_.start(request);
  say(tr("Running the demo into %1").arg(run_session_));
}

void MainWindow::open_model(const QString& model) {
  auto* dialog = new RunDialog(model, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    run_session_ = dialog->session();
    show_new_run_ = false;
    runs_.start(dialog->request());
    say(tr("Running %1").arg(QString::fromStdString(dialog->request().experiment.model)));
  });
  dialog->open();
}

void MainWindow::import_traces(const QStringList& traces) {
  say(tr("Importing %1").arg(traces.join(", ")));
  background_.start(
      center_,
      [this, traces](const Progress& progress) -> views::View::Deliver {
        ImportOptions options;
        for (const QString& trace : traces) options.traces.push_back(trace.toStdString());
        // Beside the first trace, or in the home folder; never over a file that is there.
        const QFileInfo first(traces.constFirst());
        QString folder = QFileInfo(first.absolutePath()).isWritable() ? first.absolutePath() : QDir::homePath();
        QString session = folder + "/" + first.completeBaseName() + ".storm";
        for (int i = 2; QFileInfo::exists(session); ++i) session = folder + "/" + first.completeBaseName() + QString("-%1.storm").arg(i);
        options.session = session.toStdString();
        const ImportFigures figures = stormcell::import_traces(options, progress);
        return [this, figures, session] {
          for (const std::string& warning : figures.warnings) say(QString::fromStdString(warning));
          say(tr("Imported %1 rows of %2 layers into %3").arg(figures.rows_read).arg(figures.model.layers).arg(session));
          document_.open(session);
        };
      },
      [this](const QString& message) { say(message); });
}

void MainWindow::open_anything(const QString& path) {
  background_.start(
      welcome_,
      [this, path](const Progress&) -> views::View::Deliver {
        const QFileInfo what(path);
        if (what.isDir()) {
          if (!QFileInfo::exists(path + "/config.json"))
            throw Error(ErrorKind::bad_input, path.toStdString(), "is no model", "a model's folder holds config.json and *.safetensors");
          return [this, path] { open_model(path); };
        }
        static const QStringList traces = {"csv", "json", "npy", "safetensors"};
        if (traces.contains(what.suffix().toLower())) return [this, path] { import_traces({path}); };
        return [this, path] { document_.open(path); };
      },
      [this](const QString& message) { say(message); });
}

void MainWindow::export_picture() {
  QString file = QFileDialog::getSaveFileName(this, tr("Export picture"), view_id() + ".png", tr("Pictures (*.png *.svg)"));
  if (file.isEmpty()) return;
  if (QFileInfo(file).suffix().isEmpty()) file += ".png";
  try {
    write(file, [drawn = draw_picture(*view(), view()->picture()->size(), 2, QFileInfo(file).suffix())] { return drawn.bytes(); });
  } catch (const Error& e) {
    say(QString::fromUtf8(e.what()));
  }
}

void MainWindow::export_table() {
  const QString file = QFileDialog::getSaveFileName(this, tr("Export table"), view_id() + ".csv", tr("Tables (*.csv)"));
  if (!file.isEmpty()) write(file, [table = view()->table()] { return to_csv(table).toUtf8(); });
}

void MainWindow::show_contents() {
  background_.start(
      &runs_,
      [this, file = document_.session().file](const Progress&) -> views::View::Deliver {
        const SessionContents contents = session_contents(file);
        return [this, contents] {
          QStringList lines;
          for (const std::string& line : contents.holds) lines << QString::fromStdString(line);
          auto* box =
              new QMessageBox(QMessageBox::Information, tr("What this session holds"), lines.join("\n\n"), QMessageBox::Close, this);
          box->setAttribute(Qt::WA_DeleteOnClose);
          box->setInformativeText(contents.private_texts ? tr("Whoever gets this file can read the recorded texts.")
                                                         : tr("No text of the data is in this file."));
          box->open();
        };
      },
      [this](const QString& message) { say(message); });
}

void MainWindow::show_about() {
  background_.start(
      menuBar(),
      [this](const Progress&) -> views::View::Deliver {
        const DoctorReport report = examine_machine();
        return [this, report] {
          auto* dialog = new QDialog(this);
          dialog->setAttribute(Qt::WA_DeleteOnClose);
          dialog->setWindowTitle(tr("About Stormcell Studio"));
          dialog->resize(620, 480);
          auto* layout = new QVBoxLayout(dialog);
          auto* text = new QTextBrowser(dialog);
          const auto escaped = [](const std::string& s) { return QString::fromStdString(s).toHtmlEscaped(); };
          QString html = "<h2>Stormcell " + escaped(report.version) + "</h2><table cellpadding='3'>";
          const auto row = [&](const QString& a, const QString& b) { html += "<tr><td>" + a + "</td><td>" + b + "</td></tr>"; };
          row(tr("processor"), escaped(report.processor));
          row(tr("cores"), tr("%1 cores, %2 threads").arg(report.cores).arg(report.logical_processors));
          row(tr("kernels in use"), escaped(report.isa));
          row(tr("memory"), tr("%1 of %2 GiB free")
                                .arg(static_cast<double>(report.available_bytes) / 1073741824.0, 0, 'f', 1)
                                .arg(static_cast<double>(report.memory_bytes) / 1073741824.0, 0, 'f', 1));
          row("CUDA", escaped(report.cuda_reason));
          row(tr("resources"), escaped(report.resources));
          row("Qt", qVersion());
          for (const LibraryVersion& l : report.libraries) row(escaped(l.name), escaped(l.version.empty() ? l.note : l.version));
          text->setHtml(html + "</table>");
          layout->addWidget(text);
          auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
          QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
          layout->addWidget(buttons);
          dialog->show();
        };
      },
      [this](const QString& message) { say(message); });
}

}  // namespace stormcell::studio
