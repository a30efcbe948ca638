#include "gpu/device/card_executable.h"

#include <algorithm>
#include <cstring>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/graph/operator.h"
#include "core/runtime/shared_memory.h"
#include "core/runtime/status_area.h"
#include "gpu/device/card_kernels.h"

namespace stormcell::card {
namespace {

constexpr int64_t kBlockGrain = 64;

std::string text_of(const Program& program, const gpu::PlanNode& node) {
  std::string text = std::string(node.kernel_name);
  const NodeId of = node.step < 0 ? NodeId(kNone) : program.steps[node.step].node;
  if (of != kNone) text += " of " + node_text(program.graph->node(of));
  return text + ", " + std::to_string(node.blocks) + " blocks";
}

/// Arguments as the kernel gets them; empty: they do not belong to this kernel.
std::vector<std::byte> completed_args(const gpu::PlanNode& node, DeviceAddress call) {
  bool fits = false;
  if (node.kernel >= 0 && node.kernel < kPlanKernels)
    with_kernel(node.kernel, [&]<class Kernel>() { fits = node.args.size() == sizeof(typename Kernel::Args); });
  if (!fits) return {};
  std::vector<std::byte> args = node.args;
  std::memcpy(args.data(), &call.value, sizeof call.value);
  return args;
}

/// Makes the nodes of a leaf.
class NodeMaker {
 public:
  NodeMaker(const Card& card, const Program& program, const gpu::Plan& plan, int32_t leaf, DeviceAddress call)
      : card_(card), program_(program), plan_(plan), leaf_(leaf), call_(call), made_(plan.nodes.size()) {}

  /// Adds the nodes of a loop to the graph of its body; -1: nodes outside of loops.
  void add_all(CardGraph graph, int32_t loop) {
    for (const int32_t n : gpu::nodes_of(plan_.nodes, leaf_, loop)) {
      const gpu::PlanNode& node = plan_.nodes[n];
      std::vector<CardNode> after;
      for (const int32_t before : node.after) after.push_back(made_[before]);
      if (node.runs >= 0)
        made_[n] = add_loop(graph, node, after);
      else
        made_[n] = add_kernel(graph, node, after);
    }
  }

 private:
  CardNode add_kernel(CardGraph graph, const gpu::PlanNode& node, const std::vector<CardNode>& after) const {
    const std::vector<std::byte> args = completed_args(node, call_);
    if (args.empty()) failed(card_.name(), "does not run " + text_of(program_, node) + " yet", "use --device cpu");
    return add(graph, node.kernel, node.blocks, args.data(), after, text_of(program_, node));
  }
  CardNode add(CardGraph graph, int32_t kernel, int64_t blocks, const void* args, const std::vector<CardNode>& after,
               const std::string& text) const {
    CardNode made = nullptr;
    card_.must(
        card_.calls().add_node(card_.index(), graph, kernel, blocks, args, after.data(), std::ssize(after), &made),
        "cudaGraphAddKernelNode", "for " + text);
    return made;
  }
  /// The condition is given before the loop, behind whatever the loop waits for, and behind the last node of the body.
  CardNode add_loop(CardGraph graph, const gpu::PlanNode& node, const std::vector<CardNode>& after) {
    const std::string text = text_of(program_, node);
    const gpu::PlanLoop& loop = plan_.loops[node.runs];
    ConditionArgs condition{reinterpret_cast<const gpu::CallBlock*>(call_.value), 0, loop.word};
    card_.must(card_.calls().create_condition(card_.index(), graph, &condition.condition),
               "cudaGraphConditionalHandleCreate", "for " + text);
    const auto give = [&](CardGraph to, const std::vector<CardNode>& behind) {
      return add(to, kPlaceOf<ConditionKernel>, 1, &condition, behind, "the condition of " + text);
    };
    const CardNode given = give(graph, after);
    CardNode made = nullptr;
    CardGraph body = nullptr;
    card_.must(card_.calls().add_loop(card_.index(), graph, condition.condition, &given, 1, &made, &body),
               "cudaGraphAddNode", "for " + text);
    add_all(body, node.runs);
    give(body, {made_[loop.end - 1]});
    return made;
  }

