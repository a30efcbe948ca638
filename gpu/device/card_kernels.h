// The kernels that a card launches: those of plans, and behind them those that measure the card and steer graphs. A
// place in this list names a kernel on both sides of the module.
#pragma once
#include <cstdint>

#include "gpu/device/flow_kernels.h"
#include "gpu/device/probe_kernels.h"
#include "gpu/plan/kernel_list.h"

namespace stormcell::card {

/// The kernels beside those of plans.
using OwnKernels = gpu::KernelTypes<FmaProbe, ReadProbe, ConditionKernel, ResumeKernel>;

inline constexpr int32_t kPlanKernels = gpu::PlanKernels::kCount, kCardKernels = kPlanKernels + OwnKernels::kCount;
/// The place of one of OwnKernels in the list.
template <class Kernel>
inline constexpr int32_t kPlaceOf = kPlanKernels + OwnKernels::place<Kernel>();

/// body.operator()<Kernel>() for the kernel at a place.
template <class Body>
void with_kernel(int32_t place, Body&& body) {
  if (place < kPlanKernels)
    gpu::PlanKernels::with(place, body);
  else
    OwnKernels::with(place - kPlanKernels, body);
}

/// Differs if the program and the module were built from kernels with other names, arguments, threads or shared memory.
inline uint64_t build_id() {
  uint64_t id = 0xcbf29ce484222325u;  // FNV-1a
  const auto add = [&](uint64_t number) {
    for (int i = 0; i < 8; ++i, number >>= 8) id = (id ^ (number & 255)) * 0x100000001b3u;
  };
  const auto add_kernel = [&]<class Kernel>() {
    for (const char* c = Kernel::kName; *c != 0; ++c) add(static_cast<uint64_t>(*c));
    add(sizeof(typename Kernel::Args)), add(sizeof(typename Kernel::Shared)), add(Kernel::kThreads);
  };
  add(sizeof(gpu::CallBlock)), add(sizeof(gpu::RowsEntry)), add(sizeof(gpu::EntryPlan)), add(sizeof(gpu::Ref));
  for (int32_t place = 0; place < kCardKernels; ++place) with_kernel(place, add_kernel);
  return id;
}

}  // namespace stormcell::card
