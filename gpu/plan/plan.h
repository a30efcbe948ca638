// A program as a card runs it: nodes with the arguments of their kernels, the bytes that they touch, and which of them
// must be done before. No CUDA: a card makes a graph of it, the tests interpret it (tests/gpu/host_device.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/device.h"
#include "gpu/rows/call.h"

namespace stormcell::gpu {

/// Bytes that a node touches. Made from a Ref of its arguments.
struct ByteRange {
  Memory memory = Memory::activations;
  int64_t begin = 0, end = 0;
  bool writes = false;
  int32_t decision = -1, branch = -1, row_bytes = 0;  ///< as Ref's slice
  bool operator==(const ByteRange&) const = default;
};
/// Two nodes that touch these must keep their order.
bool is_conflict(const ByteRange& a, const ByteRange& b);

/// One launch, or a loop.
struct PlanNode {
  int32_t kernel = -1;  ///< in the list of kernels (kernel_list.h); -1: a loop
  std::string_view kernel_name;
  int32_t step = -1;  ///< of the program; -1: of the plan itself
  int64_t blocks = 1;
  std::vector<std::byte> args;    ///< of the kernel; CallBlock's address, which they begin with, is still missing
  std::vector<ByteRange> ranges;  ///< everything that it may touch
  /// Earlier nodes of the same leaf and loop that must be done first, without those that others imply.
  std::vector<int32_t> after;
  int32_t loop = -1;   ///< its loop; -1: none
  int32_t runs = -1;   ///< the loop that it is
  int32_t leaf = 0;    ///< of the program's segments: a graph of its own
  bool leads = false;  ///< all later nodes of its leaf and loop wait for it
  bool ends = false;   ///< it waits for all earlier nodes of its leaf and loop
};

/// Nodes that run repeatedly while a word is not 0. Turns never overlap: a card has a WHILE node. They follow the node
/// of the loop, [first, end), with those of loops within. The last of them decides about another turn.
struct PlanLoop {
  int32_t node = -1, first = -1, end = -1;
  int32_t word = -1;                        ///< place in control memory
  int32_t first_step = -1, last_step = -1;  ///< of the program
};

/// Bytes of each kind of memory.
struct PlanBytes {
  int64_t control = 0;  ///< behind the arena, in the memory of the activations
  int64_t call = 0;     ///< bytes of a call block, with everything that it points to
};

/// A submission launches the graph of its leaf and those of all leaves behind it, one after another. If one of them
/// ends the submission, the kernels of the others see it and do nothing.
struct Plan {
  std::vector<PlanNode> nodes;       ///< in the order of the program
  std::vector<PlanLoop> loops;       ///< outer ones first
  std::vector<std::byte> constants;  ///< read by kernels, written once
  ExecutableLayout layout;
  PlanBytes bytes;
  int32_t regions = 0;

  /// Edges between nodes.
  int64_t edges() const;
};

/// Sets PlanNode::after from the ranges: a node waits for earlier ones in the same leaf and loop that write its ranges,
/// or use the ranges that it writes.
void find_edges(std::vector<PlanNode>& nodes);
/// The nodes of a loop, -1: those of none, in a leaf, in the order of the program.
std::vector<int32_t> nodes_of(const std::vector<PlanNode>& nodes, int32_t leaf, int32_t loop);

/// Options for cutting a plan for a card.
struct PlanOptions {
  int32_t multiprocessors = 132;
  /// Moves buffers before nodes are made, for tests that plant a fault.
  std::function<void(const Program&, MemoryPlan&)> change_memory = {};
};

/// Throws Error: a step has no kernel (kernel_choice.h), or is of a kind that a card does not run yet. The program must
/// outlive nothing of the result.
Plan make_plan(const Program& program, WeightStore& weights, const CompileOptions& compile, const PlanOptions& options);

/// The bases of the kinds of memory in a submission.
struct PlanMemory {
  DeviceAddress activations, states, status, records, constants;
};
int64_t call_block_bytes(const Program& program);
/// The call block of a submission, as bytes that a device copies to `at` in its memory before the first node.
void write_call(const Program& program, const Plan& plan, const Submission& submission, const PlanMemory& memory,
                DeviceAddress at, std::span<std::byte> block);

}  // namespace stormcell::gpu
