// The open document: a session with its runs, the run on show, another one to compare with, and the one selection that
// all views share.
#pragma once
#include <QObject>
#include <QTimer>
#include <QUndoStack>
#include <functional>
#include <optional>
#include <utility>

#include "app/studio/background.h"
#include "core/readings/selected_view.h"
#include "views/frame/selection.h"

namespace stormcell::studio {

class Document : public QObject {
  Q_OBJECT
 public:
  Document(Background& background, QObject* parent = nullptr);

  bool empty() const { return !session_; }
  const SessionOverview& session() const { return *session_; }
  const RunLine* run() const;
  const views::Context& context() const { return context_; }
  const views::Selection& selection() const { return selection_; }
  /// Phases, labels and routers of the shown run, to choose from; empty until they are read.
  const SelectionChoices& choices() const { return choices_; }
  QUndoStack& undo_stack() { return undo_; }

  /// "FILE" or "FILE#RUN"; opened() or failed() follows.
  void open(const QString& session, const std::optional<views::Selection>& selection = {});
  void close();
  void show_run(int64_t id);
  /// Compares with a run of this or of another session, or with a trace; empty: with nothing.
  void compare_with(const QString& session);
  /// Can be undone; a move of the same kind right after another is one step.
  void select(const views::Selection& selection);
  /// Looks whether the file has changed, as the timer does.
  void poll();
  /// While a run is written into the session, the timer looks three times a second instead of once.
  void expect_changes(bool expected);
  /// The timer waits while this returns true: otherwise a fast run would always overtake a view that is still reading.
  void set_busy(std::function<bool()> busy) { busy_ = std::move(busy); }

 signals:
  void opened();                           ///< another session, or none
  void runs_changed(const QString& what);  ///< the session grew; what: "run #3 began", for people
  void context_changed();
  void selection_changed();
  void choices_changed();
  void failed(const QString& message);
  /// Emitted some time after opened(), when the whole session was read or is too large for it. `damage`: the damage
  /// found; empty: none.
  void looked_over(const QString& damage);

 private:
  friend class SelectCommand;
  void read_choices();
  void look_over();
  void take_selection(const views::Selection& selection);
  views::Source source_of(const SessionOverview& session, const RunLine& run, const std::string& revision) const;
  void take_session(SessionOverview session, const std::string& revision, int64_t run);

  Background& background_;
  std::shared_ptr<const SessionOverview> session_;
  std::string revision_;
  views::Context context_;
  views::Selection selection_;
  SelectionChoices choices_;
  views::Source choices_of_;
  QUndoStack undo_;
  QTimer poll_;
  std::function<bool()> busy_;
};

/// One line about a run: "#3 optimize, 210 batches".
QString title_of(const RunLine& run);

}  // namespace stormcell::studio
