// Hands the progress of a long call to the window's thread, at most 20 times a second.
#pragma once
#include <QObject>
#include <chrono>
#include <functional>
#include <string>

#include "core/base/progress.h"

namespace stormcell::studio {

class WindowSink : public ProgressSink {
 public:
  /// A line of text and how many of 1,000 parts are done, -1: not known.
  using Show = std::function<void(const QString& text, int permille)>;
  /// `show` is called on the thread of `to`, while that lives; first after `patience`.
  WindowSink(QObject* to, Show show, std::chrono::milliseconds patience = {});
  void report(std::string_view stage, int64_t done, int64_t total) override;
  void remark(std::string_view text) override;
  void expect(double low, double likely, double high) override;
  void expect_overrun(double limit, double least) override;

 private:
  using Clock = std::chrono::steady_clock;
  QObject* to_;
  Show show_;
  std::string stage_;
  QString remark_, expected_;
  Clock::time_point next_, stage_began_ = Clock::now();
};

}  // namespace stormcell::studio
