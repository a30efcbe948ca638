#include "tests/gpu/host_device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/graph/operator.h"
#include "core/runtime/lower.h"
#include "core/runtime/resume.h"
#include "core/runtime/shared_memory.h"
#include "gpu/plan/kernel_list.h"
#include "gpu/plan/kernel_rows.h"
#include "gpu/plan/missing.h"
#include "gpu/plan/weight_layouts.h"
#include "tests/gpu/host_thread.h"

namespace stormcell::testing {
namespace {

using gpu::ByteRange;
using gpu::Memory;
using gpu::Plan;
using gpu::PlanNode;

// A signalling pattern, as in the emulated device: as float a NaN, as index far out of range.
constexpr std::byte kPoison{0xff};
constexpr int32_t kMostTurns = 1000;

/// Runs one node; empty, or what went wrong.
std::string run_node(const PlanNode& node, const gpu::CallBlock* call, ThreadOrder order) {
  std::string wrong = "no kernel of that number";
  gpu::PlanKernels::with(node.kernel, [&]<class Kernel>() {
    typename Kernel::Args args;
    if (node.args.size() != sizeof args) return;
    std::memcpy(&args, node.args.data(), sizeof args);
    args.call = call;
    wrong = run_on_host<Kernel>(static_cast<int>(node.blocks), args, order);
  });
  return wrong;
}

/// The order of a loop's nodes: each behind those that it waits for. With a seed each node has a place in a drawn order
/// of precedence, so that any of them may come as late as its edges allow.
std::vector<int32_t> drawn_order(const std::vector<PlanNode>& nodes, int32_t leaf, int32_t loop,
                                 std::optional<uint64_t> seed) {
  std::vector<int32_t> precedence(nodes.size()), waits(nodes.size());
  std::iota(precedence.begin(), precedence.end(), 0);
  if (seed) std::shuffle(precedence.begin(), precedence.end(), std::mt19937_64(*seed));
  std::vector<std::vector<int32_t>> behind(nodes.size());
  std::set<std::pair<int32_t, int32_t>> ready;  // by precedence
  for (const int32_t n : gpu::nodes_of(nodes, leaf, loop)) {
    waits[n] = static_cast<int32_t>(nodes[n].after.size());
    for (const int32_t before : nodes[n].after) behind[before].push_back(n);
    if (waits[n] == 0) ready.emplace(precedence[n], n);
  }
  std::vector<int32_t> order;
  while (!ready.empty()) {
    order.push_back(ready.begin()->second);
    ready.erase(ready.begin());
    for (const int32_t next : behind[order.back()])
      if (--waits[next] == 0) ready.emplace(precedence[next], next);
  }
  return order;
}

/// Bytes of one kind of memory, and how a node may see them.
class WatchedMemory {
 public:
  WatchedMemory(std::byte* memory, int64_t bytes) : memory_(memory), bytes_(bytes) {}
  std::byte* at(int64_t offset) const { return memory_ + offset; }
  int64_t bytes() const { return bytes_; }

  /// Hides all but these ranges.
  void hide(const std::vector<ByteRange>& ranges, Memory which) {
    kept_.assign(memory_, memory_ + bytes_);
    written_ = joined(ranges, which, true);
    each_between(joined(ranges, which, false),
                 [&](int64_t begin, int64_t end) { std::fill(memory_ + begin, memory_ + end, kPoison); });
    shown_.assign(memory_, memory_ + bytes_);
  }
  /// Shows them again; the first byte that was written without leave, -1: none.
  int64_t show() {
    int64_t wrong = -1;
    each_between(written_, [&](int64_t begin, int64_t end) {
      const auto size = static_cast<size_t>(end - begin);
      if (wrong < 0 && std::memcmp(memory_ + begin, &shown_[begin], size) != 0)
        wrong = std::mismatch(memory_ + begin, memory_ + end, &shown_[begin]).first - memory_;
      std::memcpy(memory_ + begin, &kept_[begin], size);
    });
    return wrong;
  }

