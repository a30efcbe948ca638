#include "gpu/device/cuda_device.h"

#include "core/base/error.h"
#include "gpu/device/card_executable.h"
#include "gpu/device/probe.h"
#include "gpu/plan/kernel_rows.h"
#include "gpu/plan/weight_layouts.h"

namespace stormcell::card {
namespace {

class CudaBuffer final : public DeviceBuffer {
 public:
  CudaBuffer(CardMemory& memory, int64_t bytes, const std::string& what)
      : memory_(memory), block_(memory.take(bytes, what)), bytes_(bytes) {}
  ~CudaBuffer() override { memory_.give_back(block_); }
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  DeviceAddress address() const override { return {block_.address}; }
  int64_t bytes() const override { return bytes_; }

 private:
  CardMemory& memory_;
  CardMemory::Block block_;
  int64_t bytes_;
};

class CudaPinned final : public PinnedBuffer {
 public:
  CudaPinned(const Card& card, PinnedRanges& ranges, int64_t bytes, const std::string& what)
      : card_(card), ranges_(ranges), bytes_(bytes) {
    card_.must(card_.calls().allocate_pinned(card_.index(), &memory_, std::max<int64_t>(bytes, 1)), "cudaHostAlloc",
               "of " + std::to_string(bytes) + " bytes for " + what);
    ranges_.add(memory_, bytes_);
  }
  ~CudaPinned() override {
    ranges_.remove(memory_);
    (void)card_.calls().release_pinned(card_.index(), memory_);
  }
  CudaPinned(const CudaPinned&) = delete;
  CudaPinned& operator=(const CudaPinned&) = delete;
  std::byte* data() const override { return static_cast<std::byte*>(memory_); }
  int64_t bytes() const override { return bytes_; }

 private:
  const Card& card_;
  PinnedRanges& ranges_;
  void* memory_ = nullptr;
  int64_t bytes_;
};

gpu::PlanOptions plan_options(const Card& card) { return {.multiprocessors = card.facts().multiprocessors}; }

}  // namespace

CudaDevice::CudaDevice(const CardCalls& calls, int card, int host_threads)
    : card_(calls, card), host_threads_(host_threads), memory_(card_), parts_{card_}, loader_(*this, parts_) {}

DeviceInfo CudaDevice::info() const {
  return {.name = card_.facts().name,
          .backend = "cuda",
          .threads = 1,
          .rounds_bf16_inputs = true,
          .bf16_rows = gpu::planned_bf16_rows(),
          .formats = {DType::f32, DType::bf16},
          .operators = gpu::planned_operators(),
          .keeps_bits = false,
          .host_threads = host_threads_};
}

std::unique_ptr<DeviceBuffer> CudaDevice::allocate(int64_t bytes, const std::string& what) {
  return std::make_unique<CudaBuffer>(memory_, bytes, what);
}

std::unique_ptr<PinnedBuffer> CudaDevice::allocate_pinned(int64_t bytes, const std::string& what) {
  return std::make_unique<CudaPinned>(card_, parts_.pinned, bytes, what);
}

DeviceProbe CudaDevice::probe(const ProbeLimits& limits, const CancellationToken& cancel) {
  return probe_card(*this, parts_, limits, cancel);
}

int64_t CudaDevice::weight_bytes(const WeightKey& key, const WeightInfo& info) const {
  return gpu::planned_weight_bytes(key, info);
}

std::unique_ptr<DeviceBuffer> CudaDevice::load_weight(const WeightKey& key, const WeightSource& source) {
  const WeightInfo* info = source.find(key.tensor);
  if (!info) failed("weights", "no tensor " + key.tensor);
  auto buffer = allocate(weight_bytes(key, *info), key.tensor);
  load_weight_to(key, source, buffer->address());
  return buffer;
}

void CudaDevice::load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) {
  loader_.load(key, source, to);
}

std::unique_ptr<Executable> CudaDevice::compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                                const CompileOptions& options) {
  gpu::Plan plan = gpu::make_plan(*program, weights, options, plan_options(card_));
  return std::make_unique<CudaExecutable>(*this, parts_, std::move(program), std::move(plan), options);
}

ExecutableLayout CudaDevice::layout_of(std::shared_ptr<const Program> program, WeightStore& weights,
                                       const CompileOptions& options) {
  return gpu::make_plan(*program, weights, options, plan_options(card_)).layout;
}

}  // namespace stormcell::card
