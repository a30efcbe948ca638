// One view of the Studio: controls above, below them a picture or its table twin, or a message where there is nothing
// to show.
//
// A view never reads by itself: load() describes what has to be read, on another thread, and what to do with the result
// on this one.
#pragma once
#include <QString>
#include <QWidget>
#include <functional>
#include <vector>

#include "core/base/progress.h"
#include "core/experiment/experiment.h"
#include "views/frame/caption.h"
#include "views/frame/flow_layout.h"
#include "views/frame/selection.h"
#include "views/frame/table.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QStackedWidget;
class QTableView;
class QSortFilterProxyModel;
class QVBoxLayout;

namespace stormcell::views {

/// A property of a choice: what it would offer besides where others are chosen otherwise, in words. --set says it where
/// it refuses.
inline constexpr const char* kElsewhere = "elsewhere";
/// A property of an editable choice, a QPointF: what is typed must stand in the list or be a number from x to y.
/// Without it anything goes.
inline constexpr const char* kNumbersAlone = "numbers_alone";

class View : public QWidget {
  Q_OBJECT
 public:
  using Deliver = std::function<void()>;
  using Load = std::function<Deliver(const Progress&)>;

  explicit View(QWidget* parent = nullptr);

  /// What is to be shown from now on. Returns what has to be read for it, null where nothing has.
  Load look_at(const Context& context, const Selection& selection);
  /// Whether all that was asked for is on show: no reading is under way or has failed, and none is wanted.
  bool settled() const { return answered_ == asked_ && !wants_load_; }
  /// The figures of the picture as they stand.
  virtual Table table() const = 0;
  /// What an image export draws: without controls, and whole where the window scrolls. The widget on show, or one
  /// inside of it.
  virtual QWidget* picture() = 0;
  /// Whether the picture has anything to draw; false leaves the message on show.
  bool has_content() const { return has_content_; }
  QString message() const;

  /// A button below a message: an action of the application by its id.
  struct Way {
    QString action, text;
  };
  void show_message(const QString& text, const std::vector<Way>& ways = {});
  /// A message that refuses a picture: its export fails with this line.
  void show_refusal(const QString& line);
  bool refuses() const { return refuses_; }
  void show_content();
  void show_table(bool table);
  bool shows_table() const { return shows_table_; }
  /// One line naming the parts of the selection this view ignores; empty: it ignores none.
  QString note() const;
  const Context& context() const { return context_; }
  /// For the foot of an exported picture.
  Caption caption() const { return caption_of(context_, selection_, heeded(), note()); }

 signals:
  void selection_wanted(const stormcell::views::Selection& selection);
  void action_wanted(const QString& id);
  /// An option changed what has to be read: load() is to be asked again.
  void load_wanted();
  /// There is content to export now, or no more.
  void content_changed();
  void said(const QString& message);
  /// The run on show once more, with these passes.
  void run_wanted(const stormcell::PassSelection& passes);
  /// The run on show once more, with these thresholds of its exits.
  void thresholds_wanted(const stormcell::RouterThresholds& exits);
  /// A long piece of work that the user asked for, as load() describes reading: the shell shows how far it is and lets
  /// it be stopped.
  void work_wanted(const stormcell::views::View::Load& work);
  /// A file of the view's making; the shell asks where.
  void save_wanted(const QString& name, const QString& filter, const QByteArray& bytes);
  /// A change that can be undone: the shell calls `redo` now, and either again when asked to.
  void edit_wanted(const QString& what, const std::function<void()>& redo, const std::function<void()>& undo);

 protected:
  /// Null where nothing new has to be read: ask unread() what may have to be. The work may not touch the view; what it
  /// returns is called on the view's thread, unless a later load has replaced it. Errors that the work throws become
  /// the view's message.
  virtual Load load(const Context& context, const Selection& selection) = 0;
  /// Before load(): marks what the selection marks, without reading.
  virtual void select(const Selection& selection) = 0;
  /// What has changed since the last load that was delivered, or that had nothing to read.
  Parts unread() const { return unread_; }
  /// Which narrowing parts of the selection the figures heed, and Part::other where the other run is on show. Of
  /// narrowing parts that are not among them the view says so in a line.
  virtual Parts heeded() const { return Part::range; }
  /// Sentences for that line beyond what heeded() says.
  virtual QStringList remarks() const { return {}; }
  /// Whether the row of controls stays where a message is on show: for views in which another choice may bring
  /// something to show.
  virtual bool keeps_controls() const { return false; }
  /// heeded() or remarks() may have changed.
  void refresh_note();

  /// The controls above the picture: one row, or several where the window is narrow.
  FlowLayout* bar() { return bar_; }
  struct Choice {
    QString text, tip;  ///< no tip: that of the glossary
  };
  /// A labelled choice in that row.
  QComboBox* add_choice(const QString& name, const QString& tip, const std::vector<Choice>& choices = {});
  /// A choice and its label come and go together.
  void show_choice(QComboBox* choice, bool shown);
  /// The message where `context` has no run: nothing is open, or a session that holds none.
  void show_no_run(const Context& context);
  /// Called once by the constructor of a subclass.
  void set_picture(QWidget* picture);
  /// The figures changed: the table twin follows when it is on show.
  void refresh_table();

 private:
  FlowLayout* bar_;
  QWidget* bar_widget_;
  QStackedWidget* stack_;
  QWidget* shown_ = nullptr;
  QWidget* message_page_;
  QLabel* message_;
  QHBoxLayout* ways_;
  QTableView* twin_;
  TableModel* model_;
  QSortFilterProxyModel* sorted_;
  QLabel* note_;
  Context context_;
  Selection selection_;
  Parts unread_ = kEveryPart;
  int64_t asked_ = 0, answered_ = 0;  ///< numbers of look_at(): the newest, and the newest whose figures are there
  bool has_content_ = false, refuses_ = false, shows_table_ = false, wants_load_ = false;
};

/// A view as the shell knows it: one folder and one row of all_views().
struct ViewEntry {
  const char* id;  ///< as for --export
  const char* title;
  const char* help;  ///< what it answers, in a sentence
  View* (*make)(QWidget* parent);
};

}  // namespace stormcell::views

Q_DECLARE_METATYPE(stormcell::views::Selection)
