// A plan (gpu/plan) as CUDA graphs, one for each leaf: a node for each of its nodes, an edge for each of its edges, made
// once. A submission copies its call block to the card and launches the graphs from its leaf on. A loop is a WHILE node,
// whose body is a graph of its own.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/device.h"
#include "gpu/device/card_stream.h"
#include "gpu/plan/plan.h"

namespace stormcell::card {

/// Pinned call blocks of submissions that a stream has not reached yet. A submission beyond them waits for the first.
inline constexpr int kCallBlocks = 4;

/// A graph as its nodes are added.
class NodeGraph {
 public:
  explicit NodeGraph(const Card& card);
  ~NodeGraph();
  NodeGraph(const NodeGraph&) = delete;
  NodeGraph& operator=(const NodeGraph&) = delete;
  CardGraph handle() const { return handle_; }

 private:
  const Card& card_;
  CardGraph handle_ = nullptr;
};

/// A graph that can be launched. It keeps its nodes: a condition belongs to the graph that it was made for, and CUDA does
/// not say that it outlives that graph.
class LaunchedGraph {
 public:
  /// Makes the graph of a leaf. `call`: address of the call block, with which the arguments of every node begin. Throws
  /// Error(failed) that names the node.
  LaunchedGraph(const Card& card, const Program& program, const gpu::Plan& plan, int32_t leaf, DeviceAddress call);
  ~LaunchedGraph();
  LaunchedGraph(const LaunchedGraph&) = delete;
  LaunchedGraph& operator=(const LaunchedGraph&) = delete;
  CardProgram handle() const { return program_; }
  /// For errors: "a graph of 12 nodes over 1024 bytes of activations".
  const std::string& text() const { return text_; }

 private:
  const Card& card_;
  NodeGraph graph_;
  CardProgram program_ = nullptr;
  std::string text_;
};

class CudaExecutable final : public Executable {
 public:
  /// `device` makes its memory. Both must outlive it.
  CudaExecutable(Device& device, StreamParts& parts, std::shared_ptr<const Program> program, gpu::Plan plan,
                 const CompileOptions& options);
  ~CudaExecutable() override;
  const ExecutableLayout& layout() const override { return plan_.layout; }
  void submit(Stream& stream, const Submission& submission) override;
  DeviceAddress address(OperandId operand) const override;
  DeviceAddress status() const override;
  DeviceAddress records() const override;

 private:
  std::byte* next_call_block();

  StreamParts& parts_;
  gpu::Plan plan_;
  std::shared_ptr<SharedMemory> memory_;
  std::unique_ptr<DeviceBuffer> states_, constants_, call_;
  std::unique_ptr<PinnedBuffer> blocks_;
  std::array<std::unique_ptr<CudaEvent>, kCallBlocks> copied_;  // the call block has left the host
  int turn_ = 0;
  std::vector<std::unique_ptr<LaunchedGraph>> graphs_;  // by leaf
};

}  // namespace stormcell::card
