#include "core/experiment/batch_inputs.h"

namespace stormcell {
namespace {

void bind(const Graph& graph, std::string_view symbol, int64_t value, Bindings& bindings) {
  if (const SymbolId id = graph.find_symbol(symbol); id != kNone) bindings[static_cast<size_t>(id)] = value;
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

}  // namespace stormcell
