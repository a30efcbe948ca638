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

ValueId input_over(const Graph& graph, SpaceId space, InputRole role) {
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].kind == ValueKind::input && graph.values[v].role == role && graph.values[v].type.space == space)
      return static_cast<ValueId>(v);
  return kNone;
}

std::span<const int32_t> values_of(const Batch& batch, std::string_view input) {
  if (input == kInputIds) return batch.input_ids;
  if (input == kAttentionMask) return batch.attention_mask;
  if (input == kDecoderInputIds) return batch.decoder_input_ids;
  if (input == kDecoderAttentionMask) return batch.decoder_attention_mask;
  return {};
}

std::span<const int32_t> mask_over(const Graph& graph, SpaceId space, const Batch& batch) {
  const ValueId mask = input_over(graph, space, InputRole::mask);
  return mask == kNone ? std::span<const int32_t>() : values_of(batch, graph.value(mask).name);
}

std::map<std::string, MaskFacts, std::less<>> mask_facts(const Graph& graph, const Dataset& data) {
  const CellTotals& cells = data.cells();
  std::map<std::string, MaskFacts, std::less<>> facts;
  for (const Value& v : graph.values) {
    if (v.kind != ValueKind::input || v.role != InputRole::mask) continue;
    if (v.name == kAttentionMask)
      facts[v.name] = {cells.encoder, cells.encoder_without_padding, cells.encoder_padding.last, cells.encoder_padding.some_in_each};
    if (v.name == kDecoderAttentionMask)
      facts[v.name] = {cells.decoder, cells.decoder_without_padding, cells.decoder_padding.last, cells.decoder_padding.some_in_each};
  }
  return facts;
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
