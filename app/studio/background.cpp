#include "app/studio/background.h"

#include <QMetaObject>
#include <exception>

#include "app/studio/fault_text.h"

namespace stormcell::studio {

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
    try {
      deliver(load(Progress{job->cancel, nullptr}));
    } catch (...) {
      deliver([failed, message = fault_text(std::current_exception())] { failed(message); });
    }
  });
}

void Background::cancel(const Key& key) {
  if (const auto job = jobs_.value(key)) {
    job->cancel.cancel();
    finish(key, job);
  }
}

void Background::finish(const Key& key, const std::shared_ptr<Running>& job) {
  if (jobs_.value(key) == job) jobs_.remove(key);
  if (idle()) emit idle_changed(true);
}

}  // namespace stormcell::studio
