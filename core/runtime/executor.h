// Runs one plan batch by batch on one device: binds inputs, submits once, reads results back with one synchronisation.
// Three things cost one more each: a guard that misses while its weights are not there; under a budget, branches whose
// weights are not there; in a distributed plan, an exchange of rows.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/graph/label_inputs.h"
#include "core/graph/paged_states.h"
#include "core/runtime/host_copies.h"
#include "core/runtime/part_waves.h"
#include "core/runtime/rank_exchange.h"
#include "core/runtime/shared_memory.h"
#include "core/runtime/state_store.h"
#include "core/runtime/weight_store.h"

namespace stormcell {

/// Graph inputs by name, row-major; i32 values for integer inputs, f32 for the others.
struct InputValues {
  std::map<std::string, std::vector<int32_t>, std::less<>> integers;
  std::map<std::string, std::vector<float>, std::less<>> reals;
};

struct OutputValue {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::vector<float> reals;
  std::vector<int32_t> integers;
};

/// One decision of one execution, in host memory.
struct ExecutedDecision {
  RouterId router;      ///< router of the program
  int32_t turn = 0;     ///< turn of the repeat that the router is in
  DecisionShape shape;  ///< cells that came, fan-out, branches
  std::vector<int32_t> choice, ancestor, padded;
  std::vector<float> weight, margin;
  /// [cells, score_columns] as the router read them; empty unless the executor keeps scores
  std::vector<float> scores;
  int32_t score_columns = 0;
  /// of a replayed decision: what the router would have chosen, drops included; else empty
  std::vector<int32_t> free_choice;
};

/// Choices of one execution of a router, to be replayed. Cells are named by their rows in the router's dense space: so
/// a plan that computes fewer cells than the recorded one replays the same choices. A cell without a choice here
/// decides freely and is counted.
struct ReplayedDecision {
  std::vector<int32_t> choice;    ///< [cells, fan_out]
  std::vector<int32_t> ancestor;  ///< [cells] row in the dense space; empty: row after row
};
/// Hears what a plan writes turn by turn.
class TurnListener {
 public:
  virtual ~TurnListener() = default;
  /// One number of each sequence, at the next place; -1: it has ended. Returns false if the plan is to end here: then
  /// the states and outputs are those of the turns so far. Throws what ends the batch.
  virtual bool hear(std::span<const int32_t> written) = 0;
};

/// Choices by router of the program, then execution. A router without any decides freely.
using ReplayedDecisions = IdVector<RouterId, std::vector<ReplayedDecision>>;

struct ExecutionResult {
  double milliseconds = 0;  ///< from submission to completion, results not yet read back
  std::vector<OutputValue> outputs;
  std::vector<ExecutedDecision> decisions;
  std::vector<DeviceEvent> events;
  int64_t lost_events = 0;  ///< events for which there was no room
  IdVector<GuardId, int32_t> guard_hits, guard_misses;
  IdVector<RouterId, int32_t> not_replayed;  ///< cells that had no choice to replay
  std::vector<int32_t> ragged_cells;         ///< by ragged value of the program: cells that came
  int64_t late_loads = 0;                    ///< times that a miss had to load weights
  int64_t exchanges = 0;                     ///< times that rows went to other ranks
  int64_t waves = 0;                         ///< times that the device stopped for parts of branches, under a budget
  int64_t state_pages = 0, state_bytes = 0;  ///< taken by the batch's sequences for their states in pages, all at once
};

struct ExecuteOptions {
  bool outputs = false, record = false, events = false;
  const ReplayedDecisions* replayed = nullptr;  ///< null: free
  std::string_view replayed_from = "replay";    ///< file that an error names if the choices do not fit the batch
  /// Sequences of the store, one for each of the batch. The execution continues their states. If it fails, their states
  /// are as before. Empty: fresh sequences, which end with the execution, or a program without states in pages.
  std::span<const SequenceId> sequences = {};
  /// Hears of the output `turn_output`, i32 over the cells of sequences, -1 where nothing was written: after each turn
  /// where the layout ends_turns, else at the end of the batch. Null: nobody does.
  TurnListener* turns = nullptr;
  std::string_view turn_output = {};
};

class Executor {
 public:
  /// Compiles the program for `bounds` and loads what it needs at once. run() polls the token of `progress` too.
  Executor(Device& device, WeightStore& weights, std::shared_ptr<const Program> program, const Bindings& bounds,
           const Progress& progress = {})
      : Executor(device, weights, std::move(program), CompileOptions{bounds}, progress) {}
  Executor(Device& device, WeightStore& weights, std::shared_ptr<const Program> program, const CompileOptions& options,
           const Progress& progress = {});
  ~Executor();

