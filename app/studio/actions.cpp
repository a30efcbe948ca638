#include "app/studio/actions.h"

#include <QMenu>
#include <QMenuBar>
#include <QWidget>

namespace stormcell::studio {

Actions::Actions(QWidget* window) : QObject(window), window_(window) {}

void Actions::add(std::vector<ActionRow> rows) {
  for (ActionRow& row : rows) {
    auto* action = new QAction(row.text, window_);
    action->setObjectName(row.id);
    action->setShortcuts(row.keys);
    action->setCheckable(row.checked != nullptr);
    connect(action, &QAction::triggered, this, [this, id = row.id] { trigger(id); });
    window_->addAction(action);
    actions_.insert(row.id, action);
    rows_.push_back(std::move(row));
  }
  refresh();
}

bool Actions::trigger(const QString& id) {
  for (const ActionRow& row : rows_)
    if (row.id == id) {
      const QString why = row.blocked ? row.blocked() : QString();
      if (!why.isEmpty()) {
        emit refused(why);
        return false;
      }
      row.run();
      refresh();
      return true;
    }
  emit refused(tr("There is no command '%1'").arg(id));
  return false;
}

void Actions::refresh() {
  for (const ActionRow& row : rows_) {
    QAction* action = actions_.value(row.id);
    const QString why = row.blocked ? row.blocked() : QString();
    action->setEnabled(why.isEmpty());
    action->setToolTip(why.isEmpty() ? row.tip : row.tip + "\n" + tr("Not now: %1").arg(why));
    action->setStatusTip(why.isEmpty() ? row.tip : why);
    if (row.checked) action->setChecked(row.checked());
  }
}

void Actions::fill(QMenuBar* bar) const {
  QHash<QString, QMenu*> menus;
  for (const ActionRow& row : rows_) {
    if (row.menu.isEmpty()) continue;
    if (!menus.contains(row.menu)) {
      menus.insert(row.menu, bar->addMenu(row.menu));
      menus[row.menu]->setToolTipsVisible(true);
    }
    menus[row.menu]->addAction(actions_.value(row.id));
  }
}

int fit(const QString& typed, const QString& text) {
  int score = 0, at = 0, run = 0;
  for (const QChar wanted : typed) {
    if (wanted.isSpace()) continue;
    int found = -1;
    for (int i = at; i < text.size(); ++i)
      if (text[i].toLower() == wanted.toLower()) {
        found = i;
        break;
      }
    if (found < 0) return -1;
    run = found == at && at > 0 ? run + 1 : 0;
    score += 1 + 3 * run + (found == 0 || !text[found - 1].isLetterOrNumber() ? 5 : 0);
    at = found + 1;
  }
  return score;
}

}  // namespace stormcell::studio
