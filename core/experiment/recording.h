// One run of an experiment written into a session, or nowhere.
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
  /// An empty path records nothing. `config` is a stormcell.config/1.
  SessionRun(const std::string& path, const Experiment::State& state, const ReadyPlan& plan, const std::string& kind, bool decisions,
             const std::string& config = "{}");
  ~SessionRun();
  bool open() const { return writer_ != nullptr; }
  /// Takes what plan.result holds of `batch`.
  void add(const Batch& batch);
  /// Takes what plan.result holds of decoding `batch`: a record of the input's pass, then one a turn.
  void add_decoded(const Batch& batch, const Bindings& bindings, const std::vector<DecodedTurn>& turns);
  /// The cost of recording without a second copy in the session: fills a record and throws it away.
  void measure_recording(const Batch& batch);
  /// Writes the summary, closes the session; returns the run's number, 0 without a session.
  int64_t finish(const std::string& summary);
  int64_t decisions() const { return decisions_made_; }
  int64_t windows() const;

 private:
  const Experiment::State& state_;
  const ReadyPlan& plan_;
  RecordOptions options_;
  int64_t decisions_made_ = 0, records_ = 0;
  std::unique_ptr<SessionWriter> session_;
  std::unique_ptr<RunWriter> writer_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<RecordSink> nowhere_;  // outlives the recorder that writes to it
  std::unique_ptr<Recorder> discarding_;
};

}  // namespace stormcell
