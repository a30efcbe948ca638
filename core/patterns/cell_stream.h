// Reads a recording on a thread of its own and hands its real cells on in blocks, so that several recordings can be read
// in step. Holds a few thousand cells.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/progress.h"
#include "core/difference/recording_source.h"

namespace stormcell {

/// Real cells of one stack, in the order of the recording.
struct CellBlock {
  int32_t stack = 0;
  std::vector<int64_t> request;
  std::vector<int32_t> position, token;  ///< -1: the token is not known
  std::vector<uint8_t> decode;
  /// By router of the recording: [cells, fan_out], the heaviest choice first where weights are recorded. Empty: the router is of another stack, or got none of the cells. A
  /// cell that did not come has kNoBranch alone.
  std::vector<std::vector<int32_t>> choice;
  int64_t cells() const { return std::ssize(request); }
};

class CellStream {
 public:
  /// `cancel`: ends the reading, too.
  CellStream(std::unique_ptr<RecordingSource> source, const CancellationToken& cancel);
  ~CellStream();
  CellStream(const CellStream&) = delete;
  CellStream& operator=(const CellStream&) = delete;

  const RecordingSource& source() const { return *source_; }
  /// Waits for it. Throws the error of a recording that cannot be read.
  const TraceHeader& header();
  /// False: the recording has ended. Throws its error.
  bool next(CellBlock& block);

 private:
  class Sink;
  struct Stopped {};
  void read();
  void put(CellBlock block);
  void rethrow() const;

  std::unique_ptr<RecordingSource> source_;
  CancellationToken cancel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<TraceHeader> header_;
  std::deque<CellBlock> blocks_;
  std::exception_ptr error_;
  bool ended_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace stormcell
