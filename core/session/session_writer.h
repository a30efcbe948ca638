// Writes sessions: one SQLite file, layout in docs/session-format.md.
#pragma once
#include <memory>
#include <string>

#include "core/profile/accumulator.h"
#include "core/session/session_types.h"

namespace stormcell {

struct SessionWriterState;  // of the implementation, shared with the writers of runs

/// Records one run into a session; the sink of a Recorder. Made by SessionWriter::begin_run(), must not outlive it.
/// Several runs may be recorded at a time, each with its own thread.
class RunWriter : public RecordSink {
 public:
  ~RunWriter() override;  ///< a run that was not finished is marked interrupted
  int64_t id() const;
  void batch(const BatchRecord& batch) override;
  void commit() override;
  /// Counts so far. Read it only when the run's Recorder has finished or is flushed.
  const ProfileAccumulator& profile() const;
  /// Writes everything pending, the summary (JSON of the verb, or "") and the status. Call it when the run's Recorder
  /// has finished.
  void finish(RunStatus status, const std::string& summary = {});

 private:
  friend class SessionWriter;
  struct State;
  RunWriter(std::shared_ptr<SessionWriterState> session, const RunStart& start);
  std::unique_ptr<State> state_;
};

/// An open session to append to. Any method throws Error: bad_input if the file is no session, has a newer version or
/// another model; failed if disk or permission fail. Existing content is never overwritten.
class SessionWriter {
 public:
  /// Creates the file, or appends to the session that is there.
  SessionWriter(const std::string& path, const ModelSummary& model);
  ~SessionWriter();  ///< close(), without its errors
  SessionWriter(const SessionWriter&) = delete;
  SessionWriter& operator=(const SessionWriter&) = delete;

  std::unique_ptr<RunWriter> begin_run(const RunStart& start);
  /// Adds a placement and commits it; returns its number.
  int64_t add_placement(const StoredPlacement& placement);
  /// Commits nothing from now on, so that all of it can be taken back: an import is there completely, as far as it was
  /// kept, or not at all. Meanwhile other writers of the file wait, and its readers see the state before.
  void hold();
  /// Commits everything held; later commits are as usual.
  void keep();
  /// Undoes everything held. Nothing can be written afterwards; a file that this writer made is removed when it is
  /// closed.
  void take_back();
  /// Leaves one plain file. A reader that holds it is waited for, 2 s at most; then the file stays as it is, with its
  /// -wal beside it, and the last reader converts it. Returns whether it is one plain file.
  bool close();
  const std::string& path() const;

 private:
  std::shared_ptr<SessionWriterState> state_;
};

}  // namespace stormcell
