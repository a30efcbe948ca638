// Calls as their kernels take them.
#pragma once
#include "gpu/dispatch/dispatch.h"
#include "gpu/dispatch/rows.h"

namespace stormcell::gpu {

inline DispatchArgs args_of(const DispatchCall& call) {
  DispatchArgs args;
  args.slot_count = call.decision.offsets + call.decision.branches;
  args.cell = call.decision.cell;
  args.from = static_cast<const Sixteen*>(call.from), args.to = static_cast<Sixteen*>(call.to);
  args.pieces = static_cast<int32_t>(call.width * bytes_of(call.format) / 16);
  return args;
}

inline CombineArgs args_of(const CombineCall& call) {
  CombineArgs args;
  args.slot = call.decision.slot, args.choice = call.decision.choice;
  args.choice_weight = call.weighted ? call.decision.choice_weight : nullptr;
  args.from = static_cast<const Sixteen*>(call.from), args.dropped = static_cast<const Sixteen*>(call.dropped);
  args.to = static_cast<Sixteen*>(call.to);
  args.cells = static_cast<int32_t>(call.cells), args.fan_out = call.decision.fan_out;
  args.pieces = static_cast<int32_t>(call.width * bytes_of(call.format) / 16);
  args.unrouted_only = call.unrouted_only;
  return args;
}

}  // namespace stormcell::gpu
