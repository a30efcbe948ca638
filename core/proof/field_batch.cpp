#include "core/proof/field_batch.h"

#include <algorithm>

#include "core/graph/label_inputs.h"
#include "core/proof/draw.h"

namespace stormcell {
namespace {

/// 1 for a real cell. The first sequence is whole; each further one has two cells of padding more, and keeps one cell.
std::vector<int32_t> drawn_mask(int64_t cells, int64_t per_item, const DrawnPadding& padding) {
  std::vector<int32_t> mask;
  for (int64_t i = 0; i < cells; ++i) {
    const int64_t item = i / per_item, place = i % per_item;
    const int64_t real = padding.none ? per_item : std::max<int64_t>(1, per_item - 2 * item);
    const bool at_end = padding.last || item % 2 == 0;
    mask.push_back((at_end ? place < real : place >= per_item - real) ? 1 : 0);
  }
  return mask;
}

/// The number of real cells before each cell of its item; 1 in padding. Empty `mask`: every cell is real.
std::vector<int32_t> drawn_positions(int64_t cells, int64_t per_item, const std::vector<int32_t>& mask) {
  std::vector<int32_t> positions;
  int32_t before = 0;
  for (int64_t i = 0; i < cells; ++i) {
    if (i % per_item == 0) before = 0;
    const bool real = mask.empty() || mask[i] != 0;
    positions.push_back(real ? before++ : 1);
  }
  return positions;
}

class Drawing {
 public:
  Drawing(const Graph& graph, const FieldExtents& extents, uint64_t seed)
      : graph_(graph), extents_(extents), draw_(seed), labels_(label_inputs(graph)) {
    batch_.bindings = field_bindings(graph, extents);
  }

  DrawnBatch run() {
    for (const ValueId id : graph_.values.ids())
      if (graph_.value(id).kind == ValueKind::input && graph_.value(id).role == InputRole::mask) draw_mask(id);
    for (const ValueId id : graph_.values.ids())
      if (graph_.value(id).kind == ValueKind::input && graph_.value(id).role != InputRole::mask) draw_input(id);
    return std::move(batch_);
  }

 private:
  int64_t elements(const Value& input) const {
    int64_t count = graph_.space(input.type.space).count.evaluate(batch_.bindings);
    for (const Dim& extent : input.type.content) count *= extent.evaluate(batch_.bindings);
    return count;
  }
  /// Cells that one item has in the input's space.
  int64_t per_item(const Value& input) const {
    return std::max<int64_t>(1, graph_.space(input.type.space).count.evaluate(batch_.bindings) / extents_.items);
  }

  void draw_mask(ValueId id) {
    const Value& mask = graph_.value(id);
    const auto known = extents_.padding.find(mask.name);
    std::vector<int32_t> drawn =
        drawn_mask(elements(mask), per_item(mask), known == extents_.padding.end() ? DrawnPadding() : known->second);
    mask_over_[mask.type.space] = drawn;
    batch_.inputs[mask.name].integers = std::move(drawn);
  }

  void draw_input(ValueId id) {
    const Value& input = graph_.value(id);
    OracleTensor<Residue>& tensor = batch_.inputs[input.name];
    const int64_t count = elements(input);
    if (input.type.dtype != DType::i32) {
      for (int64_t i = 0; i < count; ++i) tensor.reals.push_back(Residue::of_bits(draw_.next()));
    } else if (input.role == InputRole::positions) {
      const auto mask = mask_over_.find(input.type.space);
      tensor.integers =
          drawn_positions(count, per_item(input), mask == mask_over_.end() ? std::vector<int32_t>() : mask->second);
    } else {
      const int64_t below = integers_below(id, input);
      for (int64_t i = 0; i < count; ++i) tensor.integers.push_back(static_cast<int32_t>(draw_.below(below)));
    }
  }
  int64_t integers_below(ValueId id, const Value& input) const {
    if (input.role == InputRole::ids || input.role == InputRole::target)
      return std::max<int64_t>(1, extents_.vocabulary);
    int64_t below = 0;
    for (const LabelInput& label : labels_)
      if (label.input == id) below = below == 0 ? label.branches : std::min<int64_t>(below, label.branches);
    return below > 0 ? below : 2;
  }

  const Graph& graph_;
  const FieldExtents& extents_;
  Draw draw_;
  const std::vector<LabelInput> labels_;
  DrawnBatch batch_;
  std::map<SpaceId, std::vector<int32_t>> mask_over_;
};

}  // namespace

Bindings field_bindings(const Graph& graph, const FieldExtents& extents) {
  Bindings bindings(graph.symbols.size(), 0);
  int64_t cells = extents.most_cells;
  for (const CellSpace& space : graph.spaces) {
    const bool root = space.kind == SpaceKind::root;
    if (!root && space.kind != SpaceKind::dense) continue;
    const SymbolId symbol = (root ? space.count : space.per_parent).only_symbol();
    if (symbol == -1 || bindings[symbol] != 0) continue;
    bindings[symbol] = root ? extents.items : cells;
    if (!root) cells = std::max<int64_t>(1, cells - 1);
  }
  for (const auto& [name, value] : extents.fixed)
    if (const SymbolId symbol = graph.find_symbol(name); symbol != kNone) bindings[symbol] = value;
  return bindings;
}

DrawnBatch draw_field_batch(const Graph& graph, const FieldExtents& extents, uint64_t seed) {
  return Drawing(graph, extents, seed).run();
}

}  // namespace stormcell
