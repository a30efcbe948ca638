// Results of an execution besides decisions and outputs: a code, counters, events. One description serves the device
// that writes them in its memory and the host that reads its copy.
#pragma once
#include <algorithm>
#include <span>

#include "core/base/align.h"
#include "core/base/id_vector.h"
#include "core/runtime/device_address.h"
#include "core/runtime/program.h"
#include "core/runtime/step_failure.h"

namespace stormcell {

/// State of a branch of the decision that the device waits for.
enum ToldBranch : int32_t {
  kAbsentBranch = 0,    ///< it got no cell
  kWantedBranch = 1,    ///< its parts will be used from the step on at which the submission resumes
  kComputedBranch = 2,  ///< that step has computed it already
};

struct ExecutionStatus {
  enum Code : int32_t {
    done = 0,
    needs_weights = 1,
    exchange = 2,
    failed = 3,  ///< no step behind the one that failed has run, and no submission goes on from here
    turn = 4,    ///< a turn of a repeat begins: ExecutableLayout::ends_turns
  };
  int32_t code = done;
  int32_t leaf = 0;    ///< the leaf where it waits(), to go on with at the turns that StatusArea::turns has
  GuardId guard;       ///< needs_weights: the fallback of this one waits; kNone: a step waits for parts of branches
  OperandId decision;  ///< needs_weights without a guard: StatusArea::branches has the branches of this decision
  int32_t events = 0;  ///< written
  int32_t lost_events = 0;  ///< events for which there was no room
  uint64_t waited_ns = 0;   ///< time that waves of the waiting step took so far, if events are asked for
  StepFailure failure;      ///< failed: the first one

  /// The host has to do something before a submission goes on.
  bool waits() const { return code == needs_weights || code == exchange || code == turn; }
  /// Ends the execution at a node; one that has failed before keeps its failure.
  void fail(NodeId node, const StepFailure& why) {
    if (code == failed) return;
    code = failed;
    leaf = 0;
    failure = why;
    failure.node = node;
  }
};
/// The request of a device that waits with `exchange`. The rows of each rank follow those of the rank before.
struct ExchangeStatus {
  DeviceAddress send;     ///< rows for each rank: StatusArea::sent_rows
  DeviceAddress receive;  ///< place of the rows from each rank: StatusArea::arrived_rows
  int64_t row_bytes = 0;
  int64_t most_rows = 0;  ///< room there
  NodeId node;            ///< node that exchanges
  /// not 0: the ranks have to tell each other how many rows arrive, and the host writes that to arrived_rows
  int32_t tells_rows = 0;
};
struct DeviceEvent {
  uint64_t begin_ns, end_ns;
  int32_t step, worker;
};
/// No execution leaves more: later events are counted as lost.
inline constexpr int32_t kMostEvents = 1 << 18;

/// Names the parts of memory of a device or of the host, aligned to 8 bytes. The host copies the first bytes(program),
/// and the events if it wants them.
struct StatusArea {
  StatusArea(void* memory, const Program& program, int32_t most_events = 0) {
    MemoryParts<8> parts(memory);
    const auto counters = [&](size_t count) {
      return std::span<int32_t>(parts.take<int32_t>(static_cast<int64_t>(count)), memory ? count : 0);
    };
    status = parts.take<ExecutionStatus>(1);
    hits = counters(program.guards.size());
    misses = counters(program.guards.size());
    executions = counters(program.routers.size());
    not_replayed = counters(program.routers.size());
    ragged_cells = counters(program.raggeds.size());
    turns = counters(program.repeats.size());
    exchange = parts.take<ExchangeStatus>(1);
    sent_rows = counters(static_cast<size_t>(program.ranks));
    arrived_rows = counters(static_cast<size_t>(program.ranks));
    int32_t most_branches = 0;
    for (const ProgramRouter& r : program.routers)
      most_branches = std::max(most_branches, program.decision_of(r).branches);
    branches = counters(static_cast<size_t>(most_branches));
    without_events = static_cast<int64_t>(parts.bytes());
    events = {parts.take<DeviceEvent>(most_events), static_cast<size_t>(memory ? most_events : 0)};
    with_events = static_cast<int64_t>(parts.bytes());
  }
  /// Bytes of code and counters, and of so many events behind them.
  static int64_t bytes(const Program& program, int32_t most_events = 0) {
    return StatusArea(nullptr, program, most_events).with_events;
  }

  ExecutionStatus* status;
  IdSpan<GuardId, int32_t> hits, misses;
  IdSpan<RouterId, int32_t> executions;
  IdSpan<RouterId, int32_t> not_replayed;  ///< cells that had no choice to replay and decided freely
  std::span<int32_t> ragged_cells;         ///< by ragged value
  IdSpan<RepeatId, int32_t> turns;         ///< turns done, of those that run
  ExchangeStatus* exchange;
  std::span<int32_t> sent_rows, arrived_rows;  ///< by rank, for the exchange that waits
  std::span<int32_t> branches;                 ///< needs_weights without a guard: a ToldBranch each
  std::span<DeviceEvent> events;               ///< begin at without_events
  int64_t without_events, with_events;
};

}  // namespace stormcell
