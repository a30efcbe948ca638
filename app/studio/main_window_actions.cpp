// The tables of what the window can do.
#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMessageBox>
#include <QSettings>
#include <QStandardPaths>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "app/studio/command_line.h"
#include "app/studio/main_window.h"
#include "app/studio/palette_dialog.h"
#include "app/studio/picture_export.h"
#include "app/studio/run_dialog.h"
#include "core/base/error.h"
#include "core/experiment/doctor.h"
#include "core/experiment/import.h"
#include "core/experiment/session_contents.h"
#include "views/registry.h"

namespace stormcell::studio {

std::vector<ActionRow> MainWindow::file_actions() {
  const auto needs_session = [this] { return document_.empty() ? tr("open a session first") : QString(); };
  const auto needs_content = [this] {
    return document_.empty()                 ? tr("open a session first")
           : view() && view()->has_content() ? QString()
                                             : tr("this view has nothing to export");
  };
  const QString file = tr("&File");
  return {
      {"open-session",
       file,
       tr("Open session..."),
       tr("A .storm file: what `stormcell profile` or `optimize` recorded"),
       {QKeySequence::Open},
       [this] { open_dialog(); },
       nullptr,
       nullptr},
      {"open-model",
       file,
       tr("Open model..."),
       tr("A model's folder and data of your own: runs it, records where its cells go, and makes it faster"),
       {QKeySequence("Ctrl+M")},
       [this] { open_model({}); },
       [this] { return runs_.running() ? tr("a run is going on") : QString(); },
       nullptr},
      {"import-trace",
       file,
       tr("Import trace..."),
       tr("Routing that another system recorded: route_trace CSV, RouterTrace JSON, native safetensors, .npy"),
       {QKeySequence("Ctrl+I")},
       [this] {
         const QStringList traces =
             QFileDialog::getOpenFileNames(this, tr("Import traces"), {}, tr("Traces (*.csv *.json *.safetensors *.npy);;All files (*)"));
         if (!traces.isEmpty()) import_traces(traces);
       },
       nullptr,
       nullptr},
      {"open-sample",
       file,
       tr("Open the sample session"),
       tr("Names and phrases in a dozen scripts through the demo model"),
       {},
       [this] { open_sample(); },
       nullptr,
       nullptr},
      {"reload",
       file,
       tr("Reload"),
       tr("Reads the session again"),
       {QKeySequence::Refresh},
       [this] {
         document_.open(QString::fromStdString(document_.session().file) + "#" + QString::number(document_.context().main.run),
                        document_.selection());
       },
       needs_session,
       nullptr},
      {"export-picture",
       file,
       tr("Export picture..."),
       tr("The view as PNG or SVG"),
       {QKeySequence("Ctrl+E")},
       [this] { export_picture(); },
       needs_content,
       nullptr},
      {"export-table",
       file,
       tr("Export table..."),
       tr("The view's figures as CSV"),
       {QKeySequence("Ctrl+Shift+E")},
       [this] { export_table(); },
       needs_content,
       nullptr},
      {"copy-export",
       file,
       tr("Copy export as command line"),
       tr("A command that writes this view's picture without a window"),
       {},
       [this] {
         const auto name = [](const views::Source& s) {
           return s.empty() ? QString() : QString::fromStdString(s.file) + "#" + QString::number(s.run);
         };
         const views::Context& shown = document_.context();
         QApplication::clipboard()->setText(export_command(view_id(), view_id() + ".png", name(shown.main), name(shown.other)));
         say(tr("Copied: %1").arg(QApplication::clipboard()->text()));
       },
       needs_session,
       nullptr},
      {"contents",
       file,
       tr("What this session holds..."),
       tr("Read before you share it: texts, tokens, decisions, machine"),
       {},
       [this] { show_contents(); },
       needs_session,
       nullptr},
      {"close-session",
       file,
       tr("Close session"),
       tr("Back to the welcome page"),
       {QKeySequence::Close},
       [this] { document_.close(); },
       needs_session,
       nullptr},
      {"quit", file, tr("Quit"), QString(), {QKeySequence::Quit}, [this] { close(); }, nullptr, nullptr},
  };
}

std::vector<ActionRow> MainWindow::run_actions() {
  const auto needs_settings = [this] {
    if (runs_.running()) return tr("a run is going on");
    const RunLine* run = document_.run();
    return !run                    ? tr("open a session first")
           : run->settings.empty() ? tr("this run was not finished or came from elsewhere, so how it was made is not known")
                                   : QString();
  };
  const auto needs_other = [this] { return document_.context().other.empty() ? tr("no other run is chosen") : QString(); };
  const auto needs_session = [this] { return document_.empty() ? tr("open a session first") : QString(); };
  const QString menu = tr("&Run");
  return {
      {"run-again",
       menu,
       tr("Run again"),
       tr("Measures and verifies this run's model and data once more, into the same session"),
       {QKeySequence("Ctrl+R")},
       [this] { run_again({}); },
       needs_settings,
       nullptr},
      {"run-with-inputs",
       menu,
       tr("Run again with recorded inputs"),
       tr("The same, with texts and token ids kept in the session"),
       {},
       [this] {
         run_again({true, 1});
       },
       needs_settings,
       nullptr},
      {"measure-longer",
       menu,
       tr("Measure four times as long"),
       tr("Runs again and takes four times as many samples: a narrower interval"),
       {},
       [this] {
         run_again({false, 4});
       },
       needs_settings,
       nullptr},
      {"run-demo",
       menu,
       tr("Run the demo"),
       tr("Optimises a small model that writes names in Latin letters; about 15 s"),
       {},
       [this] { run_demo(); },
       [this] { return runs_.running() ? tr("a run is going on") : QString(); },
       nullptr},
      {"stop",
       menu,
       tr("Stop"),
       tr("Cancels the run; what it has finished stays"),
       {QKeySequence("Ctrl+.")},
       [this] { runs_.cancel(); },
       [this] { return runs_.running() ? QString() : tr("nothing is running"); },
       nullptr},
      {"copy-command",
       menu,
       tr("Copy as command line"),
       tr("The command that does what this run did"),
       {QKeySequence("Ctrl+Shift+C")},
       [this] {
         QApplication::clipboard()->setText(
             command_of(document_.run()->settings, QFileInfo(QString::fromStdString(document_.session().file)).fileName()));
         say(tr("Copied: %1").arg(QApplication::clipboard()->text()));
       },
       [this] { return document_.run() && !document_.run()->settings.empty() ? QString() : tr("how this run was made is not known"); },
       nullptr},
      {"show-result",
       menu,
       tr("Go to the newest figures"),
       tr("The newest run of this session that was measured to its end"),
       {},
       [this] {
         for (const RunLine& run : document_.session().runs)
           if (run.id == newest_result()) return document_.show_run(run.id);
       },
       [this] {
         return document_.empty()      ? tr("open a session first")
                : newest_result() == 0 ? tr("no run of this session has figures")
                                       : QString();
       },
       nullptr},
      {"compare-run",
       menu,
       tr("Compare with this run"),
       tr("Views can show it beside the run that you choose next"),
       {QKeySequence("Ctrl+K")},
       [this] {
         document_.compare_with(QString::fromStdString(document_.session().file) + "#" + QString::number(document_.context().main.run));
       },
       needs_session,
       nullptr},
      {"compare-session",
       menu,
       tr("Compare with another session..."),
       tr("Its newest run"),
       {},
       [this] {
         const QString other = QFileDialog::getOpenFileName(this, tr("Compare with"), {}, tr("Sessions (*.storm)"));
         if (!other.isEmpty()) document_.compare_with(other);
       },
       needs_session,
       nullptr},
      {"compare-nothing", menu, tr("Compare with nothing"), QString(), {}, [this] { document_.compare_with({}); }, needs_other, nullptr},
  };
}

std::vector<ActionRow> MainWindow::view_actions() {
  std::vector<ActionRow> rows;
  const QString menu = tr("&View");
  int key = 1;
  for (const views::ViewEntry& entry : views::all_views()) {
    rows.push_back({QString("view-") + entry.id,
                    menu,
                    tr(entry.title),
                    tr(entry.help),
                    {QKeySequence(QString("Ctrl+%1").arg(key++))},
                    [this, id = QString(entry.id)] { show_view(id); },
                    nullptr,
                    [this, id = QString(entry.id)] { return view_id() == id; }});
  }
  rows.push_back({"table",
                  menu,
                  tr("As table"),
                  tr("The same figures as a table, for the keyboard and screen readers"),
                  {QKeySequence("Ctrl+T")},
                  [this] {
                    if (views::View* v = view()) v->show_table(!v->shows_table());
                  },
                  [this] { return document_.empty() ? tr("open a session first") : QString(); },
                  [this] { return view() && view()->shows_table(); }});
  const QString edit = tr("&Edit");
  rows.push_back({"undo",
                  edit,
                  tr("Undo"),
                  tr("Back to the selection before"),
                  {QKeySequence::Undo},
                  [this] { document_.undo_stack().undo(); },
                  [this] { return document_.undo_stack().canUndo() ? QString() : tr("nothing to undo"); },
                  nullptr});
  rows.push_back({"redo",
                  edit,
                  tr("Redo"),
                  QString(),
                  {QKeySequence::Redo},
                  [this] { document_.undo_stack().redo(); },
                  [this] { return document_.undo_stack().canRedo() ? QString() : tr("nothing to redo"); },
                  nullptr});
  rows.push_back({"select-nothing",
                  edit,
                  tr("Clear selection"),
                  tr("All batches, no router, no cell"),
                  {QKeySequence("Ctrl+Shift+A")},
                  [this] { document_.select({}); },
                  [this] { return document_.selection() == views::Selection() ? tr("nothing is selected") : QString(); },
                  nullptr});
  for (const auto& [id, text] : {std::pair{"system", tr("Theme: system")}, {"light", tr("Theme: light")}, {"dark", tr("Theme: dark")}})
    rows.push_back({QString("theme-") + id,
                    menu,
                    text,
                    QString(),
                    {},
                    [this, id = QString(id)] { set_theme(id); },
                    nullptr,
                    [this, id = QString(id)] { return theme_ == id; }});
  rows.push_back({"larger",
                  menu,
                  tr("Larger text"),
                  QString(),
                  {QKeySequence::ZoomIn, QKeySequence("Ctrl+=")},
                  [this] { set_font_size(std::min(32.0, QApplication::font().pointSizeF() + 1)); },
                  nullptr,
                  nullptr});
  rows.push_back({"smaller",
                  menu,
                  tr("Smaller text"),
                  QString(),
                  {QKeySequence::ZoomOut},
                  [this] { set_font_size(std::max(6.0, QApplication::font().pointSizeF() - 1)); },
                  nullptr,
                  nullptr});
  return rows;
}

std::vector<ActionRow> MainWindow::help_actions() {
  const QString menu = tr("&Help");
  return {
      {"palette",
       menu,
       tr("Commands..."),
       tr("Type what you want to do"),
       {QKeySequence("Ctrl+Shift+P")},
       [this] { (new PaletteDialog(actions_, this))->open(); },
       nullptr,
       nullptr},
      {"keys",
       menu,
       tr("Keys"),
       tr("All keys in a table"),
       {QKeySequence("?"), QKeySequence::HelpContents},
       [this] { make_keys_dialog(actions_, this)->show(); },
       nullptr,
       nullptr},
      {"about",
       menu,
       tr("About"),
       tr("Version, machine, libraries: what `stormcell doctor` says"),
       {},
       [this] { show_about(); },
       nullptr,
       nullptr},
  };
}

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
  if (file.isEmpty()) return;
  background_.start(
      &actions_,
      [this, file, bytes](const Progress&) -> views::View::Deliver {
        write_file(file, bytes);
        return [this, file] { say(tr("Wrote %1").arg(file)); };
      },
      [this](const QString& message) { say(message); });
}

