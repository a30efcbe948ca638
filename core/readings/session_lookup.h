// How a run of a session is chosen and opened: what every reading begins with. Not for views and commands, which see no
// SessionReader.
#pragma once
#include <algorithm>
#include <optional>

#include "core/readings/session_view.h"
#include "core/session/session_reader.h"

namespace stormcell {

/// A run as every reading begins with it.
struct OpenedRun {
  /// `run` 0: the newest.
  OpenedRun(const std::string& file, int64_t run)
      : reader(file), summary(run > 0 ? reader.run(run) : reader.find_run("")), layout(reader.layout(summary.id)) {}
  /// The range as far as the run has batches; never backwards.
  BatchRange within(BatchRange range) const { return range.within(summary.batches); }
  SessionReader reader;
  RunSummary summary;
  RunLayout layout;
};

/// `run` 0: the newest.
inline RunSummary find_run(const SessionReader& reader, int64_t run) {
  return run > 0 ? reader.run(run) : reader.find_run("");
}

/// "AMD EPYC 7B13, 8 threads".
std::string device_of(const RunSummary& run);

RunLine line_of(const SessionReader& reader, const RunSummary& run);
inline RouterLine line_of(const RunLayout& layout, const RouterInfo& r) {
  return {r.name,   r.stack,         r.protocol, layout.spaces[r.space], r.branches, r.fan_out,
          r.parent, r.parent_branch, r.residual};
}

/// The inputs that a run keeps. Its first items and its first batch tell: what is recorded is recorded for all of a
/// run, but an item may have no label.
struct RecordedInputs {
  bool texts = false, labels = false, tokens = false;
};
RecordedInputs recorded_inputs(const SessionReader& reader, int64_t run);

/// A verb's condition for a run that it is to work on.
using AcceptsRun = bool (*)(const SessionReader& session, const RunSummary& run);
/// Nothing if `accepts` takes none. A session without runs: Error(bad_input).
std::optional<RunSummary> newest_run(const SessionReader& session, AcceptsRun accepts);
/// The run that `selector` names, else the newest that `accepts`; Error(bad_input) saying `lacking` where it does not
/// accept it.
RunSummary choose_run(const SessionReader& session, const std::string& selector, AcceptsRun accepts,
                      const std::string& lacking);
/// The same for a run with batches.
RunSummary choose_recorded_run(const SessionReader& session, const std::string& selector);

}  // namespace stormcell
