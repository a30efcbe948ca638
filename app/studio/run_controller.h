// Runs an experiment off the window's thread; the latest request wins.
#pragma once
#include <QObject>
#include <QString>
#include <memory>
#include <thread>

#include "core/experiment/experiment.h"

namespace stormcell::studio {

class RunController : public QObject {
  Q_OBJECT
 public:
  explicit RunController(QObject* parent = nullptr) : QObject(parent) {}
  ~RunController() override;
  bool running() const { return running_; }
  /// Optimises what `options` says again and appends to `session`.
  void start(const ExperimentOptions& options, const QString& session);
  void cancel();

 signals:
  void progressed(const QString& stage, int permille);  ///< permille -1: unknown
  void finished(std::shared_ptr<const stormcell::RunSummaryFigures> figures);
  void failed(const QString& message);

 private:
  std::thread thread_;
  CancellationToken cancel_;
  bool running_ = false;
};

}  // namespace stormcell::studio
