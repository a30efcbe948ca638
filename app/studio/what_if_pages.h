// The two panels of what if: for a run that can be repeated, and for the choices that a recording holds.
#pragma once
#include <QWidget>
#include <memory>

#include "core/readings/session_view.h"
#include "views/frame/selection.h"

class QCheckBox;
class QStackedWidget;

namespace stormcell::studio {

class RecordingPanel;
class WhatIfPanel;

class WhatIfPages : public QWidget {
  Q_OBJECT
 public:
  explicit WhatIfPages(QWidget* parent = nullptr);
  WhatIfPanel* of_runs() const { return runs_; }
  RecordingPanel* of_recordings() const { return recordings_; }
  /// The session with the run on show; null: none.
  void set_session(const std::shared_ptr<const SessionOverview>& session, int64_t shown);
  void set_selection(const views::Selection& selection);
  void set_running(bool running);
  /// On the page on show; empty: none.
  void show_fault(const QString& message);

 private:
  void show_page();

  QCheckBox* choices_only_;
  QStackedWidget* pages_;
  WhatIfPanel* runs_;
  RecordingPanel* recordings_;
  bool wanted_ = false;                       ///< choices alone, where there is a choice
  bool can_run_ = true, can_change_ = false;  ///< the run on show can be repeated; its choices can be changed
};

}  // namespace stormcell::studio
