// The panel for a recording, beside every view: its choices are changed and counted, and written for a program that
// replays them. The list of tries is that of the run on show.
#pragma once
#include <QWidget>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/studio/recorded_tries.h"
#include "views/frame/view.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace stormcell::studio {

class BranchSwitch;
class FaultLine;

class RecordingPanel : public QWidget {
  Q_OBJECT
 public:
  explicit RecordingPanel(QWidget* parent = nullptr);
  /// The session with the run on show; null: none.
  void set_session(std::shared_ptr<const SessionOverview> session, int64_t shown);
  /// Its router and branch can be switched off.
  void set_selection(const views::Selection& selection);
  /// While a run or other work goes on, nothing can be changed.
  void set_running(bool running);
  /// Below the controls; empty: none.
  void show_fault(const QString& message);

 signals:
  /// Counts what a change does. It may take long, and may be stopped.
  void work_wanted(const stormcell::views::View::Load& work);
  /// The file is still to be named.
  void choices_wanted(const stormcell::ReplayOptions& options);
  void save_wanted(const QString& name, const QString& filter, const QByteArray& bytes);
  void copied(const QString& what);
  void said(const QString& message);

 private:
  /// Changes the try on show. Throws Error(bad_input).
  using Change = std::function<void(Intervention& change)>;
  QLineEdit* add_line(const QString& name, const QString& hint, const QString& help,
                      std::function<void(const QString& text, Intervention& change)> take);
  void add_tries();
  void add_formats(QPushButton* button);
  void add_compared(QPushButton* button);
  /// The try on show beside another one. A number beyond the list does nothing.
  void show_comparison(size_t number);
  void ask(const Change& change);
  void take(const std::string& recording, const RecordedTry& counted);
  void show_try(size_t number);
  void refresh();
  void refresh_tries();
  /// The tries of the run on show; null: there is none, or its choices cannot be changed.
  RecordedTries* tries();
  const RunLine* run() const;

  std::shared_ptr<const SessionOverview> session_;
  int64_t shown_ = 0;
  std::string recording_;                       ///< name_of_recording() of the run on show; empty: there is none
  std::map<std::string, RecordedTries> tries_;  ///< by the recording's name
  bool running_ = false;

  QLabel* hint_;
  FaultLine* fault_;
  BranchSwitch* branches_;
  QLineEdit *k_, *force_;
  QListWidget* list_;
  QPushButton *compare_, *copy_, *write_, *save_;
};

}  // namespace stormcell::studio
