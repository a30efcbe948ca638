// The CUDA device without a card: it interprets the plan that a card makes a graph of. Each kernel runs by its own code
// over an execution of the host, the nodes in any order that the plan's edges allow. Streams, memory and pinned memory
// are those of the emulated device.
//
// A node sees what it declared and nothing else: while it runs, all other bytes are poison, and a byte of them that it
// wrote is an error. So a range that is missing from its arguments is found in every order, and a missing edge in some.
#pragma once
#include <functional>

#include "gpu/plan/plan.h"
#include "tests/testing/emulated_device.h"

namespace stormcell::testing {

class HostDevice : public EmulatedDevice {
 public:
  HostDevice();
  DeviceInfo info() const override;
  int64_t weight_bytes(const WeightKey& key, const WeightInfo& info) const override;
  ExecutableLayout layout_of(std::shared_ptr<const Program> program, WeightStore& weights,
                             const CompileOptions& options) override;
  std::unique_ptr<DeviceBuffer> load_weight(const WeightKey& key, const WeightSource& source) override;
  void load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) override;
  std::unique_ptr<Executable> compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                      const CompileOptions& options) override;

  /// Order of the nodes: 0: as in the program; else drawn anew for each submission, from this seed on.
  uint64_t order_seed = 0;
  /// While a node runs, what it did not declare is poison.
  bool isolates = true;
  /// Changes each plan before it is laid down, as a fault would.
  std::function<void(gpu::Plan&)> tamper;
  /// As many multiprocessors as the plan is made for: few blocks, so that they stride.
  gpu::PlanOptions plan_options{.multiprocessors = 1};

  /// The refusal of a graph that a plan lacks something for; empty: there is a plan. Throws Error where the list of what
  /// is missing (gpu/plan/missing.h) has no row for it.
  std::string refusal_of(const Graph& graph, std::shared_ptr<const WeightSource> weights, const Bindings& bounds);

  /// The last plan that was compiled.
  const gpu::Plan& plan() const { return *plan_; }
  /// Submissions in an order of their own so far.
  int64_t orders() const { return orders_; }

 private:
  friend class HostExecutable;
  std::shared_ptr<const gpu::Plan> plan_;
  int64_t orders_ = 0;
};

}  // namespace stormcell::testing
