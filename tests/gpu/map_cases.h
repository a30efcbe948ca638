// Cases of maps whose branches are computed together, and how a plan of one goes wrong.
#pragma once
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gpu/plan/kernel_list.h"
#include "tests/gpu/host_run.h"
#include "tests/gpu/planted_fault.h"
#include "tests/testing/mixture_case.h"

namespace stormcell::testing {

/// Runs a case in several orders; empty, or how the first wrong one differs from the oracle.
inline std::string difference_in_orders(HostDevice& device, const RandomCase& c, int orders) {
  HostRun run(device, c);
  for (int i = 0; i < orders; ++i)
    if (std::string wrong = difference(c, run.program(), run.run()); !wrong.empty()) return wrong;
  return {};
}

/// change(args) for each node of a kernel; how many there were.
template <class Kernel, class Change>
int change_nodes(gpu::Plan& plan, const Change& change) {
  int changed = 0;
  for (gpu::PlanNode& node : plan.nodes) {
    if (node.kernel != gpu::PlanKernels::place<Kernel>()) continue;
    typename Kernel::Args args;
    std::memcpy(&args, node.args.data(), sizeof args);
    change(args);
    std::memcpy(node.args.data(), &args, sizeof args);
    ++changed;
  }
  return changed;
}

/// A fault in the arguments of a kernel, and a case that shows it.
struct ArgumentFault {
  const char* name;
  std::function<int(gpu::Plan&)> plant;  ///< how many nodes it changed
  const RandomCase& c;
};
template <class Kernel, class Change>
ArgumentFault argument_fault(const char* name, const RandomCase& c, const Change& change) {
  return {name, [change](gpu::Plan& plan) { return change_nodes<Kernel>(plan, change); }, c};
}
/// Empty, or why the fault is not found.
inline std::string missed(const ArgumentFault& fault) {
  HostDevice whole;
  if (const std::string wrong = difference_in_orders(whole, fault.c, 1); !wrong.empty()) return "whole: " + wrong;
  gpu::Plan copy = whole.plan();
  if (fault.plant(copy) == 0) return "no node has it";
  const bool found = is_found_in_a_process([&] {
    HostDevice device;
    device.tamper = fault.plant;
    return !difference_in_orders(device, fault.c, 1).empty();
  });
  return found ? "" : "not found";
}

}  // namespace stormcell::testing
