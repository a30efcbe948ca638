// Sessions in a folder that goes away, and what they are compared with.
#pragma once
#include <QTemporaryDir>
#include <string>

#include "core/profile/recorder.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "tests/core/profile/synthetic.h"

namespace stormcell::testing {

inline ModelSummary some_model(const std::string& fingerprint = "0123456789abcdef") {
  return {fingerprint, "switch-tiny", "switch", "{\"parameters\":42}"};
}

inline RunStart some_run(const std::string& name = "first", const RunLayout& layout = two_stacks()) {
  RunStart start;
  start.kind = "profile";
  start.name = name;
  start.config = "{\"schema\":\"stormcell.config/1\"}";
  start.layout = layout;
  return start;
}

/// Records batches [first, first + count) and finishes the run, unless told otherwise.
inline void record_batches(RecordSink& sink, const RunLayout& layout, int64_t first, int64_t count,
                           const BatchSize& size = {}, bool scores = false) {
  Recorder recorder({&sink});
  for (int64_t i = first; i < first + count; ++i) {
    BatchRecord& batch = recorder.begin_batch();
    fill(layout, i, size, batch, scores);
    recorder.submit();
  }
  recorder.finish();
}

/// A session with one finished run of `batches` batches.
inline std::string make_session(const std::string& path, int64_t batches, const RunStart& start = some_run(),
                                const std::string& summary = "{\"speedup\":1.5}") {
  SessionWriter writer(path, some_model());
  auto run = writer.begin_run(start);
  record_batches(*run, start.layout, 0, batches);
  run->finish(RunStatus::finished, summary);
  run.reset();
  writer.close();
  return path;
}

/// Empty when the stored decision is what was recorded, else what differs.
inline std::string difference(const StoredDecision& stored, const DecisionRecord& recorded) {
  const auto same = [](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  if (!same(stored.choice, recorded.choice)) return "choices";
  if (!same(stored.weight, recorded.weight)) return "weights";
  if (!same(stored.ancestor, recorded.ancestor)) return "ancestors";
  if (!same(stored.scores, recorded.scores)) return "scores";
  if (!same(stored.margin, recorded.margin)) return "margins";
  if (!recorded.padded.empty() && !same(stored.padded, recorded.padded)) return "padded loads";
  return {};
}

}  // namespace stormcell::testing