  /// The states that it needs of its sequences. Any program with the same key can continue them.
  const StateKey& states_key() const { return key_; }

  /// Runs one batch. `result` is refilled: with an unchanged shape and no outputs asked for, nothing is allocated.
  /// Several ranks run at once, each executor on a thread of its own. One that throws ends the others, too.
  void run(const InputValues& inputs, const Bindings& bindings, const ExecuteOptions& options, ExecutionResult& result);

  const Program& program() const { return *program_; }
  const ExecutableLayout& layout() const { return executable_->layout(); }
  /// Arena, states, their pages, and scratch as planned.
  int64_t activation_bytes() const;
  /// Weights this plan has needed so far, except parts: those of a fallback only once its guard has missed. Weights
  /// that other plans of the same store have loaded do not count.
  std::set<WeightHandle> needed_weights() const;
  /// Weights that only fallbacks which never ran would need.
  std::set<WeightHandle> spared_weights() const;

 private:
  void stage_replayed(RouterId router, const Bindings& bindings, const ExecuteOptions& options,
                      std::vector<int32_t>& staged);
  void stage_inputs(const InputValues& inputs, const Bindings& bindings);
  void stage_all_replayed(const Bindings& bindings, const ExecuteOptions& options);
  void stage_sequences(const InputValues& inputs, const Bindings& bindings, const ExecuteOptions& options,
                       ExecutionResult& result);
  void leave_sequences(const ExecuteOptions& options);
  void run_batch(const InputValues& inputs, const Bindings& bindings, const ExecuteOptions& options,
                 ExecutionResult& result);
  void execute(const StatusArea& came, const Bindings& bindings, const ExecuteOptions& options,
               ExecutionResult& result);
  bool tell_turns(const Bindings& bindings, const ExecuteOptions& options);
  void bring_what_is_missing(const StatusArea& came, ExecutionResult& result);
  void publish_weights();
  int64_t status_bytes() const { return StatusArea::bytes(*program_); }
  StatusArea came() const { return {kept_->data(), *program_}; }
  void read_status(const StatusArea& came, ExecutionResult& result);
  void check_replayed(const StatusArea& came, const ExecuteOptions& options) const;
  bool copy_results(const StatusArea& came, const Bindings& bindings, const ExecuteOptions& options,
                    ExecutionResult& result);
  void read_records(ExecutionResult& result);
  void copy_outputs(const Bindings& bindings, ExecutionResult& result);

  Device& device_;
  WeightStore& weights_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Executable> executable_;
  HostCopies copies_;                   // outlives the stream, as kept_: work left there may use its memory
  std::unique_ptr<PinnedBuffer> kept_;  // results that each submission leaves: the status, and behind it places_
  std::unique_ptr<Stream> stream_;
  Progress progress_;
  std::shared_ptr<SharedMemory> memory_;
  std::shared_ptr<StateStore> states_;
  PagedStates paged_;
  StateKey key_;
  std::vector<SequenceId> sequences_, own_;  // the batch's; among those, the ones that end with it
  std::span<int32_t> places_;                // places of the batch's sequences, in kept_
  std::vector<uint64_t> pages_;
  std::vector<int64_t> input_offset_;  // within the memory of inputs
  Submission submission_;
  IdVector<GuardId, bool> missed_;          // its fallback has run
  std::unique_ptr<RankExchange> exchange_;  // null: it runs alone
  std::unique_ptr<PartWaves> waves_;        // null: no step reads parts under a budget
  std::vector<DeviceAddress> table_;        // weights' addresses, as the device has them
  uint64_t table_version_ = 0;
  DeviceAddress table_at_;
  std::vector<WeightHandle> in_use_;  // parts that the submission may use
  std::vector<LabelInput> labels_;
  int64_t heard_ = 0;                                // places of the turn output that were told
  double told_ms_ = 0;                               // time of the listener, which is none of the execution
  std::vector<int32_t> column_;                      // one of them, of all sequences
  std::byte* records_ = nullptr;                     // as copies_ has brought them
  IdVector<RouterId, std::vector<int32_t>> staged_;  // choices as they go to the device and as it leaves them
  std::optional<RetainedWeights> retained_;
};

}  // namespace stormcell
