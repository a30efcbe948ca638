#include "app/studio/run_controller.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QMetaObject>
#include <exception>

#include "app/studio/fault_text.h"
#include "app/studio/window_sink.h"
#include "core/base/clock.h"

namespace stormcell::studio {
namespace {

/// The command-line program, which measures in fresh processes; empty: it is not installed beside the window.
QString program_beside_this() {
  const QFileInfo program(QCoreApplication::applicationDirPath() + "/stormcell");
  return program.isExecutable() && program.isFile() ? program.absoluteFilePath() : QString();
}

/// Short, as what-if measures: a try is one of many.
RunOptions options_of_try(const TrySettings& settings, const std::string& session) {
  RunOptions options;
  options.session = session;
  options.measure_seconds = 1;
  options.measuring_program = program_beside_this().toStdString();
  options.intervention = settings.intervention;
  options.exits = settings.exits;
  options.config = config_of_try(settings), options.config_name = "the passes of the try";
  return options;
}

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
  if (importing_) return emit failed(tr("an import is going on: stop it, or wait for it"));
  if (working_) return emit failed(tr("a view is at work: stop it, or wait for it"));
  if (running_) {
    next_ = request;
    cancel_.cancel();
    return;
  }
  begin(work_of(request));
}

void RunController::start_import(const QStringList& traces) {
  if (running_) return emit failed(tr("a run or an import is going on: stop it, or wait for it"));
  importing_ = true;
  begin([this, traces](const Progress& progress) -> Deliver {
    const ImportResult result = import_into_new_session(traces, progress);
    return [this, result] { emit imported(result); };
  });
}

void RunController::start_work(const Work& work) {
  if (running_) return emit failed(tr("a run, an import or a search is going on: stop it, or wait for it"));
  working_ = true;
  begin(work);
}

// Until end(), only the work's thread uses the model that is kept.
Experiment& RunController::open_model(const ExperimentOptions& options, const Progress& progress) {
  const std::string revision = files_revision(options);
  if (!kept_ || !(kept_->options() == options) || revision != kept_revision_) {
    kept_.reset();
    kept_ = Experiment::open(options, progress);
    kept_revision_ = revision;
    ++opened_;
  }
  return *kept_;
}

RunController::Work RunController::work_of(const RunRequest& request) {
  if (request.attempt) return work_of(*request.attempt);
  return [this, request](const Progress& progress) -> Deliver {
    const double begun = seconds_now();
    open_model(request.experiment, progress);
    OptimizeOptions optimize = request.optimize;
    optimize.begun = begun;
    if (optimize.measuring_program.empty()) optimize.measuring_program = program_beside_this().toStdString();
    auto figures = kept_->optimize(optimize, progress);
    return deliver(figures);
  };
}

RunController::Deliver RunController::deliver(const std::shared_ptr<const RunSummaryFigures>& figures) {
  const bool changed = files_revision(kept_->options()) != kept_revision_;
  return [this, figures, changed] {
    emit finished(figures);
    if (changed) emit files_changed();
  };
}

void RunController::run_base(const TryRequest& request, const Progress& progress) {
  const std::string revision = files_revision(request.base.experiment);
  if (base_ && base_->settings == request.base && base_->session == request.session && base_->revision == revision)
    return;
  base_.reset();
  Base base{request.base, request.session, revision, nullptr, nullptr};
  RunOptions options = options_of_try(request.base, request.session);
  options.answered = [&](const std::shared_ptr<const RunAnswers>& answers) { base.answers = answers; };
  base.figures = open_model(request.base.experiment, progress).run(options, progress);
  base_ = std::move(base);
}

RunController::Work RunController::work_of(const TryRequest& request) {
  return [this, request](const Progress& progress) -> Deliver {
    RunOptions options = options_of_try(request.changed, request.session);
    if (request.is_comparable) {
      run_base(request, progress);
      if (request.changed == request.base) return deliver(base_->figures);
      options.beside = base_->answers, options.beside_run = base_->figures->session_run;
    }
    return deliver(open_model(request.changed.experiment, progress).run(options, progress));
  };
}

void RunController::release_model() {
  if (running_ || !kept_) return;
  if (thread_.joinable()) thread_.join();  // has ended
  // Giving back gigabytes takes longer than a frame.
  thread_ = std::thread([kept = std::move(kept_)]() mutable { kept.reset(); });
}

void RunController::begin(const Work& work) {
  if (thread_.joinable()) thread_.join();  // has ended: end() was delivered
  cancel_ = CancellationToken();
  running_ = true;
  emit running_changed(true);
  thread_ = std::thread([this, work, token = cancel_] {
    WindowSink sink(this, [this](const QString& text, int permille) { emit progressed(text, permille); });
    const Progress progress{token, &sink};
    const auto deliver = [this](auto result) {
      QMetaObject::invokeMethod(
          this, [this, result = std::move(result)] { result(), end(); }, Qt::QueuedConnection);
    };
    try {
      deliver(work(progress));
    } catch (...) {
      if (token.cancelled())
        deliver([this] {
          if (working_)
            emit work_stopped();
          else if (!next_)
            emit cancelled();  // else another took its place
        });
      else
        deliver([this, message = fault_text(std::current_exception())] { emit failed(message); });
    }
  });
}

void RunController::end() {
  running_ = importing_ = working_ = false;
  if (next_) {
    const RunRequest request = *next_;
    next_.reset();
    begin(work_of(request));
  } else {
    emit running_changed(false);
  }
}

}  // namespace stormcell::studio
