// The CPU as a device: one team of threads, memory of the process, streams that run at once on the calling thread.
#pragma once
#include <memory>

#include "core/base/thread_team.h"
#include "core/runtime/device.h"

namespace stormcell::cpu {

/// Memory for the CPU executor: the process's own, or, for the emulated device of the tests, memory that only it may
/// touch.
class MemorySpace {
 public:
  virtual ~MemorySpace() = default;
  virtual std::unique_ptr<DeviceBuffer> allocate(int64_t bytes, const std::string& what) = 0;
  /// True when forget() wants to be called.
  virtual bool watches() const { return false; }
  /// Called for each planned buffer before the first and after the last step of its life: its content means nothing
  /// then.
  virtual void forget(std::byte*, int64_t) {}
};

/// Aligned to 64 bytes, in huge pages where they are large. Memory that the control group does not have is an Error,
/// not a kill.
std::unique_ptr<MemorySpace> process_memory();

/// Compiles a program for the CPU kernels, all its memory from `space`.
std::unique_ptr<Executable> compile_for_cpu(std::shared_ptr<const Program> program, WeightStore& weights,
                                            const CompileOptions& options, MemorySpace& space, ThreadTeam& team);

/// The layout that compile_for_cpu() would make, with nothing allocated.
ExecutableLayout layout_for_cpu(std::shared_ptr<const Program> program, WeightStore& weights,
                                const CompileOptions& options, ThreadTeam& team);

/// Operators with a kernel for activations in bf16.
Bf16Rows bf16_rows();

/// Names of the operators that have a kernel, each once.
std::vector<std::string_view> operators_with_kernels();

class CpuDevice : public Device {
 public:
  explicit CpuDevice(int threads);
  DeviceInfo info() const override;
  std::optional<int64_t> free_bytes() const override { return std::nullopt; }
  std::unique_ptr<DeviceBuffer> allocate(int64_t bytes, const std::string& what) override;
  std::unique_ptr<PinnedBuffer> allocate_pinned(int64_t bytes, const std::string& what) override;
  bool copies_at_once() const override { return true; }
  std::unique_ptr<Stream> create_stream() override;
  std::unique_ptr<Event> create_event() override;
  DeviceProbe probe(const ProbeLimits& limits, const CancellationToken& cancel) override;
  int64_t weight_bytes(const WeightKey& key, const WeightInfo& info) const override;
  ExecutableLayout layout_of(std::shared_ptr<const Program> program, WeightStore& weights,
                             const CompileOptions& options) override;
  std::unique_ptr<DeviceBuffer> load_weight(const WeightKey& key, const WeightSource& source) override;
  void load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) override;
  std::unique_ptr<Executable> compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                      const CompileOptions& options) override;
  int64_t synchronizations() const override { return synchronizations_; }
  ThreadTeam& team() { return team_; }

 private:
  ThreadTeam team_;
  std::unique_ptr<MemorySpace> memory_;
  int64_t synchronizations_ = 0;
};

/// Names of the kernels of an operator, in the order in which they are tried.
std::vector<std::string> kernel_names(std::string_view op);

}  // namespace stormcell::cpu
