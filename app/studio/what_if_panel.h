// The panel beside every view: possible changes of the current run, and the list of tries. Each change is requested at
// once; one that cannot be made gives its reason in a line.
#pragma once
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/studio/tries.h"
#include "views/frame/selection.h"

class QFormLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QToolButton;

namespace stormcell::studio {

class BranchSwitch;
class FaultLine;
class PassSwitches;

class WhatIfPanel : public QWidget {
  Q_OBJECT
 public:
  explicit WhatIfPanel(QWidget* parent = nullptr);
  /// The session with the run on show; null: none.
  void set_session(std::shared_ptr<const SessionOverview> session, int64_t shown);
  /// Its router and branch can be switched off.
  void set_selection(const views::Selection& selection);
  /// While a run goes on nothing can be changed.
  void set_running(bool running);
  /// Below the controls; empty: none.
  void show_fault(const QString& message);

 signals:
  void try_wanted(const stormcell::studio::TrySettings& wanted);
  /// Passes that no run of the session has found yet, or with other parameters.
  void search_wanted(const stormcell::views::PassChoice& choice);
  void run_chosen(qint64 run);
  /// `first` is compared with.
  void compare_wanted(qint64 first, qint64 second);
  void save_wanted(const QString& name, const QString& filter, const QByteArray& bytes);
  void copied(const QString& what);

 private:
  /// Changes the settings of the run on show. Throws Error(bad_input).
  using Change = std::function<void(TrySettings& settings)>;
  struct Editor {
    QWidget* control;
    std::function<QString(const TrySettings&)> shown;
    std::function<void(const QString& text)> show;
  };
  void add_line(const QString& name, const QString& hint, const QString& help,
                std::function<QString(const TrySettings&)> shown,
                std::function<void(const QString& text, TrySettings& settings)> take);
  /// Takes the line that was added last out of its row, to be put into another one.
  QLineEdit* take_last_line();
  void add_setting(const Setting& setting);
  /// The same of a setting with few words.
  void add_words(const Setting& setting, const QStringList& words);
  void halve_budget();
  void add_changes();
  void add_tries();
  void ask(const Change& change);
  void switch_pass(const QString& pass, bool on);
  void search(const std::string& pass, const std::string& option = {}, const QString& value = {});
  void refresh();
  void refresh_tries();
  void refresh_buttons();
  /// Runs that are chosen in the list, oldest first.
  std::vector<const RunLine*> chosen_runs() const;

  std::shared_ptr<const SessionOverview> session_;
  int64_t shown_ = 0;
  std::optional<TrySettings> settings_;  ///< of the run on show
  std::vector<std::string> exits_;       ///< its routers that are exits
  bool running_ = false;

  QFormLayout* form_;
  std::vector<Editor> editors_;
  QLineEdit* threshold_ = nullptr;
  QLabel* hint_ = nullptr;
  FaultLine* fault_ = nullptr;
  QPushButton *compare_, *copy_, *save_;
  QToolButton* half_;
  BranchSwitch* branches_;
  PassSwitches* passes_;
  QListWidget* tries_;
};

}  // namespace stormcell::studio
