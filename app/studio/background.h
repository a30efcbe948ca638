// Work that the window gives to other threads. For each job the latest request wins; results of older ones are dropped.
#pragma once
#include <QHash>
#include <QObject>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <utility>

#include "views/frame/view.h"

namespace stormcell::studio {

enum class Job : uint8_t {
  read_view,     ///< content of one view: one such job a view
  open_session,  ///< of a document
  open_other,    ///< the session to compare with
  read_choices,  ///< entries that can be selected
  look_again,    ///< checks if the session's file has grown
  look_over,     ///< checks if it is damaged
  open_path,     ///< opens any path, or the sample
  write_file,
  run_again,
  show_contents,
  show_about,
  check_cell,  ///< of a picture's selection
  prepare_run,
  follow_run,
  save_session,
  watch_model,  ///< whether its files have changed
  read_again,   ///< a model whose files have
};

inline size_t qHash(Job job, size_t seed = 0) { return ::qHash(static_cast<int>(job), seed); }

class Background : public QObject {
  Q_OBJECT
 public:
  explicit Background(QObject* parent = nullptr);
  ~Background() override;  ///< asks everything to stop and waits for it
  using Failed = std::function<void(const QString&)>;
  void start(Job job, views::View::Load load, Failed failed) {
    start({job, nullptr}, std::move(load), std::move(failed));
  }
  void start(const views::View* view, views::View::Load load, Failed failed) {
    start({Job::read_view, view}, std::move(load), std::move(failed));
  }
  void cancel(Job job) { cancel({job, nullptr}); }
  /// True while something is read for the view.
  bool reads(const views::View* view) const { return jobs_.contains({Job::read_view, view}); }
  bool does(Job job) const { return jobs_.contains({job, nullptr}); }
  /// Stops the view's reading: it fails and says that it was stopped.
  void stop(const views::View* view);
  bool idle() const { return jobs_.isEmpty(); }

 signals:
  void idle_changed(bool idle);
  /// Progress of a reading that takes more than a moment; permille -1: unknown.
  void progressed(const stormcell::views::View* view, const QString& text, int permille);
  /// A reading ended, with or without a result.
  void read(const stormcell::views::View* view);

 private:
  using Key = std::pair<Job, const views::View*>;
  struct Running {
    CancellationToken cancel;
  };
  void start(const Key& key, views::View::Load load, Failed failed);
  void cancel(const Key& key);
  void finish(const Key& key, const std::shared_ptr<Running>& job);
  QHash<Key, std::shared_ptr<Running>> jobs_;
  QThreadPool pool_;
};

}  // namespace stormcell::studio
