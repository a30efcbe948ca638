// A device executes programs. Everything is asynchronous: work is put on a stream, and only an explicit, counted
// synchronisation waits for it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/id_vector.h"
#include "core/base/progress.h"
#include "core/runtime/bf16_rows.h"
#include "core/runtime/device_probe.h"
#include "core/runtime/memory_plan.h"
#include "core/runtime/part_site.h"
#include "core/runtime/record_area.h"
#include "core/runtime/segments.h"
#include "core/runtime/status_area.h"
#include "core/runtime/stream.h"
#include "core/weights/weight_source.h"

namespace stormcell {

/// Device memory that is freed with its handle. Aligned to 64 bytes at least.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  virtual DeviceAddress address() const = 0;
  virtual int64_t bytes() const = 0;
};

/// How a device wants a weight: which tensor, in which layout and number format.
struct WeightKey {
  std::string tensor;
  std::string layout;  ///< a word of the device's own
  DType dtype = DType::f32;
  auto operator<=>(const WeightKey&) const = default;
};

class WeightStore;
class Executable;
class SharedMemory;
class StateStore;
class Communicator;

struct CompileOptions {
  Bindings bounds;      ///< largest value of each symbol: memory is planned for it
  bool scores = false;  ///< records also keep the scores that routers decide by
  /// shared with plans that never run at the same time; null: memory of its own
  std::shared_ptr<SharedMemory> memory = nullptr;
  std::shared_ptr<StateStore> states = nullptr;  ///< has the plan's sequences; null: a store of its own
  /// of a rank of a distributed plan, which must outlive it: how it meets the others
  Communicator* communicator = nullptr;
  SentRows rows = SentRows::lent;
  /// Submissions end before each turn of a repeat, so that the host sees what the turn before it wrote. A device that
  /// cannot leave a repeat ignores it: its layout says so.
  bool end_turns = false;
};

struct DeviceInfo {
  std::string name;     ///< name of the processor: "Intel(R) Xeon(R) Processor"
  std::string backend;  ///< "cpu", "cuda"
  int threads = 1;
  bool rounds_bf16_inputs = false;  ///< products with bf16 weights round their input to bf16
  Bf16Rows bf16_rows = {};
  std::vector<DType> formats = {};  ///< formats that weights of products may have
  /// Names of the operators that have a kernel, never empty. Guards and repeats need none: a program has steps for
  /// them. Passes make no operator that is missing here.
  std::vector<std::string_view> operators = {};
  /// True: the bits of a result depend neither on how a plan is cut into steps nor on how many rows a step gets. False:
  /// sums may run in another order, so a plan beside its baseline is held to the tolerance of the number format.
  bool keeps_bits = false;
  /// host threads for the device's user: the oracle, and all other work that is no plan
  int host_threads = 1;
};

/// Limits of a probe. Each figure is of the fastest of at least two runs; with less time they are less sure.
struct ProbeLimits {
  int64_t bytes = int64_t{512} << 20;  ///< bytes of the device's memory
  double seconds = 0.1;                ///< seconds for each figure
};

