#include "core/graph/paged_states.h"

#include <algorithm>
#include <map>

#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// The value by which a node finds places in input `index`, a state that may lie in pages; kNone: it reads or writes it
/// otherwise.
ValueId places_by(const Node& node, size_t index) {
  std::optional<size_t> position;
  if (has_role(node, Role::state) && node.op->keeps_rows && index == 0) position = extra_input(node, "at");
  if (has_role(node, Role::attend) && (index == 1 || index == 2)) position = extra_input(node, "step");
  return position ? node.inputs[*position] : kNone;
}

bool is_of_sequences(const Graph& g, const Value& v) {
  if (v.kind != ValueKind::state || v.type.dtype == DType::i32 || v.type.space == kNone) return false;
  const CellSpace& cells = g.space(v.type.space);
  return cells.kind == SpaceKind::dense && g.space(cells.parent).kind == SpaceKind::root;
}

/// The input that masks the cells which a ragged space leaves out; kNone: something else tells them.
ValueId masked_by(const Graph& g, const CellSpace& ragged) {
  const Node& made = g.node(g.value(ragged.offsets).producer);
  const Value& mask = g.value(made.inputs[0]);  // over the base
  return made.inputs.size() == 1 && mask.kind == ValueKind::input && mask.role == InputRole::mask ? made.inputs[0]
                                                                                                  : kNone;
}

class AddedRows {
 public:
  AddedRows(const Graph& graph, const PagedStates& paged, const Bindings& bindings,
            const std::function<std::span<const int32_t>(ValueId)>& mask)
      : g_(graph), paged_(paged), bindings_(bindings), mask_(mask) {}

  std::vector<int64_t> run() {
    const int64_t sequences = g_.space(g_.value(paged_.places).type.space).count.evaluate(bindings_);
    for (const ValueId state : paged_.states) of_[state].assign(sequences, 0);
    block(g_.top, 1);
    std::vector<int64_t> most(sequences, 0);
    for (const auto& [state, rows] : of_)
      for (size_t s = 0; s < most.size(); ++s) most[s] = std::max(most[s], rows[s]);
    return most;
  }

 private:
  void block(const Block& block, int64_t turns) {
    for (const NodeId id : block.nodes) {
      const Node& node = g_.node(id);
      const bool repeats = has_role(node, Role::repeat);
      const int64_t most =
          repeats ? Dim::parse(node.attributes.word("most"), g_.symbols, node.name).evaluate(bindings_) : 1;
      for (const Block& body : node.bodies) this->block(body, turns * std::max<int64_t>(most, 0));
      const auto at = has_role(node, Role::state) ? of_.find(node.inputs[0]) : of_.end();
      if (at != of_.end()) put(node.inputs[1], turns, at->second);
    }
  }

  void put(ValueId x, int64_t turns, std::vector<int64_t>& rows) const {
    const CellSpace& cells = g_.space(g_.value(x).type.space);
    const CellSpace* base = &cells;
    while (base->kind == SpaceKind::ragged) base = &g_.space(base->base);
    const int64_t each = base->per_parent.evaluate(bindings_);
    const ValueId by = cells.kind == SpaceKind::ragged ? masked_by(g_, cells) : kNone;
    const std::span<const int32_t> mask = by == kNone ? std::span<const int32_t>() : mask_(by);
    for (size_t s = 0; s < rows.size(); ++s) {
      const size_t first = s * static_cast<size_t>(each), end = first + static_cast<size_t>(each);
      const bool told = mask.size() >= end;
      rows[s] += turns * (told ? each - std::count(mask.begin() + first, mask.begin() + end, 0) : each);
    }
  }

  const Graph& g_;
  const PagedStates& paged_;
  const Bindings& bindings_;
  const std::function<std::span<const int32_t>(ValueId)>& mask_;
  std::map<ValueId, std::vector<int64_t>> of_;
};

}  // namespace

PagedStates paged_states(const Graph& g) {
  std::map<ValueId, ValueId> places;  // by state: the value that tells its places; kNone if it has to lie in one piece
  const auto use = [&](ValueId state, ValueId by) {
    if (g.value(state).kind != ValueKind::state) return;
    const auto [at, first] = places.emplace(state, by);
    if (!first && at->second != by) at->second = kNone;
  };
  g.for_each_node([&](NodeId id, int) {
    const Node& node = g.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) use(node.inputs[i], places_by(node, i));
    for (const auto& yields : node.yields)
      for (const ValueId v : yields) use(v, kNone);
  });
  for (const NamedValue& output : g.outputs) use(output.value, kNone);

  PagedStates paged;
  for (const auto& [state, by] : places) {
    if (by == kNone || !is_of_sequences(g, g.value(state))) continue;
    const Value& told = g.value(by);
    if (told.kind != ValueKind::state || told.type.space != g.space(g.value(state).type.space).parent) continue;
    if (paged.places == kNone) paged.places = by;
    if (paged.places == by) paged.states.push_back(state);
  }
  return paged;
}

std::vector<int64_t> rows_added(const Graph& graph, const PagedStates& paged, const Bindings& bindings,
                                const std::function<std::span<const int32_t>(ValueId)>& mask) {
  return AddedRows(graph, paged, bindings, mask).run();
}

}  // namespace stormcell