 private:
  using Range = std::pair<int64_t, int64_t>;  // begin and end

  /// Joins the ranges of this memory, ascending and apart; `written`: only those that are written.
  std::vector<Range> joined(const std::vector<ByteRange>& ranges, Memory which, bool written) const {
    std::vector<Range> own, all;
    for (const ByteRange& r : ranges)
      if (r.memory == which && r.begin < r.end && (r.writes || !written)) own.emplace_back(r.begin, r.end);
    std::sort(own.begin(), own.end());
    for (const auto& [begin, end] : own) {
      if (end > bytes_) failed("host device", "a range ends behind its memory");
      if (all.empty() || begin > all.back().second)
        all.emplace_back(begin, end);
      else
        all.back().second = std::max(all.back().second, end);
    }
    return all;
  }
  /// Visits what lies between the ranges, before the first and behind the last: whole stretches, as all bytes are looked
  /// at for each node.
  template <class Visit>
  void each_between(const std::vector<Range>& ranges, Visit visit) const {
    int64_t at = 0;
    for (const auto& [begin, end] : ranges) {
      if (at < begin) visit(at, begin);
      at = end;
    }
    if (at < bytes_) visit(at, bytes_);
  }

  std::byte* memory_;
  int64_t bytes_;
  std::vector<std::byte> kept_, shown_;  ///< before the node ran: all bytes, and what it was shown of them
  std::vector<Range> written_;           ///< what it may write
};

/// The lives of planned buffers, counted by the nodes that touch them: right in every order.
class NodeLives {
 public:
  NodeLives(const Program& program, const Plan& plan, const Bindings& bounds) : of_node_(plan.nodes.size()) {
    const MemoryPlan& memory = plan.layout.memory;
    for (const BufferId id : program.buffers.ids()) {
      const ProgramBuffer& b = program.buffers[id];
      if (b.kind != BufferKind::arena) continue;
      Life life;
      life.begin = memory.offset[id], life.end = life.begin + b.bytes.evaluate(bounds);
      life.stays = memory.last[id] >= std::ssize(program.steps);
      life.loop = loop_of(plan, b.first, memory.last[id]);
      for (size_t n = 0; n < plan.nodes.size(); ++n)
        if (plan.nodes[n].loop == life.loop && touches(plan.nodes[n], life, b.first, memory.last[id])) {
          of_node_[n].push_back(lives_.size());
          ++life.touches;
        }
      lives_.push_back(life);
    }
    left_.resize(lives_.size());
  }
  /// A turn of a loop; -1: a submission.
  void begin_anew(int32_t loop) {
    for (size_t i = 0; i < lives_.size(); ++i)
      if (lives_[i].loop == loop) left_[i] = lives_[i].touches;
  }
  void before(size_t node, const WatchedMemory& arena) const {
    for (const size_t i : of_node_[node])
      if (left_[i] == lives_[i].touches) poison(lives_[i], arena);
  }
  void after(size_t node, const WatchedMemory& arena) {
    for (const size_t i : of_node_[node])
      if (--left_[i] == 0 && !lives_[i].stays) poison(lives_[i], arena);
  }

