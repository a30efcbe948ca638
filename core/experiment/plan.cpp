#include "core/experiment/plan.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "core/base/error.h"

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

int64_t available_memory() {
  int64_t bytes = proc_value("/proc/meminfo", "MemAvailable:");
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (limit > 0 && used >= 0) bytes = bytes < 0 ? limit - used : std::min(bytes, limit - used);
  return bytes < 0 ? INT64_MAX : bytes;
}

int64_t peak_resident_memory() { return proc_value("/proc/self/status", "VmHWM:"); }
void reset_peak_resident_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace stormcell
