#include "core/bench/memory_check.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/base/numbers.h"
#include "core/bench/converted_graph.h"
#include "core/machine/memory.h"
#include "core/runtime/lower.h"
#include "core/runtime/shared_memory.h"
#include "core/runtime/state_store.h"

namespace stormcell {

namespace {

MemoryNeed operator+(const MemoryNeed& a, const MemoryNeed& b) {
  return {a.device + b.device, a.host + b.host, a.shared + b.shared};
}
MemoryNeed of_both(int64_t device, int64_t host) { return {device, host, device + host}; }
MemoryNeed at_most(const MemoryNeed& a, const MemoryNeed& b) {
  return {std::max(a.device, b.device), std::max(a.host, b.host), std::max(a.shared, b.shared)};
}

/// The memory that one graph takes.
struct Need {
  std::set<WeightHandle> weights;
  int64_t states = 0;
  MemoryNeed others;  ///< shared by graphs that run one at a time: activations, records, inputs, outputs, the oracle's
                      ///< values
};

int64_t buffer_bytes(const Program& program, OperandId operand, const Bindings& bounds) {
  return program.buffers[program.operands[operand].buffer].bytes.evaluate(bounds);
}

int64_t input_bytes(const Program& program, const Bindings& bounds) {
  int64_t bytes = 0;
  for (const OperandId input : program.inputs) bytes += buffer_bytes(program, input, bounds);
  return bytes;
}

/// Bytes of pinned memory that the copies of a plan pass through (HostCopies) if the device has memory of its own:
/// records and inputs. Outputs are counted by the caller.
int64_t pinned_bytes(const Device& device, const ExecutableLayout& layout, int64_t inputs) {
  return device.free_bytes() ? layout.record_bytes + inputs : 0;
}

Need need_of(Device& device, WeightStore& store, const PlannedGraph& planned, FallbackWeights fallbacks) {
  const CompileOptions& options = planned.options;
  const auto program = std::make_shared<const Program>(lower(planned.graph));
  const ExecutableLayout layout = device.layout_of(program, store, options);
  store.check_budget();
  Need need;
  need.weights.insert(layout.always.begin(), layout.always.end());
  if (fallbacks == FallbackWeights::loaded)
    for (const auto& of_guard : layout.lazy) need.weights.insert(of_guard.begin(), of_guard.end());
  need.states = layout.memory.state_bytes + layout.memory.page_bytes;
  const int64_t inputs = input_bytes(*program, options.bounds);
  // The oracle's values: about an arena.
  int64_t of_host = layout.memory.arena_bytes + inputs;
  for (const OperandId output : program->outputs) of_host += 2 * buffer_bytes(*program, output, options.bounds);
  of_host += pinned_bytes(device, layout, inputs);
  need.others = of_both(layout.bytes() - need.states + inputs, of_host);
  return need;
}

/// The most that is held while one of these weights is read, beside what the device makes of it: the tensors that it is
/// made from, too.
int64_t most_while_read(const WeightStore& store, const std::vector<WeightHandle>& handles) {
  int64_t most = 0;
  for (const WeightHandle handle : handles)
    most = std::max(most, store.source().bytes_while_read(store.key(handle).tensor));
  return most;
}

/// Under a budget: slots that are not there yet, and what the readers hold while they read.
MemoryNeed slots_to_come(const WeightStore& store) {
  return of_both(store.planned_slot_bytes() - store.counters().slot_bytes,
                 kWeightReaders * most_while_read(store, store.parts()));
}

/// Dense weights that are to be loaded, one after another.
MemoryNeed weights_to_come(const WeightStore& store, const auto& handles) {
  std::vector<WeightHandle> missing;
  int64_t bytes = 0;
  for (const WeightHandle handle : handles) {
    if (store.is_loaded(handle)) continue;
    missing.push_back(handle);
    bytes += store.bytes(handle);
  }
  return of_both(bytes, most_while_read(store, missing));
}

}  // namespace

MemoryRoom memory_room(const Device& device) { return {available_memory(), device.free_bytes()}; }

MemoryNeed memory_need(Device& device, WeightStore& store, const std::vector<PlannedGraph>& graphs,
                       FallbackWeights fallbacks) {
  Need all;
  for (const PlannedGraph& graph : graphs) {
    const Need need = need_of(device, store, graph, fallbacks);
    all.weights.insert(need.weights.begin(), need.weights.end());
    all.states += need.states;
    all.others = at_most(all.others, need.others);
  }
  return of_both(all.states, 0) + all.others + weights_to_come(store, all.weights) + slots_to_come(store);
}

namespace {

/// The largest --weight-budget with which the graphs fit; 0: none does, or no weight of theirs belongs to a single
/// branch.
int64_t largest_budget(Device& device, const WeightStore& store, const std::vector<PlannedGraph>& graphs,
                       const MemoryRoom& room) {
  WeightStore other(device, {std::shared_ptr<void>(), &store.source()}, kBudgetForAll);
  const MemoryNeed need = memory_need(device, other, graphs);
  if (room.device && need.host > room.host) return 0;  // a budget takes nothing off the host's memory
  // Pinned weights count against the budget and have no slots.
  const int64_t of_budget = other.planned_slot_bytes() + other.planned_pinned_bytes();
  const int64_t budget = room.device ? *room.device - (need.device - of_budget) : room.host - (need.shared - of_budget);
  return other.parts().empty() || budget < other.least_budget() ? 0 : budget;
}

bool is_short_of_host(const MemoryNeed& need, const MemoryRoom& room) {
  return room.device && need.device <= *room.device;
}

/// "5 GiB of the device's memory, 4 GiB are available": for the memory that is too small, the device's first. `between`
/// comes before the memory's name.
std::string too_small(const MemoryNeed& need, const MemoryRoom& room, const std::string& between) {
  const auto text = [&](int64_t needed, const char* name, int64_t available) {
    return to_text(Bytes(needed)) + between + name + ", " + to_text(Bytes(available)) + " are available";
  };
  if (!room.device) return text(need.shared, "memory", room.host);
  return is_short_of_host(need, room) ? text(need.host, "the host's memory", room.host)
                                      : text(need.device, "the device's memory", *room.device);
}

}  // namespace

SentRows check_memory(Device& device, WeightStore& store, const std::vector<PlannedGraph>& graphs,
                      const MemoryRoom& room, const std::string& what) {
  const MemoryNeed need = memory_need(device, store, graphs);
  if (room.holds(need)) return graphs.front().options.rows;
  std::vector<PlannedGraph> copying = graphs;
  for (PlannedGraph& planned : copying) planned.options.rows = SentRows::copied;
  if (room.holds(memory_need(device, store, copying))) return SentRows::copied;
  const NumberFormat& smallest = smallest_offered_format(device.info().formats);
  const std::string dtype = "--dtype " + std::string(smallest.name);
  std::vector<PlannedGraph> smaller;
  for (const PlannedGraph& planned : copying)
    smaller.push_back({in_format(*planned.graph, smallest.type), planned.options});
  WeightStore other(device, {std::shared_ptr<void>(), &store.source()}, store.budget());
  const bool fits = room.holds(memory_need(device, other, smaller));
  const int64_t budget = largest_budget(device, store, copying, room);
  const std::string advice =
      (store.budget() > 0 ? "use a --weight-budget of " : "use --weight-budget ") + std::to_string(budget) +
      (store.budget() > 0 ? " bytes or less, with which it fits" : " or less, with which it fits");
  const std::vector<Value>& values = graphs.front().graph->values;
  const bool pictures = std::any_of(values.begin(), values.end(), [](const Value& v) {
    return v.kind == ValueKind::input && v.role == InputRole::pixels;
  });
  bad_input(what, "needs " + too_small(need, room, " of "),
            fits && budget > 0 ? advice + ", or " + dtype
            : fits             ? "use " + dtype + ", which fits"
            : budget > 0       ? advice
            : is_short_of_host(need, room)
                ? std::string("the oracle computes a batch on the host: take a smaller batch, or ") +
                      (pictures ? "smaller pictures" : "shorter sequences: --length with --truncate")
            : pictures ? "no --dtype of this version fits; take a smaller batch, model or pictures"
                       : "no --dtype of this version fits; take a smaller batch or model, or shorter sequences: "
                         "--length with --truncate");
}

MemoryNeed further_memory_need(Device& device, WeightStore& store, std::shared_ptr<const Program> program,
                               const CompileOptions& options) {
  const int64_t inputs = input_bytes(*program, options.bounds);
  const ExecutableLayout layout = device.layout_of(std::move(program), store, options);
  const auto beyond = [&](SharedPart part, int64_t bytes) {
    return std::max<int64_t>(bytes - (options.memory ? options.memory->bytes(part) : 0), 0);
  };
  const int64_t free_pages = options.states ? options.states->bytes() - options.states->used_bytes() : 0;
  const int64_t bytes = layout.memory.state_bytes + std::max<int64_t>(layout.memory.page_bytes - free_pages, 0) +
                        beyond(SharedPart::activations, layout.memory.arena_bytes + layout.scratch_bytes) +
                        beyond(SharedPart::records, layout.record_bytes);
  return of_both(bytes, pinned_bytes(device, layout, inputs)) + weights_to_come(store, layout.always) +
         slots_to_come(store);
}

SentRows check_further_plan(Device& device, WeightStore& store, std::shared_ptr<const Program> program,
                            const CompileOptions& options, const MemoryRoom& room, const std::string& plan,
                            const std::string& what) {
  const MemoryNeed more = further_memory_need(device, store, program, options);
  if (room.holds(more)) return options.rows;
  CompileOptions copying = options;
  copying.rows = SentRows::copied;
  if (room.holds(further_memory_need(device, store, std::move(program), copying))) return SentRows::copied;
  bad_input(what, "the plan \"" + plan + "\" needs " + too_small(more, room, room.device ? " more of " : " more "),
            "take a smaller batch, or leave the pass out with --disable");
}

}  // namespace stormcell
