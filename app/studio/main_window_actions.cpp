// The tables of what the window can do.
#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QListWidget>
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
#include "app/studio/view_state.h"
#include "core/base/error.h"
#include "core/machine/doctor.h"
#include "core/readings/session_contents.h"
#include "views/kit/glossary.h"
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
       [this] { return runs_.running() ? tr("a run or an import is going on") : QString(); },
       nullptr},
      {"open-sample",
       file,
       tr("Open the sample session"),
       tr("Names and phrases in eight scripts through the demo model"),
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
         QStringList how = selection_words(document_.selection());
         for (const views::ViewEntry& entry : views::all_views())
           if (view_id() == entry.id)
             for (const auto& [control, value] : changed_controls(*view(), entry)) how << "--set" << shell_quoted(control + "=" + value);
         QApplication::clipboard()->setText(export_command(view_id(), view_id() + ".png", name(shown.main), name(shown.other), how));
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
      {"quit",
       file,
       tr("Quit"),
       tr("Ends the program; the session, the selection and the layout come back at the next start"),
       {QKeySequence::Quit},
       [this] { close(); },
       nullptr,
       nullptr},
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
       tr("Ends the run or the import; what it has finished stays"),
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
         QApplication::clipboard()->setText(command_of(
             document_.run()->settings, QFileInfo(QString::fromStdString(document_.session().file)).fileName(), passes_of_run()));
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
      {"choose-run",
       menu,
       tr("Choose another run"),
       tr("Goes to the list of runs"),
       {QKeySequence("Ctrl+L")},
       [this] { run_list_->setFocus(Qt::ShortcutFocusReason); },
       needs_session,
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
      {"compare-nothing",
       menu,
       tr("Compare with nothing"),
       tr("Views show this run alone again"),
       {},
       [this] { document_.compare_with({}); },
       needs_other,
       nullptr},
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
  rows.push_back({"side",
                  menu,
                  tr("Session panel"),
                  tr("The list of views and runs"),
                  {QKeySequence("Ctrl+B")},
                  [this] {
                    side_wanted_ = !side_wanted_;
                    update_side();
                  },
                  [this] { return document_.empty() ? tr("open a session first") : QString(); },
                  [this] { return side_wanted_; }});
  rows.push_back({"log",
                  menu,
                  tr("Log"),
                  tr("All that was said since the program began"),
                  {QKeySequence("Ctrl+J")},
                  [this] { log_dock_->setVisible(log_dock_->isHidden()); },
                  nullptr,
                  [this] { return !log_dock_->isHidden(); }});
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
                  tr("Takes up again what was undone"),
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
                    tr("Colours of the window and of its pictures"),
                    {},
                    [this, id = QString(id)] { set_theme(id); },
                    nullptr,
                    [this, id = QString(id)] { return theme_ == id; }});
  rows.push_back({"larger",
                  menu,
                  tr("Larger text"),
                  tr("One point more, in the window and in its pictures"),
                  {QKeySequence::ZoomIn, QKeySequence("Ctrl+=")},
                  [this] { set_font_size(std::min(32.0, QApplication::font().pointSizeF() + 1)); },
                  nullptr,
                  nullptr});
  rows.push_back({"smaller",
                  menu,
                  tr("Smaller text"),
                  tr("One point less, in the window and in its pictures"),
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
      {"glossary",
       menu,
       tr("Glossary"),
       tr("The words of all views: what each means, and how it is computed"),
       {QKeySequence("Shift+F1")},
       [this] { show_page(tr("Glossary"), views::glossary_page()); },
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

}  // namespace stormcell::studio