 private:
  struct Life {
    int64_t begin = 0, end = 0;
    int32_t touches = 0;
    int32_t loop = -1;   ///< within whose turns it lies
    bool stays = false;  ///< an output, which is read when all is done
  };
  static int32_t loop_of(const Plan& plan, int32_t first, int32_t last) {
    int32_t inner = -1;
    for (int32_t i = 0; i < std::ssize(plan.loops); ++i)
      if (plan.loops[i].first_step < first && last <= plan.loops[i].last_step) inner = i;
    return inner;
  }
  static bool touches(const PlanNode& node, const Life& life, int32_t first, int32_t last) {
    if (node.step < first || node.step > last) return false;
    return std::any_of(node.ranges.begin(), node.ranges.end(), [&](const ByteRange& r) {
      return r.memory == Memory::activations && r.begin < life.end && life.begin < r.end;
    });
  }
  static void poison(const Life& life, const WatchedMemory& arena) {
    std::fill(arena.at(life.begin), arena.at(life.end), kPoison);
  }
  std::vector<Life> lives_;
  std::vector<std::vector<size_t>> of_node_;  // lives that a node touches
  std::vector<int32_t> left_;                 // touches to come, by life
};

}  // namespace

class HostExecutable : public Executable {
 public:
  HostExecutable(HostDevice& device, std::shared_ptr<const Program> program, std::shared_ptr<const Plan> plan,
                 const CompileOptions& options)
      : Executable(std::move(program)),
        device_(device),
        plan_(std::move(plan)),
        bounds_(options.bounds),
        lives_(*program_, *plan_, options.bounds),
        memory_(options.memory ? options.memory : std::make_shared<SharedMemory>(device)) {
    const ExecutableLayout& l = plan_->layout;
    memory_->reserve(SharedPart::activations, l.memory.arena_bytes + l.scratch_bytes);
    memory_->reserve(SharedPart::records, l.record_bytes);
    memory_->reserve(SharedPart::status, StatusArea::bytes(*program_, l.most_events));
    states_ = device.allocate(l.memory.state_bytes, "states");
    constants_ = device.allocate(std::ssize(plan_->constants), "constants");
    std::memcpy(pointer(constants_->address()), plan_->constants.data(), plan_->constants.size());
    call_ = device.allocate(plan_->bytes.call, "call block");
  }
  const ExecutableLayout& layout() const override { return plan_->layout; }
  void submit(Stream& stream, const Submission& submission) override {
    EmulatedDevice::put(stream, [this, submission] { run(submission); });
  }
  DeviceAddress address(OperandId operand) const override {
    const Operand& o = program_->operands[operand];
    const int64_t offset = plan_->layout.memory.offset[o.buffer];
    return (o.kind == BufferKind::state ? states_->address() : memory_->address(SharedPart::activations)) + offset;
  }
  DeviceAddress status() const override { return memory_->address(SharedPart::status); }
  DeviceAddress records() const override { return memory_->address(SharedPart::records); }

 private:
  static std::byte* pointer(DeviceAddress address) { return reinterpret_cast<std::byte*>(address.value); }

  void run(const Submission& submission) {
    const ExecutableLayout& l = plan_->layout;
    const gpu::PlanMemory memory{memory_->address(SharedPart::activations), states_->address(), status(), records(),
                                 constants_->address()};
    std::vector<std::byte> block(static_cast<size_t>(plan_->bytes.call));
    gpu::write_call(*program_, *plan_, submission, memory, call_->address(), block);
    std::memcpy(pointer(call_->address()), block.data(), block.size());
    std::byte* activations = pointer(memory.activations);
    std::array<WatchedMemory, gpu::kMemories> watched{
        WatchedMemory(activations, l.memory.arena_bytes),
        WatchedMemory(pointer(memory.states), l.memory.state_bytes),
        WatchedMemory(pointer(memory.status), StatusArea::bytes(*program_)),
        WatchedMemory(pointer(memory.records), l.record_bytes),
        WatchedMemory(activations + l.memory.arena_bytes, plan_->bytes.control),
        WatchedMemory(nullptr, 0)};
    const StatusArea area(pointer(status()), *program_);
    if (submission.leaf != 0) {
      go_on(*program_, l.segments, submission, area);
    } else {
      // Nothing of the batch before is there; states alone outlive it.
      for (const Memory which : {Memory::activations, Memory::control, Memory::records})
        std::fill_n(watched[static_cast<size_t>(which)].at(0), watched[static_cast<size_t>(which)].bytes(), kPoison);
      lives_.begin_anew(-1);
      begun_.assign(plan_->nodes.size(), false);
    }
    for (int32_t leaf = submission.leaf; leaf < std::ssize(l.segments.leaves); ++leaf) run_loop(leaf, -1, watched);
    if (area.status->code == ExecutionStatus::done) check_counts(submission);
  }

