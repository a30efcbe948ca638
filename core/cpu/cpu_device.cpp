#include "core/cpu/cpu_device.h"

#include <sys/mman.h>

#include <cstring>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/machine.h"
#include "core/cpu/weight_layouts.h"

namespace stormcell::cpu {
namespace {

constexpr int64_t kHugePage = 2 << 20;

class MappedMemory : public DeviceBuffer {
 public:
  MappedMemory(int64_t bytes, const std::string& what) : bytes_(bytes), mapped_(std::max<int64_t>(bytes, 1)) {
    // Whole huge pages from the size where the rounding costs under 3 %: fewer TLB misses in products that stream
    // weights.
    const bool huge = bytes >= 32 * kHugePage;
    mapped_ = huge ? (mapped_ + kHugePage - 1) / kHugePage * kHugePage : (mapped_ + 4095) / 4096 * 4096;
    void* memory =
        mmap(nullptr, static_cast<size_t>(mapped_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) failed(what, "no memory for " + to_text(Bytes(bytes)), "take a smaller batch or model");
    if (huge) madvise(memory, static_cast<size_t>(mapped_), MADV_HUGEPAGE);
    memory_ = static_cast<std::byte*>(memory);
  }
  ~MappedMemory() override { munmap(memory_, static_cast<size_t>(mapped_)); }
  DeviceAddress address() const override { return {reinterpret_cast<uint64_t>(memory_)}; }
  int64_t bytes() const override { return bytes_; }

 private:
  int64_t bytes_, mapped_;
  std::byte* memory_ = nullptr;
};

class ProcessMemory : public MemorySpace {
 public:
  std::unique_ptr<DeviceBuffer> allocate(int64_t bytes, const std::string& what) override {
    return std::make_unique<MappedMemory>(bytes, what);
  }
};

// The device is the host: any of its memory will do.
class MappedHostMemory : public PinnedBuffer {
 public:
  MappedHostMemory(int64_t bytes, const std::string& what) : memory_(bytes, what) {}
  std::byte* data() const override { return reinterpret_cast<std::byte*>(memory_.address().value); }
  int64_t bytes() const override { return memory_.bytes(); }

 private:
  MappedMemory memory_;
};

// All work that an event stands for is done when it is recorded.
struct CpuEvent : Event {
  bool is_recorded = false;
};

// Runs everything at once; a synchronisation only counts.
class CpuStream : public Stream {
 public:
  explicit CpuStream(int64_t& synchronizations) : synchronizations_(synchronizations) {}
  void copy_to_device(DeviceAddress to, const void* from, int64_t bytes) override {
    if (bytes > 0) std::memcpy(reinterpret_cast<void*>(to.value), from, static_cast<size_t>(bytes));
  }
  void copy_to_host(void* to, DeviceAddress from, int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, reinterpret_cast<const void*>(from.value), static_cast<size_t>(bytes));
  }
  void copy_pinned_to_device(DeviceAddress to, const void* from, int64_t bytes) override {
    copy_to_device(to, from, bytes);
  }
  void copy_to_pinned(void* to, DeviceAddress from, int64_t bytes) override { copy_to_host(to, from, bytes); }
  void record(Event& event) override { static_cast<CpuEvent&>(event).is_recorded = true; }
  void wait(const Event& event) override {
    if (!static_cast<const CpuEvent&>(event).is_recorded)
      failed("stream", "waits for an event that was never recorded");
  }
  void synchronize() override { ++synchronizations_; }

 private:
  int64_t& synchronizations_;
};

}  // namespace

std::unique_ptr<MemorySpace> process_memory() { return std::make_unique<ProcessMemory>(); }

CpuDevice::CpuDevice(int threads) : team_(threads), memory_(process_memory()) {}
DeviceInfo CpuDevice::info() const {
  static const std::string model = describe_processor().model;  // reading it takes longer than asking for info may
  return {.name = model,
          .backend = "cpu",
          .threads = team_.size(),
          .rounds_bf16_inputs = kernels().product_bf16_rounds_x,
          .bf16_rows = bf16_rows(),
          .formats = panel_formats(),
          .operators = operators_with_kernels(),
          .keeps_bits = true,
          .host_threads = team_.size()};
}
std::unique_ptr<DeviceBuffer> CpuDevice::allocate(int64_t bytes, const std::string& what) {
  return memory_->allocate(bytes, what);
}
std::unique_ptr<PinnedBuffer> CpuDevice::allocate_pinned(int64_t bytes, const std::string& what) {
  return std::make_unique<MappedHostMemory>(bytes, what);
}
std::unique_ptr<Event> CpuDevice::create_event() { return std::make_unique<CpuEvent>(); }
DeviceProbe CpuDevice::probe(const ProbeLimits& limits, const CancellationToken& cancel) {
  team_.set_cancel(&cancel);
  const Ceilings c = probe_ceilings(team_, limits.seconds, limits.bytes);
  const PlacementProbe p = probe_placement(team_, limits.seconds);
  team_.set_cancel(nullptr);
  return {c.f32_gflops, c.bf16_gflops, c.read_gbs, std::string(to_text(c.isa)), to_text(p.placement)};
}
std::unique_ptr<Stream> CpuDevice::create_stream() { return std::make_unique<CpuStream>(synchronizations_); }
int64_t CpuDevice::weight_bytes(const WeightKey& key, const WeightInfo& info) const {
  return cpu_weight_bytes(key, info);
}
ExecutableLayout CpuDevice::layout_of(std::shared_ptr<const Program> program, WeightStore& weights,
                                      const CompileOptions& options) {
  return layout_for_cpu(std::move(program), weights, options, team_);
}
std::unique_ptr<DeviceBuffer> CpuDevice::load_weight(const WeightKey& key, const WeightSource& source) {
  return load_cpu_weight(key, source, *memory_, team_);
}
void CpuDevice::load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) {
  load_cpu_weight_to(key, source, reinterpret_cast<std::byte*>(to.value));
}
std::unique_ptr<Executable> CpuDevice::compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                               const CompileOptions& options) {
  return compile_for_cpu(std::move(program), weights, options, *memory_, team_);
}

}  // namespace stormcell::cpu
