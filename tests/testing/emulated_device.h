// A second device for the tests: what runs on it without a host synchronisation will run so on a GPU. Its memory is its own (poisoned when
// handed out and, buffer by buffer, before and after the life that was planned for it, out of reach of plain pointers handed in by
// mistake), its streams run later on another thread, its synchronisations are counted, and its results are bit for bit those of the CPU
// kernels, because it runs them.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "core/cpu/cpu_device.h"

namespace stormcell::testing {

class EmulatedDevice : public Device, private cpu::MemorySpace {
 public:
  explicit EmulatedDevice(int threads);
  ~EmulatedDevice() override;
  DeviceInfo info() const override;
  std::unique_ptr<DeviceBuffer> allocate(int64_t bytes, const std::string& what) override;
  std::unique_ptr<Stream> create_stream() override;
  int64_t weight_bytes(const WeightKey& key, const WeightInfo& info) const override { return cpu::cpu_weight_bytes(key, info); }
  ExecutableLayout layout_of(std::shared_ptr<const Program> program, WeightStore& weights, const CompileOptions& options) override;
  std::unique_ptr<DeviceBuffer> load_weight(const WeightKey& key, const WeightSource& source) override;
  void load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) override;
  std::unique_ptr<Executable> compile(std::shared_ptr<const Program> program, WeightStore& weights, const CompileOptions& options) override;
  int64_t synchronizations() const override { return synchronizations_; }

  /// Submissions put on streams so far.
  int64_t submissions() const { return submissions_; }
  /// Buffers poisoned because their planned life began or ended.
  int64_t forgotten() const { return forgotten_; }
  /// Throws Error when [address, address + bytes) is not inside one of this device's buffers.
  void check(DeviceAddress address, int64_t bytes, const char* what) const;
  /// True when a host pointer lies in device memory: the host must never hold one.
  bool owns(const void* pointer) const;

 private:
  bool watches() const override { return true; }
  void forget(std::byte* from, int64_t bytes) override;
  friend class EmulatedStream;
  friend class EmulatedBuffer;
  friend class EmulatedExecutable;
  ThreadTeam team_;
  mutable std::mutex mutex_;
  std::map<uint64_t, int64_t> buffers_;  // start -> bytes
  std::atomic<int64_t> synchronizations_{0}, submissions_{0}, forgotten_{0};
};

}  // namespace stormcell::testing
