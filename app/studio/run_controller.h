// Runs experiments off the window's thread. The latest request wins: a running one is cancelled, the newest waits for it to end.
#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <thread>

#include "core/experiment/experiment.h"

namespace stormcell::studio {

struct RunRequest {
  ExperimentOptions experiment;
  OptimizeOptions optimize;
};

class RunController : public QObject {
  Q_OBJECT
 public:
  explicit RunController(QObject* parent = nullptr);
  ~RunController() override;  ///< cancels and waits
  bool running() const { return running_; }
  void start(const RunRequest& request);
  void cancel();

 signals:
  void running_changed(bool running);
  /// permille -1: unknown; seconds_left < 0: unknown.
  void progressed(const QString& stage, int permille, double seconds_left);
  void finished(std::shared_ptr<const stormcell::RunSummaryFigures> figures);
  void failed(const QString& message);
  void cancelled();

 private:
  void begin(const RunRequest& request);
  void end();

  std::thread thread_;
  std::shared_ptr<Experiment> kept_;  ///< the last one, open: another choice of passes need not read the model again
  CancellationToken cancel_;
  std::optional<RunRequest> next_;
  bool running_ = false;
};

}  // namespace stormcell::studio
