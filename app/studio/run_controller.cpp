#include "app/studio/run_controller.h"

#include <QMetaObject>
#include <chrono>
#include <exception>

namespace stormcell::studio {
namespace {

using Clock = std::chrono::steady_clock;

/// Hands progress to the window's thread, at most 20 times a second.
class WindowSink : public ProgressSink {
 public:
  explicit WindowSink(RunController* to) : to_(to) {}
  void report(std::string_view stage, int64_t done, int64_t total) override {
    const auto now = Clock::now();
    if (stage != stage_) stage_ = stage, stage_began_ = now;
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    const QString text = QString::fromUtf8(stage.data(), static_cast<qsizetype>(stage.size()));
    const int permille = total > 0 ? static_cast<int>(1000 * done / total) : -1;
    const double spent = std::chrono::duration<double>(now - stage_began_).count();
    const double left = total > 0 && done > 0 && spent > 0.3 ? spent * static_cast<double>(total - done) / static_cast<double>(done) : -1;
    QMetaObject::invokeMethod(
        to_, [to = to_, text, permille, left] { emit to->progressed(text, permille, left); }, Qt::QueuedConnection);
  }

 private:
  RunController* to_;
  std::string stage_;
  Clock::time_point last_, stage_began_ = Clock::now();
};

}  // namespace

RunController::RunController(QObject* parent) : QObject(parent) {}

RunController::~RunController() {
  next_.reset();
  cancel_.cancel();
  if (thread_.joinable()) thread_.join();
}

void RunController::cancel() {
  next_.reset();
  cancel_.cancel();
}

void RunController::start(const RunRequest& request) {
  if (running_) {
    next_ = request;
    cancel_.cancel();
    return;
  }
  begin(request);
}

void RunController::begin(const RunRequest& request) {
  if (thread_.joinable()) thread_.join();  // has ended: end() was delivered
  cancel_ = CancellationToken();
  running_ = true;
  emit running_changed(true);
  thread_ = std::thread([this, request, token = cancel_] {
    WindowSink sink(this);
    const Progress progress{token, &sink};
    const auto deliver = [this](auto result) {
      QMetaObject::invokeMethod(
          this, [this, result = std::move(result)] { result(), end(); }, Qt::QueuedConnection);
    };
    try {
      // Only this thread touches it until end().
      if (!kept_ || !(kept_->options() == request.experiment)) {
        kept_.reset();
        kept_ = Experiment::open(request.experiment, progress);
      }
      const std::shared_ptr<Experiment> experiment = kept_;
      auto figures = experiment->optimize(request.optimize, progress);
      deliver([this, figures] { emit finished(figures); });
    } catch (const Error& e) {
      if (token.cancelled())
        deliver([this] { emit cancelled(); });
      else
        deliver([this, message = QString::fromUtf8(e.what())] { emit failed(message); });
    } catch (const std::bad_alloc&) {
      deliver([this] { emit failed(tr("The run needs more memory than this machine has; try fewer or smaller batches")); });
    } catch (const std::exception& e) {
      deliver([this, message = QString::fromUtf8(e.what())] { emit failed(message); });
    }
  });
}

void RunController::end() {
  running_ = false;
  if (next_) {
    const RunRequest request = *next_;
    next_.reset();
    begin(request);
  } else {
    emit running_changed(false);
  }
}

}  // namespace stormcell::studio
