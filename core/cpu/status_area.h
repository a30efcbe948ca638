// The status of an execution as the CPU leaves it (core/runtime/device.h): a code, counters, events.
#pragma once
#include <cstring>
#include <span>

#include "core/runtime/device.h"

namespace stormcell::cpu {

struct StatusArea {
  /// `at`: memory of `bytes` for code and counters, and `most_events` behind them.
  StatusArea(std::byte* at, int64_t bytes, const Program& program, int32_t most_events)
      : status(*reinterpret_cast<ExecutionStatus*>(at)), begin_(at), bytes_(bytes) {
    auto* next = reinterpret_cast<int32_t*>(at + sizeof(ExecutionStatus));
    const auto take = [&](size_t count) {
      const std::span<int32_t> taken(next, count);
      next += count;
      return taken;
    };
    hits = take(program.guards.size());
    misses = take(program.guards.size());
    executions = take(program.routers.size());
    unforced = take(program.routers.size());
    ragged_cells = take(program.raggeds.size());
    events = {reinterpret_cast<DeviceEvent*>(at + bytes), static_cast<size_t>(most_events)};
  }

  /// A submission that goes on after weights were loaded keeps the counters.
  void reset(bool resumed) {
    if (resumed) {
      status.code = ExecutionStatus::done;
    } else {
      std::memset(begin_, 0, static_cast<size_t>(bytes_));
    }
  }
  void add_event(const DeviceEvent& event) {
    if (static_cast<size_t>(status.events) < events.size()) {
      events[static_cast<size_t>(status.events++)] = event;
    } else {
      ++status.lost_events;
    }
  }

  ExecutionStatus& status;
  std::span<int32_t> hits, misses;          // by guard
  std::span<int32_t> executions, unforced;  // by router
  std::span<int32_t> ragged_cells;          // by ragged value
  std::span<DeviceEvent> events;

 private:
  std::byte* begin_;
  int64_t bytes_;
};

}  // namespace stormcell::cpu
