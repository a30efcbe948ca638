// All commands of the window in one table: menus, the palette, the list of keys and the tool bar are made from it.
#pragma once
#include <QAction>
#include <QHash>
#include <QKeySequence>
#include <QString>
#include <functional>
#include <vector>

class QMenuBar;
class QWidget;

namespace stormcell::studio {

struct ActionRow {
  QString id = {};
  QString menu = {};  ///< its menu; empty: palette and keys only
  QString text = {};
  QString tip = {};  ///< its effect, in a sentence
  QList<QKeySequence> keys = {};
  std::function<void()> run = {};
  std::function<QString()> blocked = {};  ///< why it cannot be done now, empty: it can; null: always
  std::function<bool()> checked = {};     ///< null: no check mark
};

class Actions : public QObject {
  Q_OBJECT
 public:
  explicit Actions(QWidget* window);
  void add(std::vector<ActionRow> rows);
  const std::vector<ActionRow>& rows() const { return rows_; }
  QAction* action(const QString& id) const { return actions_.value(id); }
  /// Does it, or says why not. Returns whether it did.
  bool trigger(const QString& id);
  /// Asks every row again whether it is blocked or checked.
  void refresh();
  void fill(QMenuBar* bar) const;

 signals:
  void refused(const QString& why);

 private:
  QWidget* window_;
  std::vector<ActionRow> rows_;
  QHash<QString, QAction*> actions_;
};

/// Score of `typed` in `text` for the palette: its letters in order, better at starts of words and in a row; < 0: no
/// match.
int fit(const QString& typed, const QString& text);

}  // namespace stormcell::studio
