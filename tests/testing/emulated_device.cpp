#include "tests/testing/emulated_device.h"

#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/runtime/segments.h"

namespace stormcell::testing {

// A signalling pattern: as float a NaN, as index far out of range, so that reading what nobody wrote shows.
constexpr unsigned char kPoison = 0xff;

class EmulatedBuffer : public DeviceBuffer {
 public:
  EmulatedBuffer(EmulatedDevice& device, int64_t bytes)
      : device_(device), bytes_(bytes), mapped_((std::max<int64_t>(bytes, 1) + 4095) / 4096 * 4096) {
    memory_ = mmap(nullptr, static_cast<size_t>(mapped_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) failed("emulated device", "no memory");
    std::memset(memory_, kPoison, static_cast<size_t>(mapped_));
    std::lock_guard lock(device_.mutex_);
    device_.buffers_[reinterpret_cast<uint64_t>(memory_)] = mapped_;
  }
  ~EmulatedBuffer() override {
    {
      std::lock_guard lock(device_.mutex_);
      device_.buffers_.erase(reinterpret_cast<uint64_t>(memory_));
    }
    munmap(memory_, static_cast<size_t>(mapped_));
  }
  DeviceAddress address() const override { return {reinterpret_cast<uint64_t>(memory_)}; }
  int64_t bytes() const override { return bytes_; }

 private:
  EmulatedDevice& device_;
  int64_t bytes_, mapped_;
  void* memory_;
};

// Work waits a moment before it runs, so that a host that does not synchronise reads old data.
class EmulatedStream : public Stream {
 public:
  explicit EmulatedStream(EmulatedDevice& device) : device_(device), worker_([this] { loop(); }) {}
  ~EmulatedStream() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    worker_.join();
  }
  void copy_to_device(DeviceAddress to, const void* from, int64_t bytes) override {
    device_.check(to, bytes, "copy to device");
    if (bytes > 0 && device_.owns(from)) failed("emulated device", "copy to device from a device pointer");
    if (bytes > 0) put([=] { std::memcpy(reinterpret_cast<void*>(to.value), from, static_cast<size_t>(bytes)); });
  }
  void copy_to_host(void* to, DeviceAddress from, int64_t bytes) override {
    device_.check(from, bytes, "copy to host");
    if (bytes > 0 && device_.owns(to)) failed("emulated device", "copy to host into a device pointer");
    if (bytes > 0) put([=] { std::memcpy(to, reinterpret_cast<const void*>(from.value), static_cast<size_t>(bytes)); });
  }
  void synchronize() override {
    ++device_.synchronizations_;
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return queue_.empty() && !busy_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  void put(std::function<void()> work) {
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    wake_.notify_all();
  }

 private:
  void loop() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stop_ || !queue_.empty(); });
        if (queue_.empty()) return;
        work = std::move(queue_.front());
        queue_.pop_front();
        busy_ = true;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      try {
        work();
      } catch (...) {
        std::lock_guard lock(mutex_);
        error_ = std::current_exception();
      }
      {
        std::lock_guard lock(mutex_);
        busy_ = false;
      }
      idle_.notify_all();
    }
  }
  EmulatedDevice& device_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> queue_;
  std::exception_ptr error_;
  bool stop_ = false, busy_ = false;
  std::thread worker_;
};

class EmulatedExecutable : public Executable {
 public:
  EmulatedExecutable(EmulatedDevice& device, std::shared_ptr<const Program> program, std::unique_ptr<Executable> inner)
      : Executable(std::move(program)), device_(device), inner_(std::move(inner)), segments_(segments_of(*program_, inner_->layout())) {}
  const ExecutableLayout& layout() const override { return inner_->layout(); }
  void submit(Stream& stream, const Submission& submission) override {
    ++device_.submissions_;
    device_.check(submission.weights, 1, "weights");
    for (size_t i = 0; i < submission.inputs.size(); ++i) device_.check(submission.inputs[i], 1, "input");
    for (const DeviceAddress& replayed : submission.replayed)
      if (replayed) device_.check(replayed, 1, "replayed decisions");
    if (submission.pages) device_.check(submission.pages, 1, "table of pages");
    static_cast<EmulatedStream&>(stream).put([this, submission] {
      cpu::run_on_cpu(*inner_, submission);
      expect_leaf_end();
    });
  }
  DeviceAddress address(int32_t operand) const override { return inner_->address(operand); }
  DeviceAddress status() const override { return inner_->status(); }
  DeviceAddress records() const override { return inner_->records(); }

