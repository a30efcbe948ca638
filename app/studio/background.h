// Reads for views on other threads. For each key the latest request wins; what an older one still delivers is dropped.
#pragma once
#include <QHash>
#include <QObject>
#include <QThreadPool>
#include <functional>
#include <memory>

#include "views/kit/view.h"

namespace stormcell::studio {

class Background : public QObject {
  Q_OBJECT
 public:
  explicit Background(QObject* parent = nullptr);
  ~Background() override;  ///< asks everything to stop and waits for it
  using Failed = std::function<void(const QString&)>;
  void start(const void* key, views::View::Load load, Failed failed);
  void cancel(const void* key);
  bool idle() const { return jobs_.isEmpty(); }

 signals:
  void idle_changed(bool idle);

 private:
  struct Job {
    CancellationToken cancel;
  };
  void finish(const void* key, const std::shared_ptr<Job>& job);
  QHash<const void*, std::shared_ptr<Job>> jobs_;
  QThreadPool pool_;
};

}  // namespace stormcell::studio
