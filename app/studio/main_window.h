// The window: views in the middle, runs at the left, the log below. Thin glue between document, views and controllers.
#pragma once
#include <QHash>
#include <QMainWindow>
#include <QPointer>
#include <QStringList>
#include <QTimer>
#include <functional>
#include <optional>

#include "app/studio/actions.h"
#include "app/studio/background.h"
#include "app/studio/document.h"
#include "app/studio/opened_model.h"
#include "app/studio/run_controller.h"
#include "core/exports/replay_file.h"
#include "core/readings/session_contents.h"

class QDockWidget;
class QLabel;
class QListWidget;
class QPlainTextEdit;
class QProgressBar;
class QStackedWidget;
class QToolButton;

namespace stormcell::studio {

class ModelPage;
class NoticeBar;
class OpenList;
class SelectionBar;
class WelcomePage;
class WhatIfPages;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  MainWindow();
  ~MainWindow() override;

  void open(const QString& session) { document_.open(session); }
  /// Opens dropped or named paths: sessions, models, traces, or data for the shown model.
  void open_anything(const QStringList& paths);
  void open_anything(const QString& path) { open_anything(QStringList{path}); }
  void show_view(const QString& id);
  /// Keeps for the next start what restore() takes up.
  void keep() const;
  /// Restores windows, theme, recent files and the sessions that were open when the program ended. Off in tests.
  void restore(bool session_too);
  void say(const QString& message);
  /// Something went wrong: stays on show until it is put away.
  void complain(const QString& message);

  Document& document() { return document_; }
  RunController& runs() { return runs_; }
  Background& background() { return background_; }
  Actions& actions() { return actions_; }
  /// Replaces the check whether a session can be written, for tests: root can write everywhere.
  void set_writable(std::function<bool(const std::string&)> writable) { writable_ = std::move(writable); }
  views::View* view() const;
  QString view_id() const;

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  std::vector<ActionRow> open_actions();
  std::vector<ActionRow> export_actions();
  std::vector<ActionRow> close_actions();
  std::vector<ActionRow> run_actions();
  std::vector<ActionRow> choose_actions();
  std::vector<ActionRow> view_actions();
  std::vector<ActionRow> edit_actions();
  std::vector<ActionRow> look_actions();
  std::vector<ActionRow> help_actions();
  /// Why a command cannot run without a session; empty: there is one.
  QString needs_session() const;
  // The constructor's parts.
  void build_center();
  void build_side();
  void build_log();
  void build_what_if();
  void build_status_bar();
  void connect_lists();
  void connect_views();
  void connect_document();
  void connect_runs();
  void show_progress(bool shown);
  void tell_progress(const QString& text, int permille);

  void take_opened();
  void take_result(const RunSummaryFigures& figures);
  void open_dialog();
  void open_sample();
  void update_view();
  void update_runs();
  void update_side();
  void show_wanted_run();
  struct Again {
    bool inputs = false;
    double longer = 1;
    std::optional<PassSelection> passes = {};  ///< none: those of the run on show
    bool alone = true;                         ///< also each pass on its own
    std::optional<TrySettings> attempt = {};   ///< a try in the place of an optimisation
  };
  PassSelection passes_of_run() const;
  void run_again(const Again& again);
  void run_into_session(const Again& again);
  /// A try: answered by the session if it has one, else by a run.
  void try_out(const TrySettings& wanted);
  void start_try(const TrySettings& wanted);
  /// Likewise an optimisation with these passes.
  void search_passes(const views::PassChoice& choice);
  void update_what_if();
  /// Changed choices of a recording into a file that is asked for.
  void write_choices(const ReplayOptions& options);
  void ask_for_copy(const Again& again);
  void run_into_copy(const Again& again, const QString& copy);
  int64_t newest_result() const;  ///< 0: none
  void run_demo();
  // Models and their pages.
  struct Opened;
  static Opened find_opened(const QStringList& paths, bool takes_data);
  void take_found(const Opened& found);
  void show_model(const OpenedModel& model);
  ModelPage* make_page(const OpenedModel& model);
  /// Says on the page on show that the files of its model are not those that were read.
  void watch_model();
  void read_again(ModelPage* page);
  void replace_page(ModelPage* page, const OpenedModel& model);
  void show_entry(int index);
  void close_entry();
  void choose_model();
  void name_model();
  void save_session();
  void keep_session_at(const QString& copy, const QString& before);
  void start_run(ModelPage* page);
  void begin_run(ModelPage* page, RunRequest request, const QString& data, int64_t last_run);
  /// Opens the session of the run that goes on when its first batch is there.
  void follow_run();
  void show_followed(int64_t run);
  void end_following();
  void update_pages();
  ModelPage* model_page() const;  ///< of the entry on show; null: it is a session
  /// Traces of other systems into a new session beside the first of them, then opens it.
  void import_traces(const QStringList& traces);
  void take_import(const ImportResult& result);
  void export_picture();
  void export_table();
  /// The file is made and written on another thread.
  void write(const QString& file, const std::function<QByteArray()>& bytes);
  void save(const QString& name, const QString& filter, const QByteArray& bytes);
  void set_theme(const QString& theme);
  void set_font_size(double points);
  void remember(const QString& session);
  void show_about();
  void show_page(const QString& title, const QString& html);
  void show_contents();

  Background background_;
  Document document_;
  RunController runs_;
  Actions actions_;
  QHash<QString, views::View*> views_;
  QStackedWidget* center_;
  WelcomePage* welcome_;
  OpenList* open_list_ = nullptr;  ///< null while the constructor makes the actions
  QLabel *open_title_, *runs_title_;
  QListWidget *view_list_, *run_list_;
  QPlainTextEdit* log_;
  NoticeBar* notice_;
  SelectionBar* selection_bar_;
  QDockWidget *side_, *log_dock_, *what_if_dock_;
  WhatIfPages* what_if_ = nullptr;  ///< null while the constructor makes the others
  QLabel* progress_label_;
  QProgressBar* progress_;
  QToolButton* stop_;
  QStringList recent_;
  QString theme_ = "system", run_session_;
  bool side_wanted_ = true;
  bool remembers_ = false;
  std::function<bool(const std::string&)> writable_ = session_is_writable;
  std::function<void()> after_opening_;  ///< work that waits until the session is open
  int64_t wanted_run_ = 0;               ///< to be shown when the session has it; 0: none
  bool show_new_run_ = false;            ///< the run that is going on was asked for to be looked at
  /// The run of a page.
  struct Followed {
    QPointer<ModelPage> page;
    int64_t last_run = 0;  ///< the newest run that its session had before
    bool shown = false;
  };
  std::optional<Followed> followed_;
  QStringList opening_;      ///< paths that are being opened
  QString run_fault_;        ///< of the run that was followed, shown again when its session is there
  QStringList drop_faults_;  ///< of a drop whose session is being opened: shown when it is there
  QTimer follow_timer_, watch_timer_;
};

}  // namespace stormcell::studio
