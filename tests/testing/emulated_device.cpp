#include "tests/testing/emulated_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "core/base/error.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/graph/operator.h"

namespace stormcell::testing {

namespace {
thread_local const EmulatedDevice* within_segment_of = nullptr;

struct WithinSegment {
  explicit WithinSegment(const EmulatedDevice& device) { within_segment_of = &device; }
  ~WithinSegment() { within_segment_of = nullptr; }
  WithinSegment(const WithinSegment&) = delete;
  WithinSegment& operator=(const WithinSegment&) = delete;
};
}  // namespace

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
    device_.held_ += bytes_;
  }
  ~EmulatedBuffer() override {
    device_.held_ -= bytes_;
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

class EmulatedPinned : public PinnedBuffer {
 public:
  EmulatedPinned(EmulatedDevice& device, int64_t bytes)
      : device_(device), memory_(static_cast<size_t>(std::max<int64_t>(bytes, 1)) + 64) {
    const auto start = reinterpret_cast<uint64_t>(memory_.data());
    data_ = memory_.data() + (64 - start % 64) % 64;
    bytes_ = bytes;
    std::memset(memory_.data(), kPoison, memory_.size());
    std::lock_guard lock(device_.mutex_);
    device_.pinned_[reinterpret_cast<uint64_t>(data_)] = bytes;
  }
  ~EmulatedPinned() override {
    std::lock_guard lock(device_.mutex_);
    device_.pinned_.erase(reinterpret_cast<uint64_t>(data_));
  }
  std::byte* data() const override { return data_; }
  int64_t bytes() const override { return bytes_; }

 private:
  EmulatedDevice& device_;
  std::vector<std::byte> memory_;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

/// A place in the work of a stream: reached when all that was put there before is done.
struct Place {
  class EmulatedStream* stream = nullptr;
  bool reached = false;
  std::exception_ptr error;  // of what lies before it
};
struct EmulatedEvent : Event {
  std::shared_ptr<Place> place;  // where it was recorded last; null: never
};

// Work runs when its stream is synchronised, or another one that waits for it: as late as it can, so that who does not
// wait reads old data.
class EmulatedStream : public Stream {
 public:
  explicit EmulatedStream(EmulatedDevice& device) : device_(device) {
    std::lock_guard lock(device_.running_);
    device_.streams_.push_back(this);
  }
  // Work that nobody waited for never runs: its memory may be gone.
  ~EmulatedStream() override {
    std::lock_guard lock(device_.running_);
    std::erase(device_.streams_, this);
    for (const Item& item : queue_)
      if (item.reaches) item.reaches->reached = true;
  }
  void copy_to_device(DeviceAddress to, const void* from, int64_t bytes) override {
    ++device_.held_copies_;
    put_to_device(to, from, bytes);
  }
  void copy_to_host(void* to, DeviceAddress from, int64_t bytes) override {
    ++device_.held_copies_;
    put_to_host(to, from, bytes);
  }
  void copy_pinned_to_device(DeviceAddress to, const void* from, int64_t bytes) override {
    device_.check_pinned(from, bytes, "copy to device");
    put_to_device(to, from, bytes);
  }
  void copy_to_pinned(void* to, DeviceAddress from, int64_t bytes) override {
    device_.check_pinned(to, bytes, "copy to host");
    put_to_host(to, from, bytes);
  }
  void record(Event& event) override {
    device_.refuse_within_segment("an event");
    auto place = std::make_shared<Place>(Place{this, false, nullptr});
    static_cast<EmulatedEvent&>(event).place = place;
    put({{}, place, nullptr});
  }
  void wait(const Event& event) override {
    const std::shared_ptr<Place>& place = static_cast<const EmulatedEvent&>(event).place;
    device_.refuse_within_segment("a wait");
    if (!place) failed("emulated device", "a stream waits for an event that was never recorded");
    put({{}, nullptr, place});
  }
  void synchronize() override {
    device_.refuse_within_segment("a synchronisation");
    ++device_.synchronizations_;
    std::lock_guard lock(device_.running_);
    if (device_.order_ == StreamOrder::all_others_before) run_others();
    while (!queue_.empty()) {
      run_next();
      if (device_.order_ == StreamOrder::all_others_before) run_others();
    }
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  void put(std::function<void()> work) { put(Item{std::move(work), nullptr, nullptr}); }
  size_t waiting() const { return queue_.size(); }

 private:
  struct Item {
    std::function<void()> work;
    std::shared_ptr<Place> reaches, waits_for;
  };
  void put(Item item) {
    std::lock_guard lock(device_.running_);
    queue_.push_back(std::move(item));
  }
  void put_to_device(DeviceAddress to, const void* from, int64_t bytes) {
    device_.refuse_within_segment("a copy to the device");
    device_.check(to, bytes, "copy to device");
    if (bytes > 0 && device_.owns(from)) failed("emulated device", "copy to device from a device pointer");
    if (bytes > 0) put([=] { std::memcpy(reinterpret_cast<void*>(to.value), from, static_cast<size_t>(bytes)); });
  }
  void put_to_host(void* to, DeviceAddress from, int64_t bytes) {
    device_.refuse_within_segment("a copy to the host");
    device_.check(from, bytes, "copy to host");
    if (bytes > 0 && device_.owns(to)) failed("emulated device", "copy to host into a device pointer");
    if (bytes > 0) put([=] { std::memcpy(to, reinterpret_cast<const void*>(from.value), static_cast<size_t>(bytes)); });
  }
  bool is_held() const { return !queue_.empty() && queue_.front().waits_for && !queue_.front().waits_for->reached; }
  /// The first item; of a wait all that it waits for first. No circle: an event is waited for only once it was
  /// recorded.
  void run_next() {
    const Item item = std::move(queue_.front());
    queue_.pop_front();
    if (item.waits_for) {
      while (!item.waits_for->reached) item.waits_for->stream->run_next();
      if (item.waits_for->error) error_ = item.waits_for->error;
    }
    if (item.reaches) item.reaches->reached = true, item.reaches->error = error_;
    if (!item.work) return;
    try {
      item.work();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  void run_others() {
    for (bool some = true; some;) {
      some = false;
      for (EmulatedStream* other : device_.streams_)
        for (; other != this && !other->queue_.empty() && !other->is_held(); some = true) other->run_next();
    }
  }
  EmulatedDevice& device_;
  std::deque<Item> queue_;
  std::exception_ptr error_;
};

class EmulatedExecutable : public Executable {
 public:
  EmulatedExecutable(EmulatedDevice& device, std::shared_ptr<const Program> program, std::unique_ptr<Executable> inner)
      : Executable(std::move(program)), device_(device), inner_(std::move(inner)) {}
  const ExecutableLayout& layout() const override { return inner_->layout(); }
  void submit(Stream& stream, const Submission& submission) override {
    device_.refuse_within_segment("a submission");
    ++device_.submissions_;
    device_.check(submission.weights, 1, "weights");
    for (size_t i = 0; i < submission.inputs.size(); ++i) device_.check(submission.inputs[i], 1, "input");
    for (const DeviceAddress& replayed : submission.replayed)
      if (replayed) device_.check(replayed, 1, "replayed decisions");
    if (submission.pages) device_.check(submission.pages, 1, "table of pages");
    static_cast<EmulatedStream&>(stream).put([this, &stream, submission] {
      {
        const WithinSegment within(device_);
        inner_->submit(stream, submission);  // at once
      }
      expect_leaf_end();
    });
  }
  DeviceAddress address(OperandId operand) const override { return inner_->address(operand); }
  DeviceAddress status() const override { return inner_->status(); }
  DeviceAddress records() const override { return inner_->records(); }

 private:
  /// A submission asks for the host between two leaves only.
  void expect_leaf_end() const {
    const auto& status = *reinterpret_cast<const ExecutionStatus*>(inner_->status().value);
    if (!status.waits()) return;
    const std::vector<Leaf>& leaves = layout().segments.leaves;
    const auto leaf = static_cast<size_t>(status.leaf);
    if (status.leaf < 1 || leaf >= leaves.size())
      failed("emulated device", "the host is asked for before leaf " + std::to_string(status.leaf) + " of " +
                                    std::to_string(leaves.size()));
    const SegmentEnd before = leaves[leaf - 1].ends;
    const bool parts = before == SegmentEnd::route || leaves[leaf].ends == SegmentEnd::wave;
    const bool meant = status.code == ExecutionStatus::exchange ? before == SegmentEnd::exchange
                       : status.code == ExecutionStatus::turn   ? before == SegmentEnd::turn
                       : status.guard != kNone                  ? before == SegmentEnd::fallback
                                                                : parts;
    if (!meant)
      failed("emulated device",
             "the host is asked for before leaf " + std::to_string(status.leaf) + ", where nothing ends for that");
  }
  EmulatedDevice& device_;
  std::unique_ptr<Executable> inner_;
};

EmulatedDevice::EmulatedDevice(int threads, StreamOrder order) : team_(threads), order_(order) {}
EmulatedDevice::~EmulatedDevice() = default;

DeviceInfo EmulatedDevice::info() const {
  DeviceInfo info{.name = "emulated",
                  .backend = "emulated",
                  .threads = team_.size(),
                  .rounds_bf16_inputs = cpu::kernels().product_bf16_rounds_x,
                  .bf16_rows = cpu::bf16_rows(),
                  .formats = {DType::f32, DType::bf16},
                  .operators = cpu::operators_with_kernels(),
                  .keeps_bits = keeps_bits,
                  .host_threads = team_.size()};
  std::erase_if(info.operators, [&](std::string_view op) { return lacks.contains(op); });
  return info;
}
DeviceProbe EmulatedDevice::probe(const ProbeLimits&, const CancellationToken&) {
  return {100, 100, 10, "emulated", "made up"};
}
std::optional<int64_t> EmulatedDevice::free_bytes() const {
  return memory_limit ? std::optional(*memory_limit - held_) : std::nullopt;
}
std::unique_ptr<DeviceBuffer> EmulatedDevice::allocate(int64_t bytes, const std::string& what) {
  refuse_within_segment("an allocation");
  if (memory_limit && bytes > *memory_limit - held_)
    failed(what, "the emulated device has " + std::to_string(*memory_limit - held_) + " bytes left, got " +
                     std::to_string(bytes));
  return std::make_unique<EmulatedBuffer>(*this, bytes);
}
std::unique_ptr<PinnedBuffer> EmulatedDevice::allocate_pinned(int64_t bytes, const std::string&) {
  return std::make_unique<EmulatedPinned>(*this, bytes);
}
std::unique_ptr<Event> EmulatedDevice::create_event() { return std::make_unique<EmulatedEvent>(); }
void EmulatedDevice::put(Stream& stream, std::function<void()> work) {
  static_cast<EmulatedStream&>(stream).put(std::move(work));
}
int64_t EmulatedDevice::waiting() const {
  std::lock_guard lock(running_);
  size_t all = 0;
  for (const EmulatedStream* stream : streams_) all += stream->waiting();
  return static_cast<int64_t>(all);
}
void EmulatedDevice::refuse_within_segment(const char* what) const {
  if (within_segment_of == this) failed("emulated device", std::string(what) + " within a segment");
}
void EmulatedDevice::refuse_lacking(const Graph& graph) const {
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    if (lacks.contains(node.op->name))
      failed(node_text(node), "the emulated device has no kernel for " + std::string(node.op->name));
  });
}
void EmulatedDevice::forget(std::byte* from, int64_t bytes) {
  if (within_segment) within_segment();
  std::memset(from, kPoison, static_cast<size_t>(bytes));
  ++forgotten_;
}
std::unique_ptr<Stream> EmulatedDevice::create_stream() { return std::make_unique<EmulatedStream>(*this); }
std::unique_ptr<DeviceBuffer> EmulatedDevice::load_weight(const WeightKey& key, const WeightSource& source) {
  refuse_within_segment("a weight's loading");
  return cpu::load_cpu_weight(key, source, *this, team_);
}
void EmulatedDevice::load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) {
  check(to, cpu::cpu_weight_bytes(key, *source.find(key.tensor)), "load weight");
  // The bytes there mean nothing from now on: who reads it still, shows.
  std::memset(reinterpret_cast<void*>(to.value), kPoison,
              static_cast<size_t>(cpu::cpu_weight_bytes(key, *source.find(key.tensor))));
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  cpu::load_cpu_weight_to(key, source, reinterpret_cast<std::byte*>(to.value));
}
std::unique_ptr<Executable> EmulatedDevice::compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                                    const CompileOptions& options) {
  refuse_within_segment("a compilation");
  refuse_lacking(*program->graph);
  auto inner = cpu::compile_for_cpu(program, weights, options, *this, team_);
  return std::make_unique<EmulatedExecutable>(*this, std::move(program), std::move(inner));
}
ExecutableLayout EmulatedDevice::layout_of(std::shared_ptr<const Program> program, WeightStore& weights,
                                           const CompileOptions& options) {
  return cpu::layout_for_cpu(std::move(program), weights, options, team_);
}
bool EmulatedDevice::holds(const Buffers& buffers, uint64_t address, int64_t bytes) {
  const auto behind = buffers.upper_bound(address);
  if (behind == buffers.begin() || bytes < 0) return false;
  const auto at = std::prev(behind);
  return address + static_cast<uint64_t>(bytes) <= at->first + static_cast<uint64_t>(at->second);
}
void EmulatedDevice::check(DeviceAddress address, int64_t bytes, const char* what) const {
  std::lock_guard lock(mutex_);
  if (!holds(buffers_, address.value, bytes))
    failed("emulated device", std::string(what) + ": not a device address, or beyond its buffer");
}
bool EmulatedDevice::owns(const void* pointer) const {
  std::lock_guard lock(mutex_);
  return holds(buffers_, reinterpret_cast<uint64_t>(pointer), 1);
}
void EmulatedDevice::check_pinned(const void* pointer, int64_t bytes, const char* what) const {
  std::lock_guard lock(mutex_);
  if (!holds(pinned_, reinterpret_cast<uint64_t>(pointer), bytes))
    failed("emulated device",
           std::string(what) + ": the host's memory is not pinned, or the copy goes beyond its buffer");
}

}  // namespace stormcell::testing
