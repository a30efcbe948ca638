// The CUDA device: programs as graphs of a card's kernels. It sees CUDA through a table of calls alone (card_calls.h).
// Proved on the host with a table that plays a card; no card has run it yet.
#pragma once
#include <memory>
#include <vector>

#include "core/runtime/device.h"
#include "gpu/device/card_stream.h"
#include "gpu/device/weight_loader.h"

namespace stormcell::card {

class CudaDevice final : public Device {
 public:
  /// `calls` must outlive it. `host_threads`: threads of the host, for the oracle. Throws Error(failed).
  CudaDevice(const CardCalls& calls, int card, int host_threads);
  DeviceInfo info() const override;
  std::optional<int64_t> free_bytes() const override { return memory_.free_bytes(); }
  std::unique_ptr<DeviceBuffer> allocate(int64_t bytes, const std::string& what) override;
  std::unique_ptr<PinnedBuffer> allocate_pinned(int64_t bytes, const std::string& what) override;
  std::unique_ptr<Stream> create_stream() override { return std::make_unique<CudaStream>(parts_); }
  std::unique_ptr<Event> create_event() override { return std::make_unique<CudaEvent>(card_); }
  DeviceProbe probe(const ProbeLimits& limits, const CancellationToken& cancel) override;
  int64_t weight_bytes(const WeightKey& key, const WeightInfo& info) const override;
  std::unique_ptr<DeviceBuffer> load_weight(const WeightKey& key, const WeightSource& source) override;
  void load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) override;
  std::unique_ptr<Executable> compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                      const CompileOptions& options) override;
  ExecutableLayout layout_of(std::shared_ptr<const Program> program, WeightStore& weights,
                             const CompileOptions& options) override;
  int64_t synchronizations() const override { return parts_.synchronizations; }

 private:
  Card card_;
  int host_threads_;
  CardMemory memory_;
  StreamParts parts_;
  WeightLoader loader_;
};

}  // namespace stormcell::card
