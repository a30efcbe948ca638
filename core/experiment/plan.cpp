#include "core/experiment/plan.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "core/base/error.h"
#include "core/graph/operator.h"
#include "core/graph/protocol_attributes.h"

namespace stormcell {
namespace {

void bind(const Graph& graph, std::string_view symbol, int64_t value, Bindings& bindings) {
  if (const SymbolId id = graph.find_symbol(symbol); id != kNone) bindings[static_cast<size_t>(id)] = value;
}

class ConvertingWeights : public WeightSource {
 public:
  ConvertingWeights(std::shared_ptr<const WeightSource> stored, const Graph& graph, DType to) : stored_(std::move(stored)) {
    for (const Value& v : graph.values)
      if (v.kind == ValueKind::weight)
        if (const WeightInfo* info = stored_->find(v.name)) {
          WeightInfo changed = *info;
          if (v.type.dtype == to) changed.dtype = to;
          infos_.emplace(v.name, std::move(changed));
        }
  }
  const WeightInfo* find(std::string_view name) const override {
    const auto at = infos_.find(name);
    return at == infos_.end() ? nullptr : &at->second;
  }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override {
    const WeightInfo *now = find(name), *stored = stored_->find(name);
    auto from = stored_->bytes(name);
    if (!now || now->dtype == stored->dtype) return from;
    const auto n = static_cast<size_t>(stored->elements());
    auto memory = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(now->bytes()));
    // Block by block, so that an f32 copy of a whole tensor is never held beside it.
    std::vector<float> block(std::min<size_t>(n, 1 << 16));
    for (size_t i = 0; i < n; i += block.size()) {
      const size_t count = std::min(block.size(), n - i);
      to_f32(from.get() + i * element_size(stored->dtype), stored->dtype, block.data(), count);
      from_f32(block.data(), memory->data() + i * element_size(now->dtype), now->dtype, count);
    }
    return {memory, memory->data()};
  }

 private:
  std::shared_ptr<const WeightSource> stored_;
  std::map<std::string, WeightInfo, std::less<>> infos_;
};

// "key: 123 kB" lines of /proc files, in bytes; -1 when absent.
int64_t proc_value(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string word; in >> word;)
    if (word == key) {
      int64_t kilobytes = 0;
      in >> kilobytes;
      return kilobytes * 1024;
    }
  return -1;
}
int64_t number_in(const char* file) {
  std::ifstream in(file);
  int64_t value = -1;
  return in >> value ? value : -1;
}

}  // namespace

Bindings bindings_of(const Graph& graph, const Batch& batch, int64_t new_tokens) {
  Bindings b(graph.symbols.size(), 0);
  bind(graph, kSequences, batch.sequences, b);
  bind(graph, kLength, batch.length, b);
  bind(graph, kDecoderLength, new_tokens > 0 ? new_tokens : batch.decoder_length, b);
  return b;
}

Bindings bounds_of(const Graph& graph, const Dataset& data, int64_t new_tokens) {
  Bindings b(graph.symbols.size(), 0);
  bind(graph, kSequences, data.max_sequences(), b);
  bind(graph, kLength, data.max_length(), b);
  bind(graph, kDecoderLength, new_tokens > 0 ? new_tokens : data.max_decoder_length(), b);
  return b;
}

InputValues inputs_of(const Batch& batch) {
  InputValues v;
  v.integers.emplace(kInputIds, batch.input_ids);
  v.integers.emplace(kAttentionMask, batch.attention_mask);
  v.integers.emplace(kDecoderInputIds, batch.decoder_input_ids);
  v.integers.emplace(kDecoderAttentionMask, batch.decoder_attention_mask);
  return v;
}

ConvertedModel convert_weights(std::shared_ptr<const Graph> graph, std::shared_ptr<const WeightSource> weights, DType to) {
  auto changed = std::make_shared<Graph>(*graph);
  for (Value& v : changed->values)
    if (v.kind == ValueKind::weight && is_engine_float(v.type.dtype) && v.type.content.size() >= 2) v.type.dtype = to;
  auto source = std::make_shared<ConvertingWeights>(std::move(weights), *changed, to);
  return {std::move(changed), std::move(source)};
}