  using Watched = std::array<WatchedMemory, gpu::kMemories>;

  /// The nodes of a loop once; -1: of none, in a leaf.
  void run_loop(int32_t leaf, int32_t loop, Watched& watched) {
    std::optional<uint64_t> seed;
    if (device_.order_seed > 0) seed = device_.order_seed + static_cast<uint64_t>(device_.orders_++);
    if (loop >= 0) lives_.begin_anew(loop);
    // A leaf that runs again keeps what its steps read and what they have written so far.
    const bool is_wave = plan_->layout.segments.leaves[leaf].ends == SegmentEnd::wave;
    const auto is_done = [&] { return StatusArea(pointer(status()), *program_).status->code == ExecutionStatus::done; };
    const std::vector<int32_t> order = drawn_order(plan_->nodes, leaf, loop, seed);
    for (const int32_t n : order) {
      const PlanNode& node = plan_->nodes[n];
      // Behind the end of a submission kernels do nothing, and may run again.
      const bool counts = is_done() || node.step < 0;
      if (counts && !(is_wave && begun_[n])) lives_.before(static_cast<size_t>(n), watched[0]);
      if (counts) begun_[n] = true;
      if (node.runs >= 0)
        run_turns(node.runs, watched);
      else
        run_isolated(node, watched, seed ? ThreadOrder::shuffled : ThreadOrder::ascending);
      if (counts && !is_wave) lives_.after(static_cast<size_t>(n), watched[0]);
    }
    for (const int32_t n : order)
      if (is_wave && is_done()) lives_.after(static_cast<size_t>(n), watched[0]);
  }
  void run_turns(int32_t loop, Watched& watched) {
    const std::byte* again = watched[static_cast<size_t>(Memory::control)].at(plan_->loops[loop].word);
    const auto is_due = [&] { return *reinterpret_cast<const int32_t*>(again) != 0; };
    for (int32_t turn = 0; is_due(); ++turn) {
      if (turn == kMostTurns) failed("host device", "a loop has no end");
      run_loop(plan_->nodes[plan_->loops[loop].node].leaf, loop, watched);
    }
  }

  void run_isolated(const PlanNode& node, Watched& watched, ThreadOrder order) {
    const auto each = [&](auto&& visit) {
      for (size_t which = 0; device_.isolates && which < watched.size(); ++which)
        visit(watched[which], static_cast<Memory>(which));
    };
    // Whether a kernel failed every node may ask.
    std::vector<ByteRange> seen{{Memory::status, 0, sizeof(int32_t)}};
    for (const ByteRange& range : node.ranges)
      if (range.memory != Memory::pages) seen.push_back(of_submission(range, watched[0]));
    each([&](WatchedMemory& memory, Memory which) { memory.hide(seen, which); });
    const std::string wrong = run_node(node, reinterpret_cast<const gpu::CallBlock*>(pointer(call_->address())), order);
    if (!wrong.empty()) failed(name(node), wrong);
    each([&](WatchedMemory& memory, Memory which) {
      if (const int64_t at = memory.show(); at >= 0)
        failed(name(node), "wrote byte " + std::to_string(at) + " of memory " +
                               std::to_string(static_cast<int>(which)) + ", which it did not declare");
    });
  }
  /// A slice is as long as its branch's rows in this submission: the device knows, the plan does not.
  ByteRange of_submission(ByteRange range, const WatchedMemory& arena) const {
    if (range.branch < 0) return range;
    const Operand& o = program_->operands[OperandId(range.decision)];
    const DecisionView d = decision_view(arena.at(plan_->layout.memory.offset[o.buffer]),
                                         {program_->dims[o.decision_cells].evaluate(bounds_), o.fan_out, o.branches});
    const int64_t begin = range.begin + int64_t{d.offsets[range.branch]} * range.row_bytes,
                  end = range.begin + int64_t{d.offsets[range.branch + 1]} * range.row_bytes;
    range.begin = std::clamp(begin, range.begin, range.end);
    range.end = std::clamp(end, range.begin, range.end);
    return range;
  }
  /// A region that is not cleared runs what a branch without cells holds: nothing happens but that it is counted.
  void check_counts(const Submission& submission) const {
    const StatusArea area(pointer(status()), *program_);
    for (const RouterId r : program_->routers.ids())
      if (area.executions[r] > program_->dims[program_->routers[r].executions].evaluate(submission.bindings))
        failed("host device", "router " + program_->routers[r].name + " counted more executions than there are");
  }
  std::string name(const PlanNode& node) const {
    std::string text = "host device, " + std::string(node.kernel_name);
    const NodeId of = node.step < 0 ? NodeId(kNone) : program_->steps[node.step].node;
    return of == kNone ? text : text + " of " + node_text(program_->graph->node(of));
  }

