// A second device for the tests: what runs on it without a host synchronisation will run so on a GPU. Its memory is its
// own (poisoned when handed out and, buffer by buffer, before and after the life that was planned for it, out of reach
// of plain pointers handed in by mistake), work of the host is refused within a segment, its streams run later and in
// the order that a missing wait cannot bear, its synchronisations are counted, copies that hold nobody up refuse memory
// that is not pinned, and its results are bit for bit those of the CPU kernels, because it runs them. A test may let it
// say less of itself: operators that it lacks, bits that it does not keep, a limit of its memory.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "core/cpu/weight_layouts.h"

namespace stormcell::testing {

/// Nothing runs before a stream is synchronised. What else runs then is what a device may do at the worst: a program
/// that waits for everything it needs computes the same in both orders, one that does not is wrong in one of them.
enum class StreamOrder : uint8_t {
  only_what_is_waited_for,  ///< other streams stand still but for what this one waits for: shows a read that comes too
                            ///< early
  all_others_before,  ///< other streams run as far as their own waits let them: shows a write that comes too early
};

class EmulatedDevice : public Device, private cpu::MemorySpace {
 public:
  explicit EmulatedDevice(int threads, StreamOrder order = StreamOrder::only_what_is_waited_for);
  ~EmulatedDevice() override;
  DeviceInfo info() const override;
  std::optional<int64_t> free_bytes() const override;
  std::unique_ptr<DeviceBuffer> allocate(int64_t bytes, const std::string& what) override;
  std::unique_ptr<PinnedBuffer> allocate_pinned(int64_t bytes, const std::string& what) override;
  std::unique_ptr<Stream> create_stream() override;
  std::unique_ptr<Event> create_event() override;
  /// Made up, and the same each time: nothing to measure on what does not exist.
  DeviceProbe probe(const ProbeLimits& limits, const CancellationToken& cancel) override;
  int64_t weight_bytes(const WeightKey& key, const WeightInfo& info) const override {
    return cpu::cpu_weight_bytes(key, info);
  }
  ExecutableLayout layout_of(std::shared_ptr<const Program> program, WeightStore& weights,
                             const CompileOptions& options) override;
  std::unique_ptr<DeviceBuffer> load_weight(const WeightKey& key, const WeightSource& source) override;
  void load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) override;
  std::unique_ptr<Executable> compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                      const CompileOptions& options) override;
  int64_t synchronizations() const override { return synchronizations_; }

  bool keeps_bits = true;  ///< as it says of itself
  /// The size of its own memory: an allocation beyond it is an Error(failed). Nothing: it shares the host's.
  std::optional<int64_t> memory_limit;
  /// operators that it has no kernel for: it refuses to compile them, as Error(failed)
  std::set<std::string_view> lacks;

  /// Called within segments, whenever a buffer's life begins or ends there: for what a test wants to see refused.
  std::function<void()> within_segment;
  /// Queues what a kernel of the test's own would do, on a stream of an emulated device.
  static void put(Stream& stream, std::function<void()> work);
  /// Submissions put on streams so far.
  int64_t submissions() const { return submissions_; }
  /// Work that was put on streams and has not run: while there is some the host's memory has to stay.
  int64_t waiting() const;
  /// Copies put on streams that may hold the calling thread: from and to memory that is not pinned.
  int64_t held_copies() const { return held_copies_; }
  /// Buffers poisoned because their planned life began or ended.
  int64_t forgotten() const { return forgotten_; }
  /// Throws Error when [address, address + bytes) is not inside one of this device's buffers.
  void check(DeviceAddress address, int64_t bytes, const char* what) const;
  /// True when a host pointer lies in device memory: the host must never hold one.
  bool owns(const void* pointer) const;
  /// Throws Error when [pointer, pointer + bytes) is not inside one of this device's pinned buffers.
  void check_pinned(const void* pointer, int64_t bytes, const char* what) const;

 private:
  bool watches() const override { return true; }
  void forget(std::byte* from, int64_t bytes) override;
  /// Throws Error where this thread runs a segment: what asks for the host ends one.
  void refuse_within_segment(const char* what) const;
  void refuse_lacking(const Graph& graph) const;
  friend class EmulatedStream;
  friend class EmulatedBuffer;
  friend class EmulatedPinned;
  friend class EmulatedExecutable;
  using Buffers = std::map<uint64_t, int64_t>;  // start -> bytes
  /// True if one of the buffers holds them all.
  static bool holds(const Buffers& buffers, uint64_t address, int64_t bytes);
  ThreadTeam team_;
  StreamOrder order_;
  mutable std::mutex mutex_;  // of the buffers
  Buffers buffers_, pinned_;
  mutable std::mutex running_;  // of all streams: one thing runs at a time
  std::vector<class EmulatedStream*> streams_;
  std::atomic<int64_t> synchronizations_{0}, submissions_{0}, held_copies_{0}, forgotten_{0},
      held_{0};  // held: bytes of buffers
};

}  // namespace stormcell::testing
