// Long work off the window's thread, one piece at a time: runs of experiments, and imports. Of runs the latest request
// wins: a running one is cancelled, the newest waits for it to end.
#pragma once
#include <QObject>
#include <QString>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "app/studio/trace_import.h"
#include "app/studio/tries.h"
#include "core/experiment/experiment.h"

namespace stormcell::studio {

struct RunRequest {
  ExperimentOptions experiment;
  OptimizeOptions optimize;
  std::optional<TryRequest> attempt = {};  ///< in the place of the others
};

class RunController : public QObject {
  Q_OBJECT
 public:
  explicit RunController(QObject* parent = nullptr);
  ~RunController() override;  ///< cancels and waits
  bool running() const { return running_; }
  bool importing() const { return importing_; }
  /// Fails while an import or a view's work is going on.
  void start(const RunRequest& request);
  /// Fails while anything is going on.
  void start_import(const QStringList& traces);
  /// Work of a view, which may be stopped. Fails while anything is going on.
  void start_work(const std::function<std::function<void()>(const Progress&)>& work);
  void cancel();
  /// Gives the memory of the model back that a next run of it could use.
  void release_model();
  /// Number of times that a model was opened, for tests.
  int opened() const { return opened_; }
  bool keeps_model() const { return !running_ && kept_ != nullptr; }

 signals:
  void running_changed(bool running);
  /// permille -1: unknown.
  void progressed(const QString& text, int permille);
  void finished(std::shared_ptr<const stormcell::RunSummaryFigures> figures);
  void imported(const stormcell::studio::ImportResult& result);
  void failed(const QString& message);
  void cancelled();
  void work_stopped();
  /// Behind finished(): what the run read is not what lies there now.
  void files_changed();

 private:
  using Deliver = std::function<void()>;
  using Work = std::function<Deliver(const Progress&)>;
  void begin(const Work& work);
  void end();
  Work work_of(const RunRequest& request);
  Work work_of(const TryRequest& request);
  Experiment& open_model(const ExperimentOptions& options, const Progress& progress);
  /// Answers with the figures of the open model's last run.
  Deliver deliver(const std::shared_ptr<const RunSummaryFigures>& figures);
  /// Runs what tries are compared with, unless its answers are kept.
  void run_base(const TryRequest& request, const Progress& progress);

  std::thread thread_;
  std::shared_ptr<Experiment> kept_;  ///< the last one, open: another choice of passes need not read the model again
  std::string kept_revision_;         ///< of its files when it was opened
  /// A run whose answers are kept, so that tries are compared with it.
  struct Base {
    TrySettings settings;
    std::string session, revision;  ///< revision: of its model's and data's files
    std::shared_ptr<const RunSummaryFigures> figures;
    std::shared_ptr<const RunAnswers> answers;
  };
  std::optional<Base> base_;
  CancellationToken cancel_;
  std::optional<RunRequest> next_;
  bool running_ = false, importing_ = false, working_ = false;
  int opened_ = 0;
};

}  // namespace stormcell::studio
