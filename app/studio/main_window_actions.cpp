// The tables of the window's actions: files, runs.
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QListWidget>

#include "app/studio/command_line.h"
#include "app/studio/main_window.h"
#include "app/studio/picture_export.h"
#include "app/studio/trace_import.h"
#include "app/studio/view_state.h"
#include "views/registry.h"

namespace stormcell::studio {

QString MainWindow::needs_session() const { return document_.empty() ? tr("open a session first") : QString(); }

std::vector<ActionRow> MainWindow::open_actions() {
  const QString file = tr("&File");
  return {
      {.id = "open-session",
       .menu = file,
       .text = tr("Open session..."),
       .tip = tr("A .storm file: what `stormcell profile` or `optimize` recorded"),
       .keys = {QKeySequence::Open},
       .run = [this] { open_dialog(); }},
      {.id = "open-model",
       .menu = file,
       .text = tr("Open model..."),
       .tip = tr("Opens any file of a model, says what it is and whether it fits, and can run it on your data"),
       .keys = {QKeySequence("Ctrl+M")},
       .run = [this] { choose_model(); }},
      {.id = "name-model",
       .menu = file,
       .text = tr("Open demo or preset..."),
       .tip = tr("A model by name, as demo:switch-names or preset:switch-base-8"),
       .keys = {QKeySequence("Ctrl+Shift+M")},
       .run = [this] { name_model(); }},
      {.id = "import-trace",
       .menu = file,
       .text = tr("Import trace..."),
       .tip = tr("Routing that another system recorded: %1").arg(trace_format_ids()),
       .keys = {QKeySequence("Ctrl+I")},
       .run =
           [this] {
             const QStringList traces = QFileDialog::getOpenFileNames(
                 this, tr("Import traces"), {},
                 tr("Traces (%1);;All files (*)").arg("*." + trace_suffixes().join(" *.")));
             if (!traces.isEmpty()) import_traces(traces);
           },
       .blocked = [this] { return runs_.running() ? tr("a run or an import is going on") : QString(); }},
      {.id = "open-sample",
       .menu = file,
       .text = tr("Open the sample session"),
       .tip = tr("Names and phrases in eight scripts through the demo model"),
       .run = [this] { open_sample(); }},
      {.id = "reload",
       .menu = file,
       .text = tr("Reload"),
       .tip = tr("Reads the session again"),
       .keys = {QKeySequence::Refresh},
       .run =
           [this] {
             document_.open(
                 QString::fromStdString(document_.session().file) + "#" + QString::number(document_.context().main.run),
                 document_.selection());
           },
       .blocked = [this] { return needs_session(); }},
  };
}

std::vector<ActionRow> MainWindow::export_actions() {
  const auto needs_content = [this] {
    return document_.empty()                 ? tr("open a session first")
           : view() && view()->has_content() ? QString()
                                             : tr("this view has nothing to export");
  };
  const QString file = tr("&File");
  return {
      {.id = "export-picture",
       .menu = file,
       .text = tr("Export picture..."),
       .tip = tr("The view as PNG or SVG"),
       .keys = {QKeySequence("Ctrl+E")},
       .run = [this] { export_picture(); },
       .blocked = needs_content},
      {.id = "export-table",
       .menu = file,
       .text = tr("Export table..."),
       .tip = tr("The view's figures as CSV"),
       .keys = {QKeySequence("Ctrl+Shift+E")},
       .run = [this] { export_table(); },
       .blocked = needs_content},
      {.id = "copy-export",
       .menu = file,
       .text = tr("Copy export as command line"),
       .tip = tr("A command that writes this view's picture without a window"),
       .run =
           [this] {
             const auto name = [](const views::Source& s) {
               return s.empty() ? QString() : QString::fromStdString(s.file) + "#" + QString::number(s.run);
             };
             const views::Context& shown = document_.context();
             QStringList how = selection_words(document_.selection());
             for (const views::ViewEntry& entry : views::all_views())
               if (view_id() == entry.id)
                 for (const auto& [control, value] : changed_controls(*view(), entry))
                   how << "--set" << shell_quoted(control + "=" + value);
             QApplication::clipboard()->setText(export_command(
                 view_id(), view_id() + ".png", name(shown.main),
                 shown.recording.empty() ? name(shown.other) : QString::fromStdString(shown.recording), how));
             say(tr("Copied: %1").arg(QApplication::clipboard()->text()));
           },
       .blocked = [this] { return view() ? QString() : tr("open a session first"); }},
  };
}

std::vector<ActionRow> MainWindow::close_actions() {
  const QString file = tr("&File");
  return {
      {.id = "save-session",
       .menu = file,
       .text = tr("Save session as..."),
       .tip = tr("Keeps the runs of this session in a file of your choice; later runs go there too"),
       .keys = {QKeySequence("Ctrl+Shift+S")},
       .run = [this] { save_session(); },
       .blocked = [this] { return runs_.running() ? tr("a run is going on") : needs_session(); }},
      {.id = "contents",
       .menu = file,
       .text = tr("What this session holds..."),
       .tip = tr("Lists what you give away if you share it: texts, tokens, decisions, machine"),
       .run = [this] { show_contents(); },
       .blocked = [this] { return needs_session(); }},
      {.id = "close-session",
       .menu = file,
       .text = tr("Close"),
       .tip = tr("Closes the model or session on show"),
       .keys = {QKeySequence::Close},
       .run = [this] { close_entry(); },
       .blocked = [this] { return model_page() ? QString() : needs_session(); }},
      {.id = "quit",
       .menu = file,
       .text = tr("Quit"),
       .tip = tr("Ends the program; the session, the selection and the layout come back at the next start"),
       .keys = {QKeySequence::Quit},
       .run = [this] { close(); }},
  };
}

std::vector<ActionRow> MainWindow::run_actions() {
  const auto needs_settings = [this] {
    if (runs_.running()) return tr("a run is going on");
    const RunLine* run = document_.run();
    return !run ? tr("open a session first")
           : run->settings.empty()
               ? tr("this run was not finished or came from elsewhere, so how it was made is not known")
               : QString();
  };
  const QString menu = tr("&Run");
  return {
      {.id = "run-again",
       .menu = menu,
       .text = tr("Run again"),
       .tip = tr("Measures and verifies this run's model and data once more, into the same session"),
       .keys = {QKeySequence("Ctrl+R")},
       .run = [this] { run_again({}); },
       .blocked = needs_settings},
      {.id = "run-with-inputs",
       .menu = menu,
       .text = tr("Run again with recorded inputs"),
       .tip = tr("The same, with texts and token ids kept in the session"),
       .run = [this] { run_again({.inputs = true}); },
       .blocked = needs_settings},
      {.id = "measure-longer",
       .menu = menu,
       .text = tr("Measure four times as long"),
       .tip = tr("Runs again and takes four times as many samples: a narrower interval"),
       .run = [this] { run_again({.longer = 4}); },
       .blocked = needs_settings},
      {.id = "run-demo",
       .menu = menu,
       .text = tr("Run the demo"),
       .tip = tr("Optimises a small model that writes names in Latin letters; about 15 s"),
       .run = [this] { run_demo(); },
       .blocked = [this] { return runs_.running() ? tr("a run is going on") : QString(); }},
      {.id = "stop",
       .menu = menu,
       .text = tr("Stop"),
       .tip = tr("Stops the run, the import or the reading of a view, and keeps what is finished"),
       .keys = {QKeySequence("Ctrl+.")},
       .run = [this] { runs_.running() ? runs_.cancel() : background_.stop(view()); },
       .blocked =
           [this] { return runs_.running() || background_.reads(view()) ? QString() : tr("nothing is running"); }},
      {.id = "copy-command",
       .menu = menu,
       .text = tr("Copy as command line"),
       .tip = tr("The command that does what this run did"),
       .keys = {QKeySequence("Ctrl+Shift+C")},
       .run =
           [this] {
             const QString session = QFileInfo(QString::fromStdString(document_.session().file)).fileName();
             QApplication::clipboard()->setText(
                 command_of(document_.run()->settings, session, passes_of_run(), time_limit_of(*document_.run())));
             say(tr("Copied: %1").arg(QApplication::clipboard()->text()));
           },
       .blocked =
           [this] {
             return document_.run() && !document_.run()->settings.empty() ? QString()
                                                                          : tr("how this run was made is not known");
           }},
  };
}

/// Among the runs that there are.
std::vector<ActionRow> MainWindow::choose_actions() {
  const auto needs_other = [this] {
    const views::Context& shown = document_.context();
    return shown.other.empty() && shown.recording.empty() ? tr("no other run is chosen") : QString();
  };
  const QString menu = tr("&Run");
  return {
      {.id = "show-result",
       .menu = menu,
       .text = tr("Go to the newest figures"),
       .tip = tr("The newest run of this session that was measured to its end"),
       .run =
           [this] {
             for (const RunLine& run : document_.session().runs)
               if (run.id == newest_result()) return document_.show_run(run.id);
           },
       .blocked =
           [this] {
             return document_.empty()      ? tr("open a session first")
                    : newest_result() == 0 ? tr("no run of this session has figures")
                                           : QString();
           }},
      {.id = "choose-run",
       .menu = menu,
       .text = tr("Choose another run"),
       .tip = tr("Goes to the list of runs"),
       .keys = {QKeySequence("Ctrl+L")},
       .run = [this] { run_list_->setFocus(Qt::ShortcutFocusReason); },
       .blocked = [this] { return needs_session(); }},
      {.id = "compare-run",
       .menu = menu,
       .text = tr("Compare with this run"),
       .tip = tr("Views can show it beside the run that you choose next"),
       .keys = {QKeySequence("Ctrl+K")},
       .run =
           [this] {
             document_.compare_with(QString::fromStdString(document_.session().file) + "#" +
                                    QString::number(document_.context().main.run));
           },
       .blocked = [this] { return needs_session(); }},
      {.id = "compare-session",
       .menu = menu,
       .text = tr("Compare with another session..."),
       .tip = tr("Its newest run"),
       .run =
           [this] {
             const QString other = QFileDialog::getOpenFileName(this, tr("Compare with"), {}, tr("Sessions (*.storm)"));
             if (!other.isEmpty()) document_.compare_with(other);
           },
       .blocked = [this] { return needs_session(); }},
      {.id = "compare-recording",
       .menu = menu,
       .text = tr("Compare with a recording..."),
       .tip = tr("A trace of another program, for the view diff"),
       .run =
           [this] {
             const QString other = QFileDialog::getOpenFileName(
                 this, tr("Compare with"), {},
                 tr("Traces (%1);;All files (*)").arg("*." + trace_suffixes().join(" *.")));
             if (!other.isEmpty()) document_.compare_with(other);
           },
       .blocked = [this] { return needs_session(); }},
      {.id = "compare-nothing",
       .menu = menu,
       .text = tr("Compare with nothing"),
       .tip = tr("Views show only this run again"),
       .run = [this] { document_.compare_with({}); },
       .blocked = needs_other},
  };
}

}  // namespace stormcell::studio
