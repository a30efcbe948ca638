#include "core/cpu/cpu_device.h"

#include <sys/mman.h>

#include <cstring>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/cpu/kernels/conv2d.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/packed_weight.h"
#include "core/cpu/machine.h"

namespace stormcell::cpu {
namespace {

constexpr int64_t kHugePage = 2 << 20;

class MappedMemory : public DeviceBuffer {
 public:
  MappedMemory(int64_t bytes, const std::string& what) : bytes_(bytes), mapped_(std::max<int64_t>(bytes, 1)) {
    // Whole huge pages from the size where the rounding costs under 3 %: fewer TLB misses in products that stream weights.
    const bool huge = bytes >= 32 * kHugePage;
    mapped_ = huge ? (mapped_ + kHugePage - 1) / kHugePage * kHugePage : (mapped_ + 4095) / 4096 * 4096;
    void* memory = mmap(nullptr, static_cast<size_t>(mapped_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) failed(what, "no memory for " + to_text(Bytes(bytes)));
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

// What it stands for is done when it is recorded.
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
  void copy_pinned_to_device(DeviceAddress to, const void* from, int64_t bytes) override { copy_to_device(to, from, bytes); }
  void copy_to_pinned(void* to, DeviceAddress from, int64_t bytes) override { copy_to_host(to, from, bytes); }
  void record(Event& event) override { static_cast<CpuEvent&>(event).is_recorded = true; }
  void wait(const Event& event) override {
    if (!static_cast<const CpuEvent&>(event).is_recorded) failed("stream", "waits for an event that was never recorded");
  }
  void synchronize() override { ++synchronizations_; }

 private:
  int64_t& synchronizations_;
};

class CpuExecutableOnStream : public Executable {
 public:
  CpuExecutableOnStream(std::shared_ptr<const Program> program, std::unique_ptr<Executable> inner)
      : Executable(std::move(program)), inner_(std::move(inner)) {}
  const ExecutableLayout& layout() const override { return inner_->layout(); }
  void submit(Stream&, const Submission& submission) override { run_on_cpu(*inner_, submission); }
  DeviceAddress address(int32_t operand) const override { return inner_->address(operand); }
  DeviceAddress status() const override { return inner_->status(); }
  DeviceAddress records() const override { return inner_->records(); }

 private:
  std::unique_ptr<Executable> inner_;
};

// [O, kh, kw, c] as the graph has it to [O, c, kh, kw] as the packing wants it.
std::vector<std::byte> channels_first(const std::byte* from, const std::vector<int64_t>& shape, size_t size) {
  const int64_t o = shape[0], area = shape[1] * shape[2], c = shape[3];
  std::vector<std::byte> to(static_cast<size_t>(o * area * c) * size);
  for (int64_t i = 0; i < o; ++i)
    for (int64_t a = 0; a < area; ++a)
      for (int64_t x = 0; x < c; ++x)
        std::memcpy(to.data() + static_cast<size_t>((i * c + x) * area + a) * size,
                    from + static_cast<size_t>((i * area + a) * c + x) * size, size);
  return to;
}

// conv_panels/GROUPS/CHANNELS of a weight [O, kh, kw, c].
constexpr std::string_view kConvPanels = "conv_panels/";
Conv2dShape conv_shape(const WeightKey& key, const WeightInfo& info) {
  const size_t slash = key.layout.find('/', kConvPanels.size());
  Conv2dShape shape;
  shape.groups = std::stoll(key.layout.substr(kConvPanels.size(), slash - kConvPanels.size()));
  shape.in_channels = std::stoll(key.layout.substr(slash + 1));
  shape.out_channels = info.shape.at(0);
  shape.kernel_height = info.shape.at(1);
  shape.kernel_width = info.shape.at(2);
  return shape;
}

}  // namespace

std::unique_ptr<MemorySpace> process_memory() { return std::make_unique<ProcessMemory>(); }

int64_t cpu_weight_bytes(const WeightKey& key, const WeightInfo& info) {
  if (key.layout == "plain") return info.bytes();
  if (key.layout == "plain_f32") return info.elements() * 4;
  if (key.layout == "panels") return static_cast<int64_t>(packed_bytes(info.shape.at(0), info.shape.at(1), key.dtype));
  if (key.layout.starts_with(kConvPanels)) return static_cast<int64_t>(packed_conv2d_bytes(conv_shape(key, info), key.dtype));
  failed("weights", "no layout \"" + key.layout + "\" on the CPU");
}

namespace {

const WeightInfo& info_of_weight(const WeightKey& key, const WeightSource& source) {
  const WeightInfo* info = source.find(key.tensor);
  if (!info) failed("weights", "no tensor " + key.tensor);
  return *info;
}

/// `split(n, f)` calls f(begin, end, member) for parts of [0, n).
template <class Split>
void lay_out(const WeightKey& key, const WeightSource& source, std::byte* out, Split split) {
  const WeightInfo& info = info_of_weight(key, source);
  const std::shared_ptr<const std::byte> bytes = source.bytes(key.tensor);
  if (key.layout == "plain") {
    std::memcpy(out, bytes.get(), static_cast<size_t>(info.bytes()));
  } else if (key.layout == "plain_f32") {
    to_f32(bytes.get(), info.dtype, reinterpret_cast<float*>(out), static_cast<size_t>(info.elements()));
  } else if (key.layout == "panels") {
    const StoredWeight from{bytes.get(), info.dtype, info.shape.at(0), info.shape.at(1), false, nullptr};
    split(panel_count(from.n), [&](int64_t begin, int64_t end, int) { pack(from, key.dtype, out, begin, end); });
  } else {
    const std::vector<std::byte> turned = channels_first(bytes.get(), info.shape, element_size(info.dtype));
    pack_conv2d(conv_shape(key, info), turned.data(), info.dtype, nullptr, key.dtype, out);
  }
}

}  // namespace

std::unique_ptr<DeviceBuffer> load_cpu_weight(const WeightKey& key, const WeightSource& source, MemorySpace& space, ThreadTeam& team) {
  auto buffer = space.allocate(cpu_weight_bytes(key, info_of_weight(key, source)), key.tensor);
  lay_out(key, source, reinterpret_cast<std::byte*>(buffer->address().value), [&](int64_t n, const auto& f) { team.split(n, 1, f); });
  return buffer;
}

void load_cpu_weight_to(const WeightKey& key, const WeightSource& source, std::byte* to) {
  lay_out(key, source, to, [](int64_t n, const auto& f) { f(int64_t{0}, n, 0); });
}

CpuDevice::CpuDevice(int threads, Communicator* communicator) : team_(threads), communicator_(communicator), memory_(process_memory()) {}
DeviceInfo CpuDevice::info() const {
  static const std::string model = describe_processor().model;  // reading it takes longer than asking for info may
  return {model, "cpu", team_.size(), kernels().product_bf16_rounds_x, bf16_rows(), {DType::f32, DType::bf16}};
}
std::unique_ptr<DeviceBuffer> CpuDevice::allocate(int64_t bytes, const std::string& what) { return memory_->allocate(bytes, what); }
std::unique_ptr<PinnedBuffer> CpuDevice::allocate_pinned(int64_t bytes, const std::string& what) {
  return std::make_unique<MappedHostMemory>(bytes, what);
}
std::unique_ptr<Event> CpuDevice::create_event() { return std::make_unique<CpuEvent>(); }
DeviceProbe CpuDevice::probe(int64_t most_bytes, const CancellationToken& cancel) {
  team_.set_cancel(&cancel);
  const Ceilings c = probe_ceilings(team_, most_bytes);
  const PlacementProbe p = probe_placement(team_);
  team_.set_cancel(nullptr);
  return {c.f32_gflops, c.bf16_gflops, c.read_gbs, std::string(to_text(c.isa)), to_text(p.placement)};
}
std::unique_ptr<Stream> CpuDevice::create_stream() { return std::make_unique<CpuStream>(synchronizations_); }
int64_t CpuDevice::weight_bytes(const WeightKey& key, const WeightInfo& info) const { return cpu_weight_bytes(key, info); }
ExecutableLayout CpuDevice::layout_of(std::shared_ptr<const Program> program, WeightStore& weights, const CompileOptions& options) {
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
  auto inner = compile_for_cpu(program, weights, options, *memory_, team_, communicator_);
  return std::make_unique<CpuExecutableOnStream>(std::move(program), std::move(inner));
}

}  // namespace stormcell::cpu
