// Records of a run: routers and steps once, then one BatchRecord for each executed batch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cell/cell_space.h"
#include "core/cell/decision.h"
#include "core/cell/decision_record.h"
#include "core/cell/thumbnail.h"

namespace stormcell {

/// Unknown residual branch: imported traces and sessions before schema 8 do not store it.
inline constexpr int32_t kResidualUnknown = -2;

/// One router of the model that ran.
struct RouterInfo {
  std::string name;  ///< weight prefix, "encoder.block.1.layer.1.mlp"
  int32_t branches = 1;
  int32_t fan_out = 1;
  std::string protocol;  ///< to_text(ProtocolKind)
  int32_t space = 0;     ///< index into RunLayout::spaces
  std::string stack;     ///< "encoder", "decoder", ...
  /// the router with the branch that holds this one, -1: none; of another space if its cells are parents of this one's
  /// (sequences, pictures), with equally many members each
  int32_t parent = -1;
  int32_t parent_branch = -1;
  int32_t layer = -1;                   ///< the model's number of the layer, -1: not known
  int64_t branch_bytes = 0;             ///< weights of one branch, 0: not known
  int64_t dense_bytes = 0;              ///< weights of the layer outside its branches, 0: not known
  int32_t residual = kResidualUnknown;  ///< the branch by which cells leave early, or only pass; -1: there is none
  bool operator==(const RouterInfo&) const = default;
};

/// Cells of one router come to another and meet no router between.
struct LayoutEdge {
  int32_t from = 0, to = 0;       ///< indexes into RunLayout::routers, from < to
  std::vector<int32_t> branches;  ///< of `from`, ascending: whose cells go there; empty: those of all
  bool operator==(const LayoutEdge&) const = default;
};

/// One step of the plan that ran.
struct StepInfo {
  std::string name;
  std::string op;
  int32_t router = -1;  ///< index into RunLayout::routers, -1: none
  int32_t branch = -1;
  double flops = 0, bytes = 0;  ///< of one execution as planned, 0: not known
  bool operator==(const StepInfo&) const = default;
};

/// The facts about a run that all its batches share.
struct RunLayout {
  std::vector<std::string> spaces;  ///< names of the cell spaces
  std::vector<RouterInfo> routers;  ///< in the order in which cells meet them
  std::vector<StepInfo> steps;
  std::vector<LayoutEdge> edges;  ///< the graph that the routers form; layout_edges.h
  bool operator==(const RunLayout&) const = default;
};

/// One execution of a step. Times are of one monotonic clock.
struct StepEvent {
  uint64_t begin_ns = 0, end_ns = 0;
  uint32_t step = 0;
  uint16_t worker = 0;
  bool operator==(const StepEvent&) const = default;
};

/// Outcomes of one guard on one batch.
struct GuardCount {
  int32_t step = 0;
  int32_t hits = 0, misses = 0;
  bool operator==(const GuardCount&) const = default;
};

/// One cell space on one batch.
struct SpaceRecord {
  int32_t space = 0;
  CellTable cells;
  std::span<const uint8_t> mask;    ///< [cells] 1: a real cell, 0: padding; empty: all are real
  std::span<const int32_t> tokens;  ///< [cells] token ids, for loads by token; empty: none
};

/// Loads of a router in a batch, in place of a decision: counts of other systems, without the cells' choices.
struct LoadRecord {
  int32_t router = 0;
  std::span<const int64_t> load;  ///< [branches]
};

/// Spans over a decision in host memory. The caller adds scores and ancestors.
DecisionRecord record_of(int32_t router, const DecisionView& decision);

/// Uses of a batch in an optimisation, as bits.
enum BatchPart : uint8_t { kNoPart = 0, kProfiled = 1, kMeasured = 2 };

/// All that is recorded of one executed batch. Owns its memory and keeps it when cleared, so that filling it allocates
/// only until the largest batch has been seen.
class BatchRecord {
 public:
  int64_t number = 0;  ///< batches of a run are numbered from 0, each once
  double latency_ms = 0;
  uint8_t part = kNoPart;    ///< BatchPart bits
  int64_t server_step = -1;  ///< of a trace: the number that its server gave the step, -1: not known
  int32_t rank = -1;         ///< of a trace: the rank whose cells these are, -1: not known, or all together
  std::vector<StepEvent> events;
  std::vector<GuardCount> guards;

  void clear();
  /// Numbers in the data set of the batch's items (sequences, images), in the order of its rows; copies. Not called:
  /// consecutive from CellTable::first_sequence. Each space then has as many sequences as there are items.
  void set_items(std::span<const int64_t> items);
  /// Copies; each space of the run at most once, `mask` as the model has it (0: padding). Items are those of the batch,
  /// not the table's; `starts` that are all alike become the table's step.
  void add_space(int32_t space, const CellTable& cells, std::span<const int32_t> mask = {},
                 std::span<const int32_t> tokens = {});
  /// Copies; each router at most once.
  void add_decision(const DecisionRecord& decision);
  /// Copies; each router at most once, and no decision of it. The batch needs no cells of the router.
  void add_loads(const LoadRecord& loads);
  /// Appends a sequence, in order: its label (empty: none) and, if inputs are recorded, its text.
  void add_sequence(std::string_view label, std::string_view text = {});

  std::span<const int64_t> items() const { return items_; }
  size_t spaces() const { return spaces_.size(); }
  SpaceRecord space(size_t i) const;
  size_t decisions() const { return decisions_.size(); }
  DecisionRecord decision(size_t i) const;
  size_t load_records() const { return loads_.size(); }
  LoadRecord load_record(size_t i) const;
  size_t sequences() const { return sequences_.size(); }
  std::string_view label(size_t sequence) const;
  std::string_view text(size_t sequence) const;
  /// Adds the thumbnail of a sequence, given by its number in the batch; at most one each.
  void add_thumbnail(size_t sequence, Thumbnail thumbnail);
  struct SequenceThumbnail {
    size_t sequence = 0;
    Thumbnail thumbnail;
  };
  const std::vector<SequenceThumbnail>& thumbnails() const { return thumbnails_; }
  /// Memory held, in use or not.
  size_t bytes() const;

 private:
  struct Part {
    size_t begin = 0, count = 0;
  };
  struct Space {
    int32_t space;
    CellTable cells;
    Part mask, tokens, starts;
  };
  struct Decision {
    int32_t router;
    Part choice, padded, ancestor, weight, scores, margin, residency, bytes_read;
    int32_t score_columns;
  };
  struct Loads {
    int32_t router;
    Part load;
  };
  struct Sequence {
    Part label, text;
  };
  template <class T>
  Part keep(std::vector<T>& kept, std::span<const T> values);

  std::vector<int64_t> items_;
  std::vector<Space> spaces_;
  std::vector<Decision> decisions_;
  std::vector<Loads> loads_;
  std::vector<Sequence> sequences_;
  std::vector<SequenceThumbnail> thumbnails_;
  std::vector<int32_t> ints_;
  std::vector<float> floats_;
  std::vector<uint8_t> bits_;
  std::vector<int64_t> longs_;
  std::vector<char> chars_;
};

/// Receives the records of a run; sessions implement it. Called by one thread at a time.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// Takes one batch. Throws Error when it cannot be kept.
  virtual void batch(const BatchRecord& batch) = 0;
  /// Everything taken so far must now survive the end of this process.
  virtual void commit() = 0;
};

}  // namespace stormcell
