#include "app/studio/document.h"

#include <QFileInfo>
#include <QUndoCommand>

#include "app/studio/opened_file.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/readings/named_run.h"
#include "core/readings/session_runs.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {

class SelectCommand : public QUndoCommand {
 public:
  SelectCommand(Document& document, views::Selection before, views::Selection after)
      : QUndoCommand(Document::tr("selection")),
        document_(document),
        before_(std::move(before)),
        after_(std::move(after)) {}
  void undo() override { document_.take_selection(before_); }
  void redo() override { document_.take_selection(after_); }
  int id() const override { return 1; }
  bool mergeWith(const QUndoCommand* next) override {
    // Dragging a range is one step back, not a hundred.
    const auto& after = static_cast<const SelectCommand*>(next)->after_;
    const auto only_range = [](const views::Selection& a, const views::Selection& b) {
      return views::difference({}, a, {}, b) == views::Part::range;
    };
    if (!only_range(before_, after_) || !only_range(after_, after)) return false;
    after_ = after;
    return true;
  }

 private:
  Document& document_;
  views::Selection before_, after_;
};

namespace {

NamedRun named_run(const QString& session) {
  return find_named_run(QFileInfo(session).absoluteFilePath().toStdString());
}

/// A session may be named with its run; what is no session says so when it is opened.
bool is_trace(const QString& named) { return QFileInfo(named).isFile() && opened_as(named, false) == OpenedAs::trace; }

/// The run of that number, or the last.
const RunLine& run_of(const SessionOverview& session, int64_t id) {
  const auto at =
      std::find_if(session.runs.begin(), session.runs.end(), [&](const RunLine& run) { return run.id == id; });
  return at == session.runs.end() ? session.runs.back() : *at;
}

}  // namespace

QString title_of(const RunLine& run) {
  QString title = QString("#%1 %2").arg(run.id).arg(QString::fromStdString(run.kind));
  if (says_decoding(run.phase, run.kind)) title += " decode";
  if (!run.name.empty()) title += " " + QString::fromStdString(run.name);
  return title;
}

Document::Document(Background& background, QObject* parent) : QObject(parent), background_(background) {
  expect_changes(false);
  connect(&poll_, &QTimer::timeout, this, [this] {
    if (!background_.does(Job::look_again) && !(busy_ && busy_())) poll();
  });
  connect(this, &Document::context_changed, this, &Document::read_choices);
}

void Document::expect_changes(bool expected) {
  constexpr int kWatching = 1000, kFollowing = 300;  // milliseconds
  poll_.setInterval(expected ? kFollowing : kWatching);
}

const RunLine* Document::run() const {
  if (!session_) return nullptr;
  for (const RunLine& run : session_->runs)
    if (run.id == context_.main.run) return &run;
  return nullptr;
}

views::Source Document::source_of(const SessionOverview& session, const RunLine& run,
                                  const std::string& revision) const {
  // A finished run does not change any more, whatever is appended to its file.
  return {session.file,
          run.id,
          QFileInfo(QString::fromStdString(session.file)).fileName() + " " + title_of(run),
          run.status == RunStatus::running ? revision : std::string(),
          run.settings,
          run.config,
          run.decisions,
          run.result != nullptr};
}

void Document::open(const QString& session, const std::optional<views::Selection>& selection) {
  background_.start(
      Job::open_session,
      [this, session, selection](const Progress&) -> views::View::Deliver {
        const NamedRun named = named_run(session);
        const std::string revision = session_revision(named.file);
        SessionOverview overview = open_session(named.file);
        return [this, overview = std::move(overview), revision, run = named.run, selection]() mutable {
          context_ = {};
          selection_ = selection.value_or(views::Selection());
          undo_.clear();
          take_session(std::move(overview), revision, run);
          emit opened();
          emit context_changed();
          emit selection_changed();
          poll_.start();
          look_over();
        };
      },
      [this](const QString& message) { emit failed(message); });
}

void Document::close() {
  background_.cancel(Job::open_session);
  background_.cancel(Job::look_over);
  poll_.stop();
  session_.reset();
  context_ = {};
  selection_ = {};
  undo_.clear();
  emit opened();
  emit context_changed();
  emit selection_changed();
}

// Views read only a part of the file each: damage elsewhere is reported here, once.
void Document::look_over() {
  background_.start(
      Job::look_over,
      [this, file = session_->file](const Progress& progress) -> views::View::Deliver {
        const std::optional<std::string> damage = damage_of_session(file, progress);
        return [this, file, damage] {
          if (session_ && session_->file == file)
            emit looked_over(QString::fromStdString(damage.value_or(std::string())));
        };
      },
      // The next reader reports why it cannot be read.
      [this](const QString&) { emit looked_over({}); });
}

