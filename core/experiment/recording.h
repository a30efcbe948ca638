// One run of an experiment: counted, and written into a session where one is asked for.
#pragma once
#include <memory>
#include <string>

#include "core/experiment/record_plan.h"
#include "core/experiment/state.h"
#include "core/profile/recorder.h"
#include "core/session/session_writer.h"

namespace stormcell {

class SessionRun {
 public:
  /// An empty path: counted alone. `config` is a stormcell.config/1, `settings` those of the run as JSON; empty: the experiment's.
  SessionRun(const std::string& path, const Experiment::State& state, const ReadyPlan& plan, const std::string& kind, bool decisions,
             const std::string& config = "{}", const std::string& settings = {});
  ~SessionRun();
  /// There is a session.
  bool open() const { return writer_ != nullptr; }
  /// Takes what plan.result holds of `batch`, recorded: one record, and of decoding one a turn behind it; `part`: BatchPart bits.
  void add(const Batch& batch, uint8_t part = kNoPart);
  /// Records what plan.result holds of `batch` as add() does, into a session of its own in the folder for temporary files, which nobody
  /// sees and which goes away with this object: so recording can be measured any number of times.
  void measure_recording(const Batch& batch);
  /// Returns when all that is measured is written. False where it could not be, and then nothing was measured.
  bool finish_measured();
  /// Milliseconds a measured batch took to record: on this thread, and of the processor on the one that writes.
  double measured_work() const;
  /// What was counted so far, with or without a session; returns when that is written too. Not after finish().
  const ProfileAccumulator& profile();
  /// Writes the summary, closes the session; returns the run's number, 0 without a session.
  int64_t finish(const std::string& summary);
  int64_t decisions() const { return decisions_made_; }
  int64_t windows() const;

 private:
  /// The records of plan.result, one after another: `begin` gives each, `submit` takes it filled.
  template <class Begin, class Submit>
  void records_of(const Batch& batch, RecordOptions options, Begin&& begin, Submit&& submit);
  BatchRecord& begin_record();
  void submit();

  const Experiment::State& state_;
  const ReadyPlan& plan_;
  RunStart start_;
  RecordOptions options_;
  int64_t decisions_made_ = 0, records_ = 0;
  std::unique_ptr<SessionWriter> session_;
  std::unique_ptr<RunWriter> writer_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<ProfileAccumulator> counted_;  // without a session, whose writer counts
  BatchRecord record_;                           // of this batch, without a session
  struct Measured;
  std::unique_ptr<Measured> measured_;
  bool unmeasured_ = false;
};

}  // namespace stormcell
