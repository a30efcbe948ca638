// Cancellation and progress: every long call takes both and polls at least every 50 ms.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/error.h"

namespace stormcell {

/// A flag shared between who asks a long call to stop and the call itself. Copies share the flag. Async-signal-safe to
/// raise.
class CancellationToken {
 public:
  CancellationToken() : kind_(std::make_shared<std::atomic<int>>(0)) {}
  void cancel(ErrorKind kind = ErrorKind::interrupted) const {
    kind_->store(static_cast<int>(kind) + 1, std::memory_order_relaxed);
  }
  bool cancelled() const { return kind_->load(std::memory_order_relaxed) != 0; }
  /// Throws an Error of the kind given to cancel().
  void check() const {
    if (const int kind = kind_->load(std::memory_order_relaxed))
      throw Error(static_cast<ErrorKind>(kind - 1), "", "interrupted");
  }

 private:
  std::shared_ptr<std::atomic<int>> kind_;
};

/// Receives the progress of a long call; called from the thread that runs it.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  /// `done` of `total` units of `stage`; total 0 when unknown.
  virtual void report(std::string_view stage, int64_t done, int64_t total) = 0;
  /// A short remark about the work, shown with the next report and kept until the next remark.
  virtual void remark(std::string_view) {}
  /// Seconds that the whole call takes at least, probably and at most, once that is known.
  virtual void expect(double /*low*/, double /*likely*/, double /*high*/) {}
  /// Seconds of a time limit, and of the work that is never left out, if that is more.
  virtual void expect_overrun(double /*limit*/, double /*least*/) {}
};

/// Arguments of a long call: a token to poll and a sink that may be null.
struct Progress {
  CancellationToken cancel;
  ProgressSink* sink = nullptr;
  void report(std::string_view stage, int64_t done, int64_t total) const {
    cancel.check();
    if (sink) sink->report(stage, done, total);
  }
};

}  // namespace stormcell