void Document::take_session(SessionOverview session, const std::string& revision, int64_t run) {
  session_ = std::make_shared<SessionOverview>(std::move(session));
  revision_ = revision;
  context_.session = session_;
  if (session_->runs.empty()) return;
  const RunLine* chosen = nullptr;
  for (const RunLine& r : session_->runs) {
    if (r.id == run) chosen = &r;
    // Without a wish, the newest run that has any batch is chosen.
    if (run == 0 && (r.batches > 0 || !chosen)) chosen = &r;
  }
  if (chosen) context_.main = source_of(*session_, *chosen, revision);
}

void Document::show_run(int64_t id) {
  if (!session_ || context_.main.run == id) return;
  for (const RunLine& run : session_->runs)
    if (run.id == id) {
      context_.main = source_of(*session_, run, revision_);
      emit context_changed();
    }
}

void Document::compare_with(const QString& session) {
  if (session.isEmpty()) {
    background_.cancel(Job::open_other);
    context_.other = {};
    context_.recording.clear();
    emit context_changed();
    return;
  }
  background_.start(
      Job::open_other,
      [this, session](const Progress&) -> views::View::Deliver {
        if (is_trace(session))
          return [this, trace = QFileInfo(session).absoluteFilePath().toStdString()] {
            context_.other = {};
            context_.recording = trace;
            emit context_changed();
          };
        const NamedRun named = named_run(session);
        const SessionOverview overview = open_session(named.file);
        if (overview.runs.empty()) bad_input(named.file, "holds no run yet", "choose another session");
        const RunLine line = run_of(overview, named.run);
        return [this, overview, line] {
          context_.other = source_of(overview, line, {});
          context_.recording.clear();
          emit context_changed();
        };
      },
      [this](const QString& message) { emit failed(message); });
}

void Document::read_choices() {
  if (choices_of_ == context_.main) return;
  choices_of_ = context_.main;
  const auto take = [this](const SelectionChoices& choices) {
    choices_ = choices;
    emit choices_changed();
  };
  if (choices_of_.empty()) {
    background_.cancel(Job::read_choices);
    return take({});
  }
  background_.start(
      Job::read_choices,
      [take, source = choices_of_](const Progress&) -> views::View::Deliver {
        const SelectionChoices choices = read_selection_choices(source.file, source.run);
        return [take, choices] { take(choices); };
      },
      // The view that reads the same run reports its fault.
      [take](const QString&) { take({}); });
}

void Document::select(const views::Selection& selection) {
  if (selection == selection_) return;
  undo_.push(new SelectCommand(*this, selection_, selection));
}

void Document::take_selection(const views::Selection& selection) {
  selection_ = selection;
  emit selection_changed();
}

void Document::poll() {
  if (!session_) return;
  background_.start(
      Job::look_again,
      [this, file = session_->file, known = revision_](const Progress&) -> views::View::Deliver {
        const std::string revision = session_revision(file);
        if (revision.empty())
          throw Error(ErrorKind::failed, file, "the session is gone", "what was read of it stays on show");
        if (revision == known) return [] {};
        SessionOverview overview = open_session(file);
        return [this, overview = std::move(overview), revision]() mutable {
          if (!session_ || session_->file != overview.file) return;
          QString what;
          const SessionOverview before = *session_;
          if (overview.runs.size() > before.runs.size()) {
            what = tr("new: run %1").arg(title_of(overview.runs.back()));
          } else {
            for (size_t i = 0; i < overview.runs.size() && i < before.runs.size(); ++i) {
              if (overview.runs[i].status != before.runs[i].status)
                what = tr("run %1: %2")
                           .arg(title_of(overview.runs[i]), views::to_qstring(to_text(overview.runs[i].status)));
              else if (overview.runs[i].batches != before.runs[i].batches)
                what = tr("run %1: %2")
                           .arg(title_of(overview.runs[i]), views::counted_text(overview.runs[i].batches, "batch"));
            }
          }
          const views::Context shown = context_;
          take_session(std::move(overview), revision, context_.main.run);
          emit runs_changed(what);
          if (!(shown == context_)) emit context_changed();
        };
      },
      [this](const QString& message) {
        poll_.stop();
        emit failed(message);
      });
}

}  // namespace stormcell::studio
