#include "app/studio/run_controller.h"

#include <QMetaObject>
#include <chrono>

namespace stormcell::studio {
namespace {

// Hands progress to the window's thread, at most 20 times a second.
class WindowSink : public ProgressSink {
 public:
  explicit WindowSink(RunController* to) : to_(to) {}
  void report(std::string_view stage, int64_t done, int64_t total) override {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    const QString text = QString::fromUtf8(stage.data(), static_cast<qsizetype>(stage.size()));
    const int permille = total > 0 ? static_cast<int>(1000 * done / total) : -1;
    QMetaObject::invokeMethod(
        to_, [to = to_, text, permille] { emit to->progressed(text, permille); }, Qt::QueuedConnection);
  }

 private:
  RunController* to_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace

RunController::~RunController() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

void RunController::cancel() { cancel_.cancel(); }

void RunController::start(const ExperimentOptions& options, const QString& session) {
  cancel();
  if (thread_.joinable()) thread_.join();
  cancel_ = CancellationToken();
  running_ = true;
  thread_ = std::thread([this, options, session = session.toStdString(), token = cancel_] {
    WindowSink sink(this);
    const Progress progress{token, &sink};
    try {
      const auto experiment = Experiment::open(options, progress);
      OptimizeOptions optimize;
      optimize.session = session;
      auto figures = experiment->optimize(optimize, progress);
      QMetaObject::invokeMethod(
          this, [this, figures] { running_ = false, emit finished(figures); }, Qt::QueuedConnection);
    } catch (const std::exception& e) {
      const QString message = QString::fromUtf8(e.what());
      QMetaObject::invokeMethod(
          this, [this, message] { running_ = false, emit failed(message); }, Qt::QueuedConnection);
    }
  });
}

}  // namespace stormcell::studio