 private:
  /// A submission asks for the host between two leaves only.
  void expect_leaf_end() const {
    const auto& status = *reinterpret_cast<const ExecutionStatus*>(inner_->status().value);
    if (status.code != ExecutionStatus::done && !begins_leaf(segments_, status.resume))
      failed("emulated device", "the host is asked for within a segment, before step " + std::to_string(status.resume));
  }
  EmulatedDevice& device_;
  std::unique_ptr<Executable> inner_;
  Segment segments_;
};

EmulatedDevice::EmulatedDevice(int threads) : team_(threads) {}
EmulatedDevice::~EmulatedDevice() = default;

DeviceInfo EmulatedDevice::info() const {
  return {"emulated", "emulated", team_.size(), cpu::kernels().product_bf16_rounds_x, cpu::bf16_rows()};
}
std::unique_ptr<DeviceBuffer> EmulatedDevice::allocate(int64_t bytes, const std::string&) {
  return std::make_unique<EmulatedBuffer>(*this, bytes);
}
void EmulatedDevice::forget(std::byte* from, int64_t bytes) {
  std::memset(from, kPoison, static_cast<size_t>(bytes));
  ++forgotten_;
}
std::unique_ptr<Stream> EmulatedDevice::create_stream() { return std::make_unique<EmulatedStream>(*this); }
std::unique_ptr<DeviceBuffer> EmulatedDevice::load_weight(const WeightKey& key, const WeightSource& source) {
  return cpu::load_cpu_weight(key, source, *this, team_);
}
void EmulatedDevice::load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) {
  check(to, cpu::cpu_weight_bytes(key, *source.find(key.tensor)), "load weight");
  // What lay there means nothing from now on: who reads it still, shows.
  std::memset(reinterpret_cast<void*>(to.value), kPoison, static_cast<size_t>(cpu::cpu_weight_bytes(key, *source.find(key.tensor))));
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  cpu::load_cpu_weight_to(key, source, reinterpret_cast<std::byte*>(to.value));
}
std::unique_ptr<Executable> EmulatedDevice::compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                                    const CompileOptions& options) {
  auto inner = cpu::compile_for_cpu(program, weights, options, *this, team_);
  return std::make_unique<EmulatedExecutable>(*this, std::move(program), std::move(inner));
}
ExecutableLayout EmulatedDevice::layout_of(std::shared_ptr<const Program> program, WeightStore& weights, const CompileOptions& options) {
  return cpu::layout_for_cpu(std::move(program), weights, options, team_);
}
void EmulatedDevice::check(DeviceAddress address, int64_t bytes, const char* what) const {
  std::lock_guard lock(mutex_);
  auto at = buffers_.upper_bound(address.value);
  if (at == buffers_.begin() || bytes < 0) failed("emulated device", std::string(what) + ": not a device address");
  --at;
  if (address.value + static_cast<uint64_t>(bytes) > at->first + static_cast<uint64_t>(at->second))
    failed("emulated device", std::string(what) + ": not a device address, or beyond its buffer");
}
bool EmulatedDevice::owns(const void* pointer) const {
  std::lock_guard lock(mutex_);
  auto at = buffers_.upper_bound(reinterpret_cast<uint64_t>(pointer));
  if (at == buffers_.begin()) return false;
  --at;
  return reinterpret_cast<uint64_t>(pointer) < at->first + static_cast<uint64_t>(at->second);
}

}  // namespace stormcell::testing
