// One view of the Studio: controls above, and below them a picture, its table, or a message if there is nothing to
// show.
//
// A view never reads by itself: load() describes what must be read on another thread, and what to do with the result on
// this one.
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

/// A property of a choice: entries that it would offer under other choices, in words. --set mentions them when it
/// refuses.
inline constexpr const char* kElsewhere = "elsewhere";
/// A property of an editable choice, a QPointF: the text must be in the list or a number from x to y. Without it any
/// text is allowed.
inline constexpr const char* kNumbersAlone = "numbers_alone";

class View : public QWidget {
  Q_OBJECT
 public:
  using Deliver = std::function<void()>;
  using Load = std::function<Deliver(const Progress&)>;

  explicit View(QWidget* parent = nullptr);

  /// Sets what to show from now on. Returns the reading that it needs, null if it needs none.
  Load look_at(const Context& context, const Selection& selection);
  /// True if everything that was asked for is shown: no reading is under way, has failed or is wanted.
  bool settled() const { return answered_ == asked_ && !wants_load_; }
  /// The current figures of the picture.
  virtual Table table() const = 0;
  /// The widget that an image export draws: without controls, and whole if the window scrolls. It is the visible
  /// widget, or one inside it.
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
  /// The caption for the foot of an exported picture.
  Caption caption() const { return caption_of(context_, selection_, heeded(), note()); }

 signals:
  void selection_wanted(const stormcell::views::Selection& selection);
  void action_wanted(const QString& id);
  /// An option changed what has to be read: call load() again.
  void load_wanted();
  /// Content to export has appeared or gone.
  void content_changed();
  void said(const QString& message);
  /// Run the current run again, with these passes.
  void run_wanted(const stormcell::PassSelection& passes);
  /// Run the current run again, with these thresholds of its exits.
  void thresholds_wanted(const stormcell::RouterThresholds& exits);
  /// Long work that the user asked for, as load() describes reading: the shell shows its progress and can stop it.
  void work_wanted(const stormcell::views::View::Load& work);
  /// A file made by the view; the shell asks where to save it.
  void save_wanted(const QString& name, const QString& filter, const QByteArray& bytes);
  /// A change that can be undone: the shell calls `redo` now, and either function again on request.
  void edit_wanted(const QString& what, const std::function<void()>& redo, const std::function<void()>& undo);

 protected:
  /// Null if nothing new must be read: unread() says what may have to be. The work must not touch the view. The
  /// function that it returns is called on the view's thread, unless a later load has replaced it. Errors of the work
  /// become the view's message.
  virtual Load load(const Context& context, const Selection& selection) = 0;
  /// Called before load(): marks the selected parts without reading.
  virtual void select(const Selection& selection) = 0;
  /// The changes since the last load that was delivered, or that had nothing to read.
  Parts unread() const { return unread_; }
  /// The narrowing parts of the selection that the figures depend on, and Part::other if the other run is shown. A line
  /// in the view names the narrowing parts that it ignores.
  virtual Parts heeded() const { return Part::range; }
  /// Further sentences for that line.
  virtual QStringList remarks() const { return {}; }
  /// True if the row of controls stays beside a message: for views in which another choice may have something to show.
  virtual bool keeps_controls() const { return false; }
  /// Call it when heeded() or remarks() may have changed.
  void refresh_note();

  /// The controls above the picture: one row, or several in a narrow window.
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
  const char* help;  ///< the question that it answers, in a sentence
  View* (*make)(QWidget* parent);
};

}  // namespace stormcell::views

Q_DECLARE_METATYPE(stormcell::views::Selection)
