// Values that sessions are written from and read into. No SQLite here.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/run_kind.h"
#include "core/cell/cell_space.h"
#include "core/profile/loads.h"
#include "core/profile/record.h"

namespace stormcell {

/// Forms of fingerprints that this version makes. A session keeps the form of another version unchanged.
inline constexpr const char *kSampledForm = "sampled-256", *kSeededForm = "seeded", *kTraceForm = "trace";

/// The model a session belongs to: a session holds runs of one model.
struct ModelSummary {
  std::string fingerprint;
  std::string name;
  std::string family;
  std::string json = "{}";          ///< whatever else the writer knows: parameters, bytes, sizes
  std::string form = kSampledForm;  ///< how the fingerprint is made; kSeededForm, kTraceForm: of presets, of imports;
                                    ///< empty: nobody said
  /// True if an existing session's fingerprint, which is another than the above, is one that an earlier version
  /// computed for this model. Asked only then: computing it may take seconds. Empty: never.
  std::function<bool(std::string_view)> is_older_fingerprint = {};
};

/// The facts known when a run begins.
struct RunStart {
  std::string kind = "run";    ///< a word of RunKind (core/base/run_kind.h)
  std::string name;            ///< free; "S.storm#name" finds it
  std::string config = "{}";   ///< stormcell.config/1
  std::string machine = "{}";  ///< device, threads, ceilings
  std::string dataset = "{}";
  RunLayout layout;
  bool decisions = true;                        ///< store decisions; windows are stored in any case
  bool inputs = false;                          ///< store texts, token ids and small pictures
  int64_t picture_bytes = kMostThumbnailBytes;  ///< of all pictures together, at most
  /// A token as the vocabulary has it, for the pieces of recorded inputs; called by the thread that writes. Null: no
  /// tokenizer.
  std::function<std::string(int32_t)> piece;
};

/// A placement of a run's branches, as a search found it. Its number is no run's: "S.storm#4" names one or the other.
struct StoredPlacement {
  int64_t id = 0;       ///< given by the session
  int64_t run = 0;      ///< run whose loads it was made for
  std::string name;     ///< free; "S.storm#name" finds it
  std::string solver;   ///< "eplb"
  std::string created;  ///< ISO 8601, UTC; given by the session
  std::string layout;   ///< stormcell.placement/1
  std::string summary;  ///< stormcell.place/1
};

struct SessionSummary {
  std::string id;       ///< random, made with the file
  std::string created;  ///< ISO 8601, UTC
  std::string program;  ///< version that made the file
  int32_t schema = 0;
  ModelSummary model;
};

struct RunSummary {
  int64_t id = 0;
  std::string kind, name, config, machine, dataset, summary;
  std::string started, finished;  ///< ISO 8601, UTC; finished may be empty
  RunStatus status = RunStatus::running;
  int64_t batches = 0;
};

/// A level of the pyramid of windows: each window covers `batches_per_window` consecutive batches, the last one maybe
/// fewer.
struct PyramidLevel {
  int32_t level = 0;
  int64_t batches_per_window = 1;
  int64_t windows = 0;
};

struct BatchSpace {
  int32_t space = 0;
  CellTable cells;                                     ///< its items and starts are those below
  std::shared_ptr<const std::vector<int64_t>> items;   ///< null: consecutive
  std::shared_ptr<const std::vector<int32_t>> starts;  ///< null: all begin at cells.step
  int64_t real_cells = 0;                              ///< without padding
  std::vector<uint8_t> mask;                           ///< [cells] 1: real; empty: all real
  std::vector<int32_t> tokens;                         ///< empty unless inputs were recorded
};

struct SpaceOfBatch {
  int64_t batch = 0;
  int32_t space = 0;
};

struct BatchSummary {
  int64_t number = 0;
  double latency_ms = 0;
  int64_t first_sequence = 0;  ///< the smallest number, where its items are listed
  int32_t sequences = 0;
  int64_t guard_hits = 0, guard_misses = 0;
  uint8_t part = kNoPart;    ///< BatchPart bits
  bool listed = false;       ///< its items are not consecutive
  int64_t server_step = -1;  ///< as in BatchRecord
  int32_t rank = -1;
};

/// A decision as it was stored.
struct StoredDecision {
  int32_t branches = 0, fan_out = 1;
  int64_t cells = 0;
  std::vector<int32_t> offsets;     ///< [branches + 1]
  std::vector<int32_t> choice;      ///< [cells, fan_out] as in DecisionView
  std::vector<float> weight;        ///< [cells, fan_out] or empty
  std::vector<int32_t> padded;      ///< [branches]
  std::vector<int32_t> ancestor;    ///< [cells] or empty: cell i is row i of the batch's table
  std::vector<float> scores;        ///< [cells, score_columns] or empty
  std::vector<float> margin;        ///< [cells] or empty
  std::vector<uint8_t> residency;   ///< [cells, fan_out] Residency, or empty
  std::vector<int64_t> bytes_read;  ///< [cells, fan_out] or empty, as in DecisionRecord
  int32_t score_columns = 0;        ///< branches, or numbers that a threshold compares
  /// Cells of all branches one after another: those of branch b are [offsets[b], offsets[b + 1]).
  std::vector<int32_t> cells_by_branch() const;
  /// Spans over this value.
  DecisionRecord record(int32_t router) const;
};

/// One router on the way of one cell.
struct PathStep {
  int64_t batch = 0;
  int32_t router = 0;
  std::vector<int32_t> choice;  ///< [fan_out]
  std::vector<float> weight;
  /// of the cell that the decision is about, in its own space: the cell, or the cell's parent
  int32_t position = 0;
};

struct LabelLoads {
  std::string label;
  int64_t cells = 0;          ///< real cells of sequences with this label
  std::vector<int64_t> load;  ///< by branch
};

struct TokenLoads {
  int32_t token = 0;
  int64_t cells = 0;
  std::vector<int64_t> load;
};

struct SequenceInput {
  int64_t sequence = 0;
  std::string label;
  std::string text;  ///< empty unless inputs were recorded
};

struct GuardTotal {
  int32_t step = 0;
  int64_t hits = 0, misses = 0;
};

}  // namespace stormcell
