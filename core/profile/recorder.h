// Takes batch records from the thread that runs a plan and hands them to a sink on a thread of its own.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/profile/record.h"

namespace stormcell {

struct RecorderOptions {
  int32_t records = 64;             ///< most records in flight; at least 2 are allowed whatever their size
  size_t bytes = size_t{64} << 20;  ///< most memory of records in flight
  double long_ms = 20;              ///< a batch that took as long is committed at once
  double group_ms = 40;  ///< shorter ones are committed together, at most so long after the first of them: this is what
                         ///< a kill can cost
};

struct RecorderCounts {
  int64_t batches = 0;  ///< submitted
  int64_t waits = 0;    ///< begin_batch() found no free record
  double waited_ms = 0;
  double produce_ms = 0;  ///< between begin_batch() and submit(): what recording costs the run
  double write_ms = 0;    ///< CPU time of the writer thread
};

/// A bounded pool of records: begin_batch() -> fill -> submit(). The sink's first error is kept; from then on batches
/// are discarded and begin_batch(), flush() and finish() throw it. Records committed before stay.
class Recorder {
 public:
  explicit Recorder(std::vector<RecordSink*> sinks, RecorderOptions options = {});
  /// Writes the submitted records; swallows errors. Call finish() to see them.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// A cleared record; waits while the sink is behind.
  BatchRecord& begin_batch();
  /// Hands the record of begin_batch() over.
  void submit();
  /// Returns when every submitted batch is committed.
  void flush();
  /// flush(), then ends the thread.
  void finish();
  RecorderCounts counts() const;

 private:
  void loop();
  void stop();
  bool may_take() const;
  void rethrow() const;

  std::vector<RecordSink*> sinks_;
  RecorderOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable work_, done_;
  std::vector<std::unique_ptr<BatchRecord>> free_, queue_, writing_;
  std::unique_ptr<BatchRecord> current_;
  size_t bytes_ = 0;
  int32_t in_flight_ = 0;
  int64_t begun_ns_ = 0;
  bool hurry_ = false, stop_ = false;
  std::exception_ptr error_;
  RecorderCounts counts_;
  std::thread thread_;
};

}  // namespace stormcell
