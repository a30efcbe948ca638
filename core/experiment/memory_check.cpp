#include "core/experiment/memory_check.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/experiment/converted_weights.h"
#include "core/runtime/lower.h"
#include "core/runtime/shared_memory.h"

namespace stormcell {

int64_t memory_needed(Device& device, WeightStore& store, std::shared_ptr<const Graph> graph, const CompileOptions& options) {
  const auto program = std::make_shared<const Program>(lower(std::move(graph)));
  const ExecutableLayout layout = device.layout_of(program, store, options);
  std::set<int32_t> handles(layout.always.begin(), layout.always.end());
  for (const auto& of_guard : layout.lazy) handles.insert(of_guard.begin(), of_guard.end());
  int64_t bytes = layout.bytes(), largest = 0;
  for (const int32_t handle : handles) {
    if (store.loaded(handle)) continue;
    bytes += store.bytes(handle);
    largest = std::max(largest, store.source().find(store.key(handle).tensor)->bytes());
  }
  const auto bytes_of = [&](int32_t operand) { return program->buffers[program->operands[operand].buffer].bytes.evaluate(options.bounds); };
  for (const int32_t input : program->inputs) bytes += 2 * bytes_of(input);
  for (const int32_t output : program->outputs) bytes += 2 * bytes_of(output);
  // The oracle's values: about an arena.
  return bytes + largest + layout.memory.arena_bytes;
}

void check_memory(Device& device, WeightStore& store, std::shared_ptr<const Graph> graph, const CompileOptions& options, int64_t available,
                  const std::string& what) {
  const int64_t need = memory_needed(device, store, graph, options);
  if (need <= available) return;
  // Nothing smaller than bf16 exists in this version. The source, not the store, says what the files have.
  const ConvertedModel smaller =
      convert_weights(graph, std::shared_ptr<const WeightSource>(std::shared_ptr<void>(), &store.source()), DType::bf16);
  WeightStore other(device, smaller.weights);
  const bool fits = memory_needed(device, other, smaller.graph, options) <= available;
  bad_input(what, "needs " + to_text(Bytes(need)) + " of memory, " + to_text(Bytes(available)) + " are available",
            fits ? "use --dtype bf16, which fits"
                 : "no --dtype of this version fits; take a smaller batch or model, or shorter sequences: --length with --truncate");
}

int64_t further_memory_needed(Device& device, WeightStore& store, std::shared_ptr<const Program> program, const CompileOptions& options) {
  const ExecutableLayout layout = device.layout_of(std::move(program), store, options);
  const auto beyond = [&](SharedPart part, int64_t bytes) {
    return std::max<int64_t>(bytes - (options.memory ? options.memory->bytes(part) : 0), 0);
  };
  int64_t bytes = layout.memory.state_bytes + beyond(SharedPart::activations, layout.memory.arena_bytes + layout.scratch_bytes) +
                  beyond(SharedPart::records, layout.record_bytes);
  for (const int32_t handle : layout.always)
    if (!store.loaded(handle)) bytes += store.bytes(handle);
  return bytes;
}

void check_further_plan(Device& device, WeightStore& store, std::shared_ptr<const Program> program, const CompileOptions& options,
                        int64_t available, const std::string& plan, const std::string& what) {
  const int64_t more = further_memory_needed(device, store, std::move(program), options);
  if (more <= available) return;
  bad_input(what,
            "the plan \"" + plan + "\" needs " + to_text(Bytes(more)) + " more memory, " + to_text(Bytes(available)) + " are available",
            "take a smaller batch, or leave the pass out with --disable");
}

}  // namespace stormcell