RecordPlan record_plan(const Program& program) {
  const Graph& g = *program.graph;
  RecordPlan plan;
  for (const ProgramRouter& r : program.routers) {
    auto at = std::find(plan.spaces.begin(), plan.spaces.end(), r.dense_space);
    if (at == plan.spaces.end()) {
      plan.layout.spaces.push_back(g.space(r.dense_space).name);
      plan.spaces.push_back(r.dense_space);
      at = plan.spaces.end() - 1;
    }
    plan.space_of.push_back(static_cast<int32_t>(at - plan.spaces.begin()));
    const Node& node = g.node(r.node);
    const Value& decision = g.value(node.outputs[0]);
    RouterInfo info;
    info.name = r.name;
    info.branches = decision.branches;
    info.fan_out = decision.fan_out;
    info.protocol = node.attributes.word("protocol");
    info.space = plan.space_of.back();
    info.stack = node.attributes.word("stack", plan.layout.spaces[static_cast<size_t>(info.space)]);
    const CellSpace& space = g.space(decision.type.space);
    if (space.kind == SpaceKind::routed) {
      for (size_t p = 0; p < program.routers.size(); ++p)
        if (g.node(program.routers[p].node).outputs[0] == space.decision) info.parent = static_cast<int32_t>(p);
      info.parent_branch = space.branch;
    }
    plan.layout.routers.push_back(std::move(info));
  }
  for (const Step& step : program.steps) {
    StepInfo info;
    info.op = std::string(to_text(step.kind));
    if (step.node != kNone) {
      const Node& node = g.node(step.node);
      if (step.kind == StepKind::kernel) info.op = std::string(node.op->name);
      info.name = node.name;
      const SpaceId space = node.outputs.empty() ? kNone : g.value(node.outputs[0]).type.space;
      if (space != kNone && g.space(space).kind == SpaceKind::routed) {
        info.branch = g.space(space).branch;
        for (size_t p = 0; p < program.routers.size(); ++p)
          if (g.node(program.routers[p].node).outputs[0] == g.space(space).decision) info.router = static_cast<int32_t>(p);
      }
    }
    plan.layout.steps.push_back(std::move(info));
  }
  return plan;
}

void fill_record(const RecordPlan& plan, const Program& program, const Batch& batch, const Bindings& bindings, const ExecutionResult& result,
                 bool decisions, bool inputs, bool margins, BatchRecord& record) {
  const Graph& g = *program.graph;
  record.number = batch.index;
  record.latency_ms = result.milliseconds;
  for (size_t s = 0; s < plan.spaces.size(); ++s) {
    const CellSpace& space = g.space(plan.spaces[s]);
    CellTable table;
    table.first_sequence = batch.first_sequence;
    table.sequences = static_cast<int32_t>(batch.sequences);
    const int64_t cells = space.count.evaluate(bindings);
    table.per_sequence = batch.sequences > 0 ? static_cast<int32_t>(cells / batch.sequences) : 0;
    const bool decoder = space.name.starts_with("decoder");
    const auto& mask = decoder ? batch.decoder_attention_mask : batch.attention_mask;
    const auto& tokens = decoder ? batch.decoder_input_ids : batch.input_ids;
    const bool fits = static_cast<int64_t>(mask.size()) == cells, known = static_cast<int64_t>(tokens.size()) == cells;
    record.add_space(static_cast<int32_t>(s), table, fits ? std::span<const int32_t>(mask) : std::span<const int32_t>(),
                     known ? std::span<const int32_t>(tokens) : std::span<const int32_t>());
  }
  if (decisions)
    for (const ExecutedDecision& d : result.decisions) {
      if (d.turn > 0) continue;  // further turns of a repeat are recorded by generate as batches of their own
      const bool nested = g.space(g.value(g.node(program.routers[static_cast<size_t>(d.router)].node).outputs[0]).type.space).kind == SpaceKind::routed;
      DecisionRecord r;
      r.router = d.router;
      r.choice = d.choice;
      r.weight = d.weight;
      r.padded = d.padded;
      if (nested) r.ancestor = d.ancestor;
      if (margins) r.margin = d.margin;
      record.add_decision(r);
    }
  for (int64_t i = 0; i < batch.sequences; ++i)
    record.add_sequence(batch.labels.empty() ? std::string_view() : std::string_view(batch.labels[static_cast<size_t>(i)]),
                        inputs && !batch.texts.empty() ? std::string_view(batch.texts[static_cast<size_t>(i)]) : std::string_view());
  record.events.reserve(result.events.size());
  for (const DeviceEvent& e : result.events)
    record.events.push_back({e.begin_ns, e.end_ns, static_cast<uint32_t>(e.step), static_cast<uint16_t>(e.worker)});
  // A guard is named by the step that tests it.
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kind != StepKind::guard) continue;
    const int32_t hits = result.guard_hits[static_cast<size_t>(step.index)], misses = result.guard_misses[static_cast<size_t>(step.index)];
    if (hits || misses) record.guards.push_back({static_cast<int32_t>(i), hits, misses});
  }
}

int64_t available_memory() {
  int64_t bytes = proc_value("/proc/meminfo", "MemAvailable:");
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (limit > 0 && used >= 0) bytes = bytes < 0 ? limit - used : std::min(bytes, limit - used);
  return bytes < 0 ? INT64_MAX : bytes;
}

int64_t peak_resident_memory() { return proc_value("/proc/self/status", "VmHWM:"); }

}  // namespace stormcell