int64_t MainWindow::newest_result() const {
  int64_t newest = 0;
  if (!document_.empty())
    for (const RunLine& run : document_.session().runs)
      if (!run.summary.empty()) newest = run.id;
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
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
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
        // Beside the first trace, or where documents are kept; never over a file that is there.
        const QFileInfo first(traces.constFirst());
        QString folder = QFileInfo(first.absolutePath()).isWritable() ? first.absolutePath()
                                                                      : QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
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
    const QByteArray bytes = draw_picture(*view(), view()->picture()->size(), 2, QFileInfo(file).suffix());
    background_.start(
        &actions_,
        [this, file, bytes](const Progress&) -> views::View::Deliver {
          write_file(file, bytes);
          return [this, file] { say(tr("Wrote %1").arg(file)); };
        },
        [this](const QString& message) { say(message); });
  } catch (const Error& e) {
    say(QString::fromUtf8(e.what()));
  }
}

void MainWindow::export_table() {
  const QString file = QFileDialog::getSaveFileName(this, tr("Export table"), view_id() + ".csv", tr("Tables (*.csv)"));
  if (file.isEmpty()) return;
  background_.start(
      &actions_,
      [this, file, table = view()->table()](const Progress&) -> views::View::Deliver {
        write_file(file, to_csv(table).toUtf8());
        return [this, file] { say(tr("Wrote %1").arg(file)); };
      },
      [this](const QString& message) { say(message); });
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
