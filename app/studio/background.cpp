#include "app/studio/background.h"

#include <QMetaObject>
#include <exception>

#include "app/studio/fault_text.h"
#include "app/studio/window_sink.h"

namespace stormcell::studio {
namespace {
/// Shorter readings need no sign that they go on.
constexpr std::chrono::milliseconds kMoment{400};
}  // namespace

Background::Background(QObject* parent) : QObject(parent) { pool_.setMaxThreadCount(2); }

Background::~Background() {
  for (const auto& job : std::as_const(jobs_)) job->cancel.cancel();
  pool_.waitForDone();
}

void Background::start(const Key& key, views::View::Load load, Failed failed) {
  cancel(key);
  const auto job = std::make_shared<Running>();
  const bool was_idle = idle();
  jobs_.insert(key, job);
  if (was_idle) emit idle_changed(false);
  pool_.start([this, key, job, load = std::move(load), failed = std::move(failed)] {
    const auto deliver = [&](std::function<void()> result) {
      QMetaObject::invokeMethod(
          this,
          [this, key, job, result = std::move(result)] {
            if (jobs_.value(key) != job) return;  // another request has taken its place
            finish(key, job);
            result();
          },
          Qt::QueuedConnection);
    };
    const auto show = [this, key, job](const QString& text, int permille) {
      if (key.second && jobs_.value(key) == job) emit progressed(key.second, text, permille);
    };
    WindowSink sink(this, show, kMoment);
    try {
      deliver(load(Progress{job->cancel, &sink}));
    } catch (...) {
      const QString message = job->cancel.cancelled() ? tr("Stopped.") : fault_text(std::current_exception());
      deliver([failed, message] { failed(message); });
    }
  });
}

void Background::cancel(const Key& key) {
  if (const auto job = jobs_.value(key)) {
    job->cancel.cancel();
    finish(key, job);
  }
}

void Background::stop(const views::View* view) {
  if (const auto job = jobs_.value({Job::read_view, view})) job->cancel.cancel();
}

void Background::finish(const Key& key, const std::shared_ptr<Running>& job) {
  if (jobs_.value(key) == job) jobs_.remove(key);
  if (key.second) emit read(key.second);
  if (idle()) emit idle_changed(true);
}

}  // namespace stormcell::studio