  HostDevice& device_;
  std::shared_ptr<const Plan> plan_;
  Bindings bounds_;
  NodeLives lives_;
  std::vector<bool> begun_;  // by node of this batch
  std::shared_ptr<SharedMemory> memory_;
  std::unique_ptr<DeviceBuffer> states_, constants_, call_;
};

HostDevice::HostDevice() : EmulatedDevice(1) {}

DeviceInfo HostDevice::info() const {
  return {.name = "CUDA plans on the host",
          .backend = "host",
          .threads = 1,
          .rounds_bf16_inputs = true,
          .bf16_rows = gpu::planned_bf16_rows(),
          .formats = {DType::f32, DType::bf16},
          .operators = gpu::planned_operators(),
          .keeps_bits = false,
          .host_threads = 1};
}
int64_t HostDevice::weight_bytes(const WeightKey& key, const WeightInfo& info) const {
  return gpu::planned_weight_bytes(key, info);
}
std::unique_ptr<DeviceBuffer> HostDevice::load_weight(const WeightKey& key, const WeightSource& source) {
  const WeightInfo* info = source.find(key.tensor);
  if (!info) failed("weights", "no tensor " + key.tensor);
  auto buffer = allocate(weight_bytes(key, *info), key.tensor);
  load_weight_to(key, source, buffer->address());
  return buffer;
}
void HostDevice::load_weight_to(const WeightKey& key, const WeightSource& source, DeviceAddress to) {
  check(to, weight_bytes(key, *source.find(key.tensor)), "load weight");
  gpu::write_planned_weight(key, source, reinterpret_cast<std::byte*>(to.value));
}
std::unique_ptr<Executable> HostDevice::compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                                const CompileOptions& options) {
  auto plan = std::make_shared<Plan>(gpu::make_plan(*program, weights, options, plan_options));
  if (tamper) tamper(*plan);
  plan_ = plan;
  return std::make_unique<HostExecutable>(*this, std::move(program), std::move(plan), options);
}
std::string HostDevice::refusal_of(const Graph& graph, std::shared_ptr<const WeightSource> weights,
                                   const Bindings& bounds) {
  WeightStore store(*this, std::move(weights));
  const Program program = lower(std::make_shared<Graph>(graph));
  try {
    gpu::make_plan(program, store, {bounds}, plan_options);
  } catch (const Error& e) {
    if (!gpu::missing_of(e.what())) throw;
    return e.what();
  }
  return {};
}
ExecutableLayout HostDevice::layout_of(std::shared_ptr<const Program> program, WeightStore& weights,
                                       const CompileOptions& options) {
  return gpu::make_plan(*program, weights, options, plan_options).layout;
}

}  // namespace stormcell::testing
