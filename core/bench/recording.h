// One run of an experiment: counted, and written into a session where one is asked for.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/base/progress.h"
#include "core/base/run_kind.h"
#include "core/bench/record_plan.h"
#include "core/bench/state.h"
#include "core/profile/recorder.h"
#include "core/session/session_writer.h"

namespace stormcell {

/// Facts about a run that a session holds before anything is recorded.
struct RunAbout {
  std::string session = {};     ///< file; empty: the run is counted alone
  RunKind kind = RunKind::run;  ///< the verb that leaves it
  bool decisions = true;        ///< each decision is stored, not only their sums
  /// settings of the run as JSON: known from the beginning, so that an interrupted run can be repeated
  std::string settings = "{}";
  std::string config = "{}";  ///< a stormcell.config/1
};

class SessionRun {
 public:
  /// `cancel`: the token of the call that runs the plan. If it ends the run, the session says that the run was
  /// interrupted, and not that it failed.
  SessionRun(const ExperimentState& state, const ReadyPlan& plan, const RunAbout& about, CancellationToken cancel);
  ~SessionRun();
  SessionRun(const SessionRun&) = delete;
  SessionRun& operator=(const SessionRun&) = delete;

  /// Whether there is a session.
  bool open() const { return writer_ != nullptr; }
  /// Records what plan.result holds of `batch`: one record, and for decoding one more for each turn; `part`: BatchPart
  /// bits.
  void add(const Batch& batch, uint8_t part = kNoPart);
  /// The profile counted so far, with or without a session; waits until the session has it, too. Not after finish().
  const ProfileAccumulator& profile();
  /// Writes the summary, closes the session; returns the run's number, 0 without a session.
  int64_t finish(const std::string& summary);
  int64_t decisions() const { return decisions_made_; }
  int64_t windows() const;

 private:
  const ExperimentState& state_;
  const ReadyPlan& plan_;
  const CancellationToken cancel_;
  RecordOptions options_;                 // options of what is written; what is counted alone needs none
  std::optional<KeptPictures> pictures_;  // the pictures that the writer keeps
  int64_t decisions_made_ = 0, records_ = 0;
  std::unique_ptr<SessionWriter> session_;
  std::unique_ptr<RunWriter> writer_;
  std::unique_ptr<ProfileAccumulator> counted_;  // without a session, whose writer counts
  std::unique_ptr<Recorder> recorder_;           // into one of the two
};

/// Records a plan's executions into a session of its own in the folder for temporary files, which goes away with this
/// object: so recording can be measured any number of times. If that folder is not writable, the cost is not stated and
/// the run goes on.
class RecordingMeasure {
 public:
  RecordingMeasure(const ExperimentState& state, const ReadyPlan& plan, const RunAbout& about);
  ~RecordingMeasure();
  RecordingMeasure(const RecordingMeasure&) = delete;
  RecordingMeasure& operator=(const RecordingMeasure&) = delete;

  /// Adds as SessionRun::add() does.
  void add(const Batch& batch);
  /// Returns when all is written. False where it could not be, and then nothing was measured.
  bool finish();
  /// Milliseconds a batch took to record: on this thread, and of the processor on the one that writes.
  double work() const;

 private:
  struct Session;
  const ExperimentState& state_;
  const ReadyPlan& plan_;
  const RunAbout about_;
  std::unique_ptr<Session> session_;  // made by the first batch
  bool failed_ = false;
};

}  // namespace stormcell
