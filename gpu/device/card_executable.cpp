#include "gpu/device/card_executable.h"

#include <cstring>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/graph/operator.h"
#include "core/runtime/shared_memory.h"
#include "gpu/device/card_kernels.h"

namespace stormcell::card {
namespace {

constexpr int64_t kBlockGrain = 64;

/// A graph under construction.
struct GraphDraft {
  explicit GraphDraft(const Card& of) : card(of) {
    card.must(card.calls().create_graph(card.index(), &handle), "cudaGraphCreate");
  }
  ~GraphDraft() { (void)card.calls().destroy_graph(card.index(), handle); }
  GraphDraft(const GraphDraft&) = delete;
  GraphDraft& operator=(const GraphDraft&) = delete;
  const Card& card;
  CardGraph handle = nullptr;
};

std::string text_of(const Program& program, const gpu::PlanNode& node) {
  std::string text = std::string(node.kernel_name);
  const NodeId of = node.step < 0 ? NodeId(kNone) : program.steps[node.step].node;
  if (of != kNone) text += " of " + node_text(program.graph->node(of));
  return text + ", " + std::to_string(node.blocks) + " blocks";
}

/// Arguments as the kernel gets them; empty: they are none of this kernel's.
std::vector<std::byte> completed_args(const gpu::PlanNode& node, DeviceAddress call) {
  bool fits = false;
  if (node.kernel >= 0 && node.kernel < kPlanKernels)
    with_kernel(node.kernel, [&]<class Kernel>() { fits = node.args.size() == sizeof(typename Kernel::Args); });
  if (!fits) return {};
  std::vector<std::byte> args = node.args;
  std::memcpy(args.data(), &call.value, sizeof call.value);
  return args;
}

}  // namespace

LaunchedGraph::LaunchedGraph(const Card& card, const Program& program, const gpu::Plan& plan, DeviceAddress call)
    : card_(card) {
  const GraphDraft graph(card);
  std::vector<CardNode> made(plan.nodes.size()), after;
  for (size_t n = 0; n < plan.nodes.size(); ++n) {
    const gpu::PlanNode& node = plan.nodes[n];
    const std::vector<std::byte> args = completed_args(node, call);
    if (args.empty()) failed(card.name(), "does not run " + text_of(program, node) + " yet", "use --device cpu");
    after.clear();
    for (const int32_t before : node.after) after.push_back(made[static_cast<size_t>(before)]);
    card.must(card.calls().add_node(card.index(), graph.handle, node.kernel, node.blocks, args.data(), after.data(),
                                    std::ssize(after), &made[n]),
              "cudaGraphAddKernelNode", "for " + text_of(program, node));
  }
  card.must(card.calls().instantiate(card.index(), graph.handle, &program_), "cudaGraphInstantiate",
            "of " + std::to_string(plan.nodes.size()) + " nodes");
}

LaunchedGraph::~LaunchedGraph() { (void)card_.calls().destroy_program(card_.index(), program_); }

CudaExecutable::CudaExecutable(Device& device, StreamParts& parts, std::shared_ptr<const Program> program,
                               gpu::Plan plan, const CompileOptions& options)
    : Executable(std::move(program)),
      parts_(parts),
      plan_(std::move(plan)),
      memory_(options.memory ? options.memory : std::make_shared<SharedMemory>(device)) {
  const ExecutableLayout& l = plan_.layout;
  if (l.segments.leaves.size() != 1)
    failed(parts_.card.name(), "does not run programs of several parts yet", "use --device cpu");
  memory_->reserve(SharedPart::activations, l.memory.arena_bytes + l.scratch_bytes);
  memory_->reserve(SharedPart::records, l.record_bytes);
  memory_->reserve(SharedPart::status, StatusArea::bytes(*program_, l.most_events));
  states_ = device.allocate(l.memory.state_bytes, "states");
  constants_ = device.allocate(std::ssize(plan_.constants), "constants");
  call_ = device.allocate(plan_.bytes.call, "call block");
  blocks_ = device.allocate_pinned(kCallBlocks * align_up(plan_.bytes.call, kBlockGrain), "call blocks");
  for (std::unique_ptr<CudaEvent>& event : copied_) event = std::make_unique<CudaEvent>(parts_.card);
  CudaStream stream(parts_);
  stream.copy_to_device(constants_->address(), plan_.constants.data(), std::ssize(plan_.constants));
  graph_ = std::make_unique<LaunchedGraph>(parts_.card, *program_, plan_, call_->address());
  const Card& card = parts_.card;
  // Not counted: it belongs to no execution.
  card.must(card.calls().synchronize(card.index(), stream.handle()), "cudaStreamSynchronize",
            "after the copy of " + std::to_string(plan_.constants.size()) + " bytes of constants");
  text_ = "a graph of " + std::to_string(plan_.nodes.size()) + " nodes over " +
          std::to_string(l.memory.arena_bytes + l.scratch_bytes) + " bytes of activations";
}

CudaExecutable::~CudaExecutable() = default;

std::byte* CudaExecutable::next_call_block() {
  const int at = turn_++ % kCallBlocks;
  CudaEvent& event = *copied_[static_cast<size_t>(at)];
  if (event.is_recorded) {
    const Card& card = parts_.card;
    card.must(card.calls().synchronize_event(card.index(), event.handle()), "cudaEventSynchronize",
              "before another call block");
  }
  return blocks_->data() + at * align_up(plan_.bytes.call, kBlockGrain);
}

void CudaExecutable::submit(Stream& stream, const Submission& submission) {
  const Card& card = parts_.card;
  if (submission.cancel) submission.cancel->check();
  for (const DeviceAddress& replayed : submission.replayed)
    if (replayed) failed(card.name(), "does not replay choices yet", "use --device cpu");
  if (submission.leaf != 0) failed(card.name(), "does not go on within a program yet", "use --device cpu");
  auto& on = static_cast<CudaStream&>(stream);
  const gpu::PlanMemory memory{memory_->address(SharedPart::activations), states_->address(), status(), records(),
                               constants_->address()};
  std::byte* block = next_call_block();
  CudaEvent& copied = *copied_[static_cast<size_t>((turn_ - 1) % kCallBlocks)];
  gpu::write_call(*program_, plan_, submission, memory, call_->address(),
                  {block, static_cast<size_t>(plan_.bytes.call)});
  on.copy_pinned_to_device(call_->address(), block, plan_.bytes.call);
  on.record(copied);
  on.tell_launch(text_);
  card.must(card.calls().launch_program(card.index(), graph_->handle(), on.handle()), "cudaGraphLaunch", "of " + text_);
}

DeviceAddress CudaExecutable::address(OperandId operand) const {
  const Operand& o = program_->operands[operand];
  const int64_t offset = plan_.layout.memory.offset[o.buffer];
  return (o.kind == BufferKind::state ? states_->address() : memory_->address(SharedPart::activations)) + offset;
}

DeviceAddress CudaExecutable::status() const { return memory_->address(SharedPart::status); }
DeviceAddress CudaExecutable::records() const { return memory_->address(SharedPart::records); }

}  // namespace stormcell::card
