#include "core/base/align.h"
#include "core/base/enum_words.h"
#include "gpu/plan/plan.h"

namespace stormcell::gpu {
namespace {

/// Places of the parts of a call block, and its bytes.
struct CallParts {
  int64_t dims, inputs, replayed, bytes;
  explicit CallParts(const Program& program) {
    dims = align_up<int64_t>(sizeof(CallBlock));
    inputs = dims + align_up(std::ssize(program.dims) * 8);
    replayed = inputs + align_up(std::ssize(program.inputs) * 8);
    bytes = replayed + align_up(std::ssize(program.routers) * 8);
  }
};

}  // namespace

int64_t call_block_bytes(const Program& program) { return CallParts(program).bytes; }

void write_call(const Program& program, const Plan& plan, const Submission& submission, const PlanMemory& memory,
                DeviceAddress at, std::span<std::byte> block) {
  const CallParts parts(program);
  CallBlock call;
  const auto base = [&](Memory kind, DeviceAddress address) {
    row_of(call.memory, kind) = reinterpret_cast<char*>(address.value);
  };
  base(Memory::activations, memory.activations);
  base(Memory::control, memory.activations + plan.layout.memory.arena_bytes);
  base(Memory::states, memory.states);
  base(Memory::status, memory.status);
  base(Memory::records, memory.records);
  call.weights = reinterpret_cast<const uint64_t*>(submission.weights.value);
  call.dims = reinterpret_cast<const int64_t*>((at + parts.dims).value);
  call.inputs = reinterpret_cast<const uint64_t*>((at + parts.inputs).value);
  call.pages = reinterpret_cast<const uint64_t*>(submission.pages.value);
  call.pages_of_sequence = submission.pages_of_sequence;
  call.replayed = reinterpret_cast<const uint64_t*>((at + parts.replayed).value);
  call.constants = reinterpret_cast<const char*>(memory.constants.value);
  call.record = submission.record;
  std::memcpy(block.data(), &call, sizeof call);
  auto* dims = reinterpret_cast<int64_t*>(block.data() + parts.dims);
  for (const DimId dim : program.dims.ids())
    dims[static_cast<size_t>(dim)] = program.dims[dim].evaluate(submission.bindings);
  auto* inputs = reinterpret_cast<uint64_t*>(block.data() + parts.inputs);
  for (size_t i = 0; i < submission.inputs.size(); ++i) inputs[i] = submission.inputs[i].value;
  auto* replayed = reinterpret_cast<uint64_t*>(block.data() + parts.replayed);
  for (const RouterId r : program.routers.ids())
    replayed[static_cast<size_t>(r)] = submission.replayed.holds(r) ? submission.replayed[r].value : 0;
}

}  // namespace stormcell::gpu
