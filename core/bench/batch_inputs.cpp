#include "core/bench/batch_inputs.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/input_specs.h"

namespace stormcell {
namespace {

void bind_new_tokens(const Graph& graph, int64_t new_tokens, Bindings& bindings) {
  if (const SymbolId id = graph.find_symbol(kDecoderLength); new_tokens > 0 && id != kNone) bindings[id] = new_tokens;
}

bool is_item_input(const Value& value) { return value.kind == ValueKind::input && value.role == InputRole::item; }

std::vector<int32_t> item_numbers(const Batch& batch) { return {batch.items.begin(), batch.items.end()}; }

}  // namespace

Bindings bindings_of(const Graph& graph, const Batch& batch, int64_t new_tokens) {
  Bindings b(graph.symbols.size(), 0);
  const auto per_item = [&](std::string_view name) {
    const BatchCells* space = batch.find_space(name);
    return space ? int64_t{space->per_item} : int64_t{-1};
  };
  bind_cells(graph, batch.size(), per_item, b);
  bind_new_tokens(graph, new_tokens, b);
  return b;
}

Bindings bounds_of(const Graph& graph, const Dataset& data, int64_t new_tokens, PictureSize size) {
  Bindings b(graph.symbols.size(), 0);
  const auto per_item = [&](std::string_view name) {
    const SpaceCells* space = data.find_space(name);
    return space ? space->most_per_item : int64_t{-1};
  };
  bind_cells(graph, data.max_items(size), per_item, b);
  bind_new_tokens(graph, new_tokens, b);
  return b;
}

std::span<const int32_t> tokens_over(const Graph& graph, SpaceId space, const Batch& batch) {
  for (const Value& v : graph.values)
    if (v.kind == ValueKind::input && (v.role == InputRole::ids || v.role == InputRole::target) &&
        v.type.space == space)
      return batch.integers(v.name);
  return {};
}

std::vector<int32_t> mask_over(const Graph& graph, SpaceId space, const Batch& batch, const Bindings& bindings) {
  const CellSpace& s = graph.space(space);
  if (const BatchCells* filled = batch.find_space(s.name)) return filled->real;
  if (s.kind != SpaceKind::dense) return {};
  const int64_t parts = s.per_parent.evaluate(bindings);
  std::vector<int32_t> mask;
  for (const int32_t real : mask_over(graph, s.parent, batch, bindings))
    mask.insert(mask.end(), static_cast<size_t>(parts), real);
  return mask;
}

std::map<std::string, std::vector<int32_t>> computed_cells(const Graph& plan, const Graph& reference,
                                                           const Batch& batch) {
  std::map<std::string, std::vector<int32_t>> computed;
  for (size_t s = 0; s < plan.spaces.size(); ++s) {
    const CellSpace& space = plan.spaces[s];
    if (space.kind != SpaceKind::ragged || plan.holds_members(SpaceId(s))) continue;
    const bool in_both = std::any_of(reference.spaces.begin(), reference.spaces.end(), [&](const CellSpace& r) {
      return r.kind == SpaceKind::ragged && r.name == space.name;
    });
    const Value& mask = plan.value(plan.node(plan.value(space.offsets).producer).inputs[0]);
    if (in_both || mask.kind != ValueKind::input || mask.role != InputRole::mask) continue;
    const CellSpace& base = plan.space(space.base);
    const std::vector<int32_t>& real = batch.integers(mask.name);
    const int64_t cells = base.count.evaluate(bindings_of(plan, batch, 0));
    if (std::ssize(real) != cells)
      failed("mask " + mask.name,
             "has " + std::to_string(real.size()) + " values for " + std::to_string(cells) + " cells of " + base.name);
    computed[base.name] = real;
  }
  return computed;
}

std::map<std::string, MaskFacts, std::less<>> mask_facts(const Graph& graph, const Dataset& data) {
  std::map<std::string, MaskFacts, std::less<>> facts;
  for (const Value& v : graph.values) {
    if (v.kind != ValueKind::input || v.role != InputRole::mask) continue;
    if (const SpaceCells* cells = data.find_space(graph.space(v.type.space).name))
      facts[v.name] = {cells->cells, cells->real, cells->padding.last, cells->padding.some_in_each};
  }
  return facts;
}

InputValues inputs_of(const Batch& batch) {
  InputValues v;
  for (const BatchInput& input : batch.inputs) {
    if (!input.integers.empty()) v.integers.emplace(input.name, input.integers);
    if (!input.reals.empty()) v.reals.emplace(input.name, input.reals);
  }
  return v;
}

InputValues inputs_of(const Graph& graph, const Batch& batch) {
  InputValues values = inputs_of(batch);
  for (const Value& v : graph.values)
    if (is_item_input(v)) values.integers.emplace(v.name, item_numbers(batch));
  return values;
}

OracleInputs<float> oracle_inputs(const Graph& graph, const Batch& batch) {
  OracleInputs<float> list;
  for (const Value& v : graph.values) {
    if (is_item_input(v)) list[v.name] = {{}, {}, item_numbers(batch)};
    const BatchInput* input = v.kind == ValueKind::input ? batch.find_input(v.name) : nullptr;
    if (input) list[v.name] = {{}, input->reals, input->integers};
  }
  return list;
}

}  // namespace stormcell
