// The tables of the window's actions: views, selection, appearance, help.
#include <QApplication>
#include <QDockWidget>
#include <algorithm>

#include "app/studio/main_window.h"
#include "app/studio/palette_dialog.h"
#include "views/registry.h"
#include "views/words/glossary.h"

namespace stormcell::studio {

std::vector<ActionRow> MainWindow::view_actions() {
  std::vector<ActionRow> rows;
  const QString menu = tr("&View");
  int key = 1;
  rows.push_back({.id = QString("view-") + kModelView,
                  .menu = menu,
                  .text = tr("Model"),
                  .tip = tr("The model's sheet, and data for another run"),
                  .run = [this] { show_view(kModelView); },
                  .blocked = [this] { return model_page() ? QString() : tr("open a model first"); },
                  .checked = [this] { return view_id() == kModelView; }});
  for (const views::ViewEntry& entry : views::all_views()) {
    rows.push_back({.id = QString("view-") + entry.id,
                    .menu = menu,
                    .text = tr(entry.title),
                    .tip = tr(entry.help),
                    .keys = key <= 9 ? QList{QKeySequence(QString("Ctrl+%1").arg(key))}
                                     : QList<QKeySequence>{},  // digits are used up
                    .run = [this, id = QString(entry.id)] { show_view(id); },
                    .checked = [this, id = QString(entry.id)] { return view_id() == id; }});
    ++key;
  }
  rows.push_back({.id = "table",
                  .menu = menu,
                  .text = tr("As table"),
                  .tip = tr("The same figures as a table, for the keyboard and screen readers"),
                  .keys = {QKeySequence("Ctrl+T")},
                  .run =
                      [this] {
                        if (views::View* v = view()) v->show_table(!v->shows_table());
                      },
                  .blocked = [this] { return needs_session(); },
                  .checked = [this] { return view() && view()->shows_table(); }});
  rows.push_back({.id = "side",
                  .menu = menu,
                  .text = tr("Session panel"),
                  .tip = tr("The list of views and runs"),
                  .keys = {QKeySequence("Ctrl+B")},
                  .run =
                      [this] {
                        side_wanted_ = !side_wanted_;
                        update_side();
                      },
                  .blocked = [this] { return needs_session(); },
                  .checked = [this] { return side_wanted_; }});
  rows.push_back({.id = "what-if",
                  .menu = menu,
                  .text = tr("What if"),
                  .tip = tr("Changes one thing of the run on show, runs it again and lists all tries"),
                  .keys = {QKeySequence("Ctrl+Shift+W")},
                  .run = [this] { what_if_dock_->setVisible(what_if_dock_->isHidden()); },
                  .blocked = [this] { return needs_session(); },
                  .checked = [this] { return !what_if_dock_->isHidden(); }});
  rows.push_back({.id = "log",
                  .menu = menu,
                  .text = tr("Log"),
                  .tip = tr("All messages since the program began"),
                  .keys = {QKeySequence("Ctrl+J")},
                  .run = [this] { log_dock_->setVisible(log_dock_->isHidden()); },
                  .checked = [this] { return !log_dock_->isHidden(); }});
  return rows;
}

std::vector<ActionRow> MainWindow::edit_actions() {
  std::vector<ActionRow> rows;
  const QString edit = tr("&Edit");
  rows.push_back({.id = "undo",
                  .menu = edit,
                  .text = tr("Undo"),
                  .tip = tr("Back to the selection before"),
                  .keys = {QKeySequence::Undo},
                  .run = [this] { document_.undo_stack().undo(); },
                  .blocked = [this] { return document_.undo_stack().canUndo() ? QString() : tr("nothing to undo"); }});
  rows.push_back({.id = "redo",
                  .menu = edit,
                  .text = tr("Redo"),
                  .tip = tr("Takes up again what was undone"),
                  .keys = {QKeySequence::Redo},
                  .run = [this] { document_.undo_stack().redo(); },
                  .blocked = [this] { return document_.undo_stack().canRedo() ? QString() : tr("nothing to redo"); }});
  rows.push_back(
      {.id = "select-nothing",
       .menu = edit,
       .text = tr("Clear selection"),
       .tip = tr("All batches, no router, no cell"),
       .keys = {QKeySequence("Ctrl+Shift+A")},
       .run = [this] { document_.select({}); },
       .blocked =
           [this] { return document_.selection() == views::Selection() ? tr("nothing is selected") : QString(); }});
  return rows;
}

std::vector<ActionRow> MainWindow::look_actions() {
  std::vector<ActionRow> rows;
  const QString menu = tr("&View");
  for (const auto& [id, text] :
       {std::pair{"system", tr("Theme: system")}, {"light", tr("Theme: light")}, {"dark", tr("Theme: dark")}})
    rows.push_back({.id = QString("theme-") + id,
                    .menu = menu,
                    .text = text,
                    .tip = tr("Colours of the window and of its pictures"),
                    .run = [this, id = QString(id)] { set_theme(id); },
                    .checked = [this, id = QString(id)] { return theme_ == id; }});
  rows.push_back({.id = "larger",
                  .menu = menu,
                  .text = tr("Larger text"),
                  .tip = tr("Makes the font of the window and its pictures one point larger"),
                  .keys = {QKeySequence::ZoomIn, QKeySequence("Ctrl+=")},
                  .run = [this] { set_font_size(std::min(32.0, QApplication::font().pointSizeF() + 1)); }});
  rows.push_back({.id = "smaller",
                  .menu = menu,
                  .text = tr("Smaller text"),
                  .tip = tr("Makes the font of the window and its pictures one point smaller"),
                  .keys = {QKeySequence::ZoomOut},
                  .run = [this] { set_font_size(std::max(6.0, QApplication::font().pointSizeF() - 1)); }});
  return rows;
}

std::vector<ActionRow> MainWindow::help_actions() {
  const QString menu = tr("&Help");
  return {
      {.id = "palette",
       .menu = menu,
       .text = tr("Commands..."),
       .tip = tr("Type what you want to do"),
       .keys = {QKeySequence("Ctrl+Shift+P")},
       .run = [this] { (new PaletteDialog(actions_, this))->open(); }},
      {.id = "keys",
       .menu = menu,
       .text = tr("Keys"),
       .tip = tr("All keys in a table"),
       .keys = {QKeySequence("?"), QKeySequence::HelpContents},
       .run = [this] { make_keys_dialog(actions_, this)->show(); }},
      {.id = "glossary",
       .menu = menu,
       .text = tr("Glossary"),
       .tip = tr("Explains the words of all views and how they are computed"),
       .keys = {QKeySequence("Shift+F1")},
       .run = [this] { show_page(tr("Glossary"), views::glossary_page()); }},
      {.id = "about",
       .menu = menu,
       .text = tr("About"),
       .tip = tr("Version, machine, libraries: what `stormcell doctor` says"),
       .run = [this] { show_about(); }},
  };
}

}  // namespace stormcell::studio