  const Card& card_;
  const Program& program_;
  const gpu::Plan& plan_;
  int32_t leaf_;
  DeviceAddress call_;
  std::vector<CardNode> made_;  // by node of the plan
};

/// Lets a submission go on at a leaf.
ResumeArgs resume_args(DeviceAddress status, int32_t leaf) {
  const ExecutionStatus s;
  const auto place = [&](const auto& part) {
    return static_cast<int32_t>(reinterpret_cast<const std::byte*>(&part) - reinterpret_cast<const std::byte*>(&s));
  };
  ResumeArgs args;
  args.status = reinterpret_cast<char*>(status.value), args.leaf = leaf;
  args.code_at = place(s.code), args.leaf_at = place(s.leaf);
  args.what_at = place(s.failure.what), args.node_at = place(s.failure.node);
  args.at_at = place(s.failure.at), args.got_at = place(s.failure.got);
  args.done = ExecutionStatus::done, args.waits = ExecutionStatus::needs_weights;
  args.failed = ExecutionStatus::failed, args.elsewhere = StepFailure::elsewhere;
  return args;
}

}  // namespace

NodeGraph::NodeGraph(const Card& card) : card_(card) {
  card_.must(card_.calls().create_graph(card_.index(), &handle_), "cudaGraphCreate");
}

NodeGraph::~NodeGraph() { (void)card_.calls().destroy_graph(card_.index(), handle_); }

LaunchedGraph::LaunchedGraph(const Card& card, const Program& program, const gpu::Plan& plan, int32_t leaf,
                             DeviceAddress call)
    : card_(card), graph_(card) {
  NodeMaker(card, program, plan, leaf, call).add_all(graph_.handle(), -1);
  text_ = "a graph of " +
          std::to_string(std::count_if(plan.nodes.begin(), plan.nodes.end(),
                                       [&](const auto& node) { return node.leaf == leaf; })) +
          " nodes over " + std::to_string(plan.layout.memory.arena_bytes + plan.layout.scratch_bytes) +
          " bytes of activations";
  card.must(card.calls().instantiate(card.index(), graph_.handle(), &program_), "cudaGraphInstantiate", "of " + text_);
}

LaunchedGraph::~LaunchedGraph() { (void)card_.calls().destroy_program(card_.index(), program_); }

CudaExecutable::CudaExecutable(Device& device, StreamParts& parts, std::shared_ptr<const Program> program,
                               gpu::Plan plan, const CompileOptions& options)
    : Executable(std::move(program)),
      parts_(parts),
      plan_(std::move(plan)),
      memory_(options.memory ? options.memory : std::make_shared<SharedMemory>(device)) {
  const ExecutableLayout& l = plan_.layout;
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
  for (int32_t leaf = 0; leaf < std::ssize(l.segments.leaves); ++leaf)
    graphs_.push_back(std::make_unique<LaunchedGraph>(parts_.card, *program_, plan_, leaf, call_->address()));
  const Card& card = parts_.card;
  // Not counted: it belongs to no execution.
  card.must(card.calls().synchronize(card.index(), stream.handle()), "cudaStreamSynchronize",
            "after the copy of " + std::to_string(plan_.constants.size()) + " bytes of constants");
}

CudaExecutable::~CudaExecutable() = default;

std::byte* CudaExecutable::next_call_block() {
  const int at = turn_++ % kCallBlocks;
  CudaEvent& event = *copied_[at];
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
  if (submission.leaf < 0 || submission.leaf >= std::ssize(graphs_))
    failed("plan",
           "a submission goes on at leaf " + std::to_string(submission.leaf) + " of " + std::to_string(graphs_.size()));
  auto& on = static_cast<CudaStream&>(stream);
  const gpu::PlanMemory memory{memory_->address(SharedPart::activations), states_->address(), status(), records(),
                               constants_->address()};
  std::byte* block = next_call_block();
  CudaEvent& copied = *copied_[(turn_ - 1) % kCallBlocks];
  gpu::write_call(*program_, plan_, submission, memory, call_->address(),
                  {block, static_cast<size_t>(plan_.bytes.call)});
  on.copy_pinned_to_device(call_->address(), block, plan_.bytes.call);
  on.record(copied);
  if (submission.leaf != 0) {
    const ResumeArgs args = resume_args(status(), submission.leaf);
    card.must(card.calls().launch(card.index(), kPlaceOf<ResumeKernel>, 1, &args, on.handle()), "cudaLaunchKernelExC",
              "of " + std::string(ResumeKernel::kName) + " at leaf " + std::to_string(submission.leaf));
  }
  for (auto leaf = submission.leaf; leaf < std::ssize(graphs_); ++leaf) {
    const LaunchedGraph& graph = *graphs_[leaf];
    on.tell_launch(graph.text());
    card.must(card.calls().launch_program(card.index(), graph.handle(), on.handle()), "cudaGraphLaunch",
              "of " + graph.text());
  }
}

DeviceAddress CudaExecutable::address(OperandId operand) const {
  const Operand& o = program_->operands[operand];
  const int64_t offset = plan_.layout.memory.offset[o.buffer];
  return (o.kind == BufferKind::state ? states_->address() : memory_->address(SharedPart::activations)) + offset;
}

DeviceAddress CudaExecutable::status() const { return memory_->address(SharedPart::status); }
DeviceAddress CudaExecutable::records() const { return memory_->address(SharedPart::records); }

}  // namespace stormcell::card