/// Needs of an executable, known before anything is allocated: its memory, the weights it reads, room for its records.
struct ExecutableLayout {
  MemoryPlan memory;
  int64_t scratch_bytes = 0, record_bytes = 0;
  // Weight handles, but those of parts under a budget:
  std::vector<WeightHandle> always;                   ///< weights that must be loaded before a submission
  IdVector<GuardId, std::vector<WeightHandle>> lazy;  ///< weights that its fallback reads, and nothing but fallbacks
  std::vector<PartSite> sites;                        ///< under a budget, ascending: steps that read parts
  bool ends_turns = false;                            ///< as CompileOptions::end_turns asked
  SegmentTree segments;
  int32_t most_events = 0;  ///< room for events behind the status
  IdVector<RouterId, RecordLayout> records;
  /// Bytes that an executable of this layout takes beside its weights and inputs.
  int64_t bytes() const;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  /// Bytes that allocate() can still give; nothing: the device takes its memory from the host's, and the host says how
  /// much there is.
  virtual std::optional<int64_t> free_bytes() const = 0;
  virtual std::unique_ptr<DeviceBuffer> allocate(int64_t bytes, const std::string& what) = 0;
  virtual std::unique_ptr<PinnedBuffer> allocate_pinned(int64_t bytes, const std::string& what) = 0;
  /// Copies from and to any memory of the host are done when their call returns, as the host's own are: pinned memory
  /// gains nothing.
  virtual bool copies_at_once() const { return false; }
  virtual std::unique_ptr<Stream> create_stream() = 0;
  virtual std::unique_ptr<Event> create_event() = 0;
  /// Measures what it can do at most, with nothing else running on it. Ends early where `cancel` is raised: the figures
  /// are worth nothing then.
  virtual DeviceProbe probe(const ProbeLimits& limits, const CancellationToken& cancel) = 0;
  /// Bytes that load_weight() will take for a weight of this source: in the layout and number format of the key,
  /// padding included.
  virtual int64_t weight_bytes(const WeightKey& key, const WeightInfo& info) const = 0;
  /// Brings one weight into the device's memory in the layout the key names.
  virtual std::unique_ptr<DeviceBuffer> load_weight(const WeightKey& key, const WeightSource& source) = 0;
  /// The same into device memory of weight_bytes() bytes. Works on the calling thread alone, and may be called by
  /// several at once, while submissions run that do not use the memory.
  virtual void load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) = 0;
  /// Turns a program into something to submit; requests its weights from the store, loading none.
  virtual std::unique_ptr<Executable> compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                              const CompileOptions& options) = 0;
  /// The layout that compile() would make, with nothing allocated. Requests the program's weights from the store as
  /// compile() does.
  virtual ExecutableLayout layout_of(std::shared_ptr<const Program> program, WeightStore& weights,
                                     const CompileOptions& options) = 0;
  /// Synchronisations since the device was made.
  virtual int64_t synchronizations() const = 0;
};

struct Submission {
  Bindings bindings;                  ///< value of each symbol, at most its bound
  std::vector<DeviceAddress> inputs;  ///< in the order of Program::inputs
  /// Choices to replay, [executions][cells of its dense space, fan_out] (of the decision's own space where no row names
  /// a cell: ProgramRouter::by_row), kNotRecorded where there is none; none where 0; may be empty. A router that
  /// decides leaves what it would have chosen freely in place of what it replayed: so a replay can be judged, and a
  /// free execution pays nothing for that.
  IdVector<RouterId, DeviceAddress> replayed;
  /// Addresses of pages [states][sequences][pages_of_sequence] if the program has states in pages; 0 where a sequence
  /// has none.
  DeviceAddress pages;
  int64_t pages_of_sequence = 0;
  bool record = false, events = false;
  /// Leaf of layout().segments to begin with. 0 begins anew. Any other goes on where the last submission ended, as its
  /// status said: in this leaf, at these turns of the repeats around it. A device keeps nothing else of a submission
  /// but what lies in its memory; it refuses, as Error(failed) when the stream runs, a leaf or a turn that it does not
  /// wait at.
  int32_t leaf = 0;
  IdVector<RepeatId, int32_t> turns;  ///< those around the leaf are read; none: all 0
  DeviceAddress weights;              ///< WeightTable's addresses, by handle; they hold until the submission is done
  /// Polled between steps and within long ones where the device can: the submission ends early then, with the token's
  /// Error.
  const CancellationToken* cancel = nullptr;
};

class Executable {
 public:
  virtual ~Executable() = default;
  virtual const ExecutableLayout& layout() const = 0;
  /// Puts one execution on the stream. Nothing is allocated, nothing synchronised. A step that its data makes
  /// impossible ends it with ExecutionStatus::failed; nothing is thrown for that.
  virtual void submit(Stream& stream, const Submission& submission) = 0;
  /// Address of an operand that is not routed. Like status() and records(), it holds until another plan of the same
  /// SharedMemory is compiled or runs.
  virtual DeviceAddress address(OperandId operand) const = 0;
  virtual DeviceAddress status() const = 0;   ///< address of a StatusArea
  virtual DeviceAddress records() const = 0;  ///< laid out as layout().records say
  const Program& program() const { return *program_; }

 protected:
  explicit Executable(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

}  // namespace stormcell
