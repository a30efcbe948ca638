#include "core/experiment/memory_check.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/experiment/converted_weights.h"
#include "core/runtime/lower.h"
#include "core/runtime/shared_memory.h"
#include "core/runtime/state_store.h"

namespace stormcell {

namespace {

/// What one graph takes.
struct Need {
  std::set<int32_t> weights;
  int64_t states = 0;
  int64_t others = 0;  ///< that graphs which run one at a time share: activations, records, inputs, outputs, the oracle's values
};

Need need_of(Device& device, WeightStore& store, const PlannedGraph& planned, Fallbacks fallbacks) {
  const CompileOptions& options = planned.options;
  const auto program = std::make_shared<const Program>(lower(planned.graph));
  const ExecutableLayout layout = device.layout_of(program, store, options);
  store.check_budget();
  Need need;
  need.weights.insert(layout.always.begin(), layout.always.end());
  if (fallbacks == Fallbacks::loaded)
    for (const auto& of_guard : layout.lazy) need.weights.insert(of_guard.begin(), of_guard.end());
  need.states = layout.memory.state_bytes + layout.memory.page_bytes;
  const auto bytes_of = [&](int32_t operand) { return program->buffers[program->operands[operand].buffer].bytes.evaluate(options.bounds); };
  // The oracle's values: about an arena.
  need.others = layout.bytes() - need.states + layout.memory.arena_bytes;
  for (const int32_t input : program->inputs) need.others += 2 * bytes_of(input);
  for (const int32_t output : program->outputs) need.others += 2 * bytes_of(output);
  return need;
}

/// Under a budget: slots that are not there yet, and what the readers hold while they read.
int64_t slots_to_come(const WeightStore& store) {
  constexpr int64_t kReaders = 2;
  return store.planned_slot_bytes() - store.counters().slot_bytes + kReaders * store.largest_part();
}

}  // namespace

int64_t memory_needed(Device& device, WeightStore& store, std::shared_ptr<const Graph> graph, const CompileOptions& options) {
  return memory_needed(device, store, {PlannedGraph{std::move(graph), options}});
}

int64_t memory_needed(Device& device, WeightStore& store, const std::vector<PlannedGraph>& graphs, Fallbacks fallbacks) {
  Need all;
  for (const PlannedGraph& graph : graphs) {
    const Need need = need_of(device, store, graph, fallbacks);
    all.weights.insert(need.weights.begin(), need.weights.end());
    all.states += need.states;
    all.others = std::max(all.others, need.others);
  }
  int64_t bytes = all.states + all.others, largest = 0;
  for (const int32_t handle : all.weights) {
    if (store.loaded(handle)) continue;
    bytes += store.bytes(handle);
    largest = std::max(largest, store.source().find(store.key(handle).tensor)->bytes());
  }
  return bytes + largest + slots_to_come(store);
}

void check_memory(Device& device, WeightStore& store, const std::vector<PlannedGraph>& graphs, int64_t available, const std::string& what) {
  const int64_t need = memory_needed(device, store, graphs);
  if (need <= available) return;
  // Nothing smaller than bf16 exists in this version.
  std::vector<PlannedGraph> smaller;
  for (const PlannedGraph& planned : graphs) smaller.push_back({convert_weights(*planned.graph, DType::bf16), planned.options});
  WeightStore other(device, {std::shared_ptr<void>(), &store.source()}, store.budget());
  const bool fits = memory_needed(device, other, smaller) <= available;
  const std::vector<Value>& values = graphs.front().graph->values;
  const bool pictures =
      std::any_of(values.begin(), values.end(), [](const Value& v) { return v.kind == ValueKind::input && v.role == InputRole::pixels; });
  bad_input(what, "needs " + to_text(Bytes(need)) + " of memory, " + to_text(Bytes(available)) + " are available",
            fits       ? "use --dtype bf16, which fits"
            : pictures ? "no --dtype of this version fits; take a smaller batch, model or pictures"
                       : "no --dtype of this version fits; take a smaller batch or model, or shorter sequences: --length with --truncate");
}

int64_t further_memory_needed(Device& device, WeightStore& store, std::shared_ptr<const Program> program, const CompileOptions& options) {
  const ExecutableLayout layout = device.layout_of(std::move(program), store, options);
  const auto beyond = [&](SharedPart part, int64_t bytes) {
    return std::max<int64_t>(bytes - (options.memory ? options.memory->bytes(part) : 0), 0);
  };
  const int64_t free_pages = options.states ? options.states->bytes() - options.states->used_bytes() : 0;
  int64_t bytes = layout.memory.state_bytes + std::max<int64_t>(layout.memory.page_bytes - free_pages, 0) +
                  beyond(SharedPart::activations, layout.memory.arena_bytes + layout.scratch_bytes) +
                  beyond(SharedPart::records, layout.record_bytes);
  for (const int32_t handle : layout.always)
    if (!store.loaded(handle)) bytes += store.bytes(handle);
  return bytes + slots_to_come(store);
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
