// A recording of routing, read where it is: a run of a session, or a trace of any known format. Nothing is written.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/traces/trace.h"

namespace stormcell {

/// How much of a recording a pass over it needs. Reading cells alone may still hand on choices.
enum class ReadParts : uint8_t { cells, choices };

class RecordingSource {
 public:
  virtual ~RecordingSource() = default;
  /// "S.storm#3" with the number of the run, or the path of the trace.
  virtual const std::string& name() const = 0;
  /// For exported files: "device AMD EPYC, 8 threads; date 2026-01-31T10:00:00Z; session 5fec; run #3 (profile)", or
  /// "trace PATH".
  virtual std::string origin() const = 0;
  /// Passes the recording on, from its begin; may be called again, and hands on the same each time. A session has the
  /// same header as a trace.
  virtual void read(ReadParts parts, TraceSink& sink, const Progress& progress) = 0;
  /// The option that records the fact (of kTraceFacts); empty: nothing is known.
  virtual std::string how_to_record(std::string_view fact) const = 0;
  /// Texts of tokens as the vocabulary has them; tokens whose text is not recorded are left out. Call it after a read.
  virtual std::map<int32_t, std::string> pieces(std::span<const int32_t> tokens) const = 0;
  /// Labels of requests by their numbers. A request without one is left out; most traces have none.
  virtual std::map<int64_t, std::string> labels() const { return {}; }
  /// Those of the last read.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// "S.storm", "S.storm#3", "S.storm#name" (without a run: the newest with choices) or a trace, which may be packed with
/// gzip. Throws Error(bad_input), also if the recording has counts but no choices of single cells.
std::unique_ptr<RecordingSource> open_recording(const std::string& named, const Progress& progress);

}  // namespace stormcell
