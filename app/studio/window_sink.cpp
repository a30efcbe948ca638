#include "app/studio/window_sink.h"

#include <QCoreApplication>
#include <QMetaObject>

#include "app/studio/progress_text.h"
#include "core/summary/time_text.h"

namespace stormcell::studio {

WindowSink::WindowSink(QObject* to, Show show, std::chrono::milliseconds patience)
    : to_(to), show_(std::move(show)), next_(Clock::now() + patience) {}

void WindowSink::report(std::string_view stage, int64_t done, int64_t total) {
  const auto now = Clock::now();
  if (stage != stage_) stage_ = stage, stage_began_ = now;
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(50);
  const QString name = QString::fromUtf8(stage.data(), static_cast<qsizetype>(stage.size()));
  const QString text =
      progress_text(name, done, total, std::chrono::duration<double>(now - stage_began_).count(), remark_) + expected_;
  const int permille = total > 0 ? static_cast<int>(1000 * done / total) : -1;
  QMetaObject::invokeMethod(
      to_, [show = show_, text, permille] { show(text, permille); }, Qt::QueuedConnection);
}

void WindowSink::expect(double low, double likely, double high) {
  expected_ = "; " + QCoreApplication::translate("Progress", "%1 expected in all")
                         .arg(QString::fromStdString(expected_words(low, likely, high)));
}

void WindowSink::expect_overrun(double limit, double least) {
  expected_ = "; " + QCoreApplication::translate("Progress", "%1 needed, more than the time limit of %2")
                         .arg(QString::fromStdString(expected_words(least, least)),
                              QString::fromStdString(duration_words(limit)));
}

void WindowSink::remark(std::string_view text) {
  remark_ = QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace stormcell::studio
