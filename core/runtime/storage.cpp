#include "core/runtime/storage.h"

#include <algorithm>

#include "core/cell/ragged.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"
#include "core/graph/spaces.h"
#include "core/graph/uses.h"

namespace stormcell {
namespace {

/// Adds up parts as MemoryParts does, over extents. How much each is rounded up is not known before the extents are:
/// the most is added.
class ExtentParts {
 public:
  template <class T>
  T* take(const Dim& count) {
    bytes_ = bytes_ + count * Dim(sizeof(T)) + Dim(MemoryParts<64>::kAlignment);
    return nullptr;
  }
  const Dim& bytes() const { return bytes_; }

 private:
  Dim bytes_ = 0;
};

}  // namespace

Storage::Storage(Program& program)
    : program_(program), graph_(*program.graph), paged_(paged_states(graph_)), operand_of_(graph_.values.size()) {
  for (const ValueId v : graph_.values.ids())
    if (graph_.value(v).kind == ValueKind::input) program_.inputs.push_back(operand(v));
  for (const ValueId state : paged_.states) program_.paged.push_back(operand(state));
  if (paged_.places != kNone) program_.places = operand(paged_.places);
  alias_guard_outputs();
  alias_in_place();
}

DimId Storage::dim(const Dim& d) {
  const auto at = std::find(program_.dims.begin(), program_.dims.end(), d);
  return at != program_.dims.end() ? DimId(at - program_.dims.begin()) : program_.dims.add(d);
}

BufferId Storage::add_buffer(std::string name, BufferKind kind, Dim bytes) {
  return program_.buffers.add({std::move(name), kind, std::move(bytes)});
}

// A guard's outputs share memory with what its bodies yield, where a body makes the value itself.
void Storage::alias_guard_outputs() {
  for (const Node& node : graph_.nodes) {
    if (!has_role(node, Role::guard)) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      for (size_t b = 0; b < 2; ++b) {
        const ValueId yield = node.yields[b][i];
        if (makes(node.bodies[b], yield) && !alias_.count(yield)) alias_[yield] = node.outputs[i];
      }
  }
}

// Looks only at the graph's own block: a value there is made once, and its readers come after it.
void Storage::alias_in_place() {
  for (size_t at = 0; at < graph_.top.nodes.size(); ++at) {
    const Node& node = graph_.node(graph_.top.nodes[at]);
    if (!node.op->in_place || !may_be_overwritten(node.inputs[0], at)) continue;
    if (bytes_of(graph_.value(node.inputs[0])) == bytes_of(graph_.value(node.outputs[0])))
      alias_[node.inputs[0]] = node.outputs[0];
  }
}

/// Whether nobody reads the value behind the node at place `at` of the graph's own block, and nobody shares its memory.
bool Storage::may_be_overwritten(ValueId value, size_t at) const {
  const auto& nodes = graph_.top.nodes;
  if (graph_.value(value).kind != ValueKind::result || alias_.contains(value)) return false;
  if (std::find(nodes.begin(), nodes.end(), graph_.value(value).producer) == nodes.end()) return false;
  for (const NamedValue& output : graph_.outputs)
    if (output.value == value) return false;
  if (std::count(graph_.node(nodes[at]).inputs.begin(), graph_.node(nodes[at]).inputs.end(), value) > 1) return false;
  return std::none_of(nodes.begin() + static_cast<std::ptrdiff_t>(at) + 1, nodes.end(), [&](NodeId later) {
    const std::vector<ValueId> read = reads_of(graph_, later);
    return std::find(read.begin(), read.end(), value) != read.end();
  });
}

bool Storage::makes(const Block& body, ValueId v) const {
  const NodeId producer = graph_.value(v).producer;
  bool found = false;
  auto visit = [&](NodeId id, int) { found = found || id == producer; };
  graph_.for_each_node(body, 0, visit);
  return found && graph_.value(v).kind == ValueKind::result;
}

ValueId Storage::owner_of(ValueId v) const {
  for (auto at = alias_.find(v); at != alias_.end(); at = alias_.find(v)) v = at->second;
  return v;
}

OperandId Storage::operand(ValueId id) {
  if (operand_of_[id] != kNone) return operand_of_[id];
  const Value& v = graph_.value(id);
  Operand o;
  o.value = id;
  o.dtype = format_in_memory(v);
  if (v.kind == ValueKind::decision) {
    decision_operand(v, o);
  } else if (v.kind == ValueKind::ragged) {
    ragged_operand(id, o);
  } else {
    for (const Dim& d : v.type.content) o.width *= v.kind == ValueKind::weight || d.is_constant() ? d.constant() : 1;
    value_operand(id, v, o);
  }
  const OperandId at = program_.operands.add(o);
  if (o.is_ragged) program_.raggeds.push_back(at);
  return operand_of_[id] = at;
}

OperandId Storage::room_for(ValueId id) {
  Operand o = program_.operands[operand(id)];
  o.kind = BufferKind::arena;
  o.paged_index = -1;
  o.buffer = add_buffer(graph_.value(id).name + ".saved", BufferKind::arena, bytes_of(graph_.value(id)));
  return program_.operands.add(o);
}

Dim Storage::bytes_of(const Value& v) const {
  Dim bytes(static_cast<int64_t>(element_size(format_in_memory(v))));
  for (const Dim& d : v.type.content) bytes = bytes * d;
  return v.type.space == kNone ? bytes : bytes * graph_.space(v.type.space).count;
}

void Storage::decision_operand(const Value& v, Operand& o) {
  o.is_decision = true;
  o.branches = v.branches;
  o.fan_out = v.fan_out;
  const CellSpace& from = graph_.space(v.type.space);
  o.decision_cells = dim(from.count);
  rows_of(v.type.space, o);
  ExtentParts parts;
  lay_decision(parts, from.count, v.fan_out, v.branches);
  o.buffer = add_buffer(v.name, BufferKind::arena, parts.bytes());
}

void Storage::ragged_operand(ValueId id, Operand& o) {
  const Dim parents = ragged_parents(graph_, id), cells = ragged_cells(graph_, id);
  o.is_ragged = true;
  o.fan_out = graph_.value(id).fan_out;
  o.ragged_parents = dim(parents);
  o.ragged_cells = dim(cells);
  o.rows = o.ragged_cells;
  ExtentParts parts;
  lay_ragged(parts, parents, cells);
  o.buffer = add_buffer(graph_.value(id).name, BufferKind::arena, parts.bytes());
}

void Storage::rows_of(SpaceId space, Operand& o) {
  if (space == kNone) return;
  o.rows = dim(graph_.space(space).count);
  if (graph_.space(space).kind == SpaceKind::dense) o.per_parent = dim(graph_.space(space).per_parent);
  Dim times(1);
  SpaceId above = space;
  for (; graph_.space(above).kind == SpaceKind::dense; above = graph_.space(above).parent)
    times = times * graph_.space(above).per_parent;
  const CellSpace& s = graph_.space(above);
  if (s.kind == SpaceKind::root) return;
  if (above != space) o.times = dim(times);
  if (s.kind == SpaceKind::ragged) o.ragged = operand(s.offsets);
  if (s.kind == SpaceKind::routed || graph_.holds_members(above)) {
    const CellSpace& routed = s.kind == SpaceKind::routed ? s : graph_.space(s.parent);
    o.decision = operand(routed.decision);
    o.branch = routed.branch;
  }
}

void Storage::value_operand(ValueId id, const Value& v, Operand& o) {
  rows_of(v.type.space, o);
  switch (v.kind) {
    case ValueKind::weight:
      o.kind = BufferKind::weight;
      program_.weights.push_back(id);
      return;
    case ValueKind::input:
      o.kind = BufferKind::input;
      o.buffer = add_buffer(v.name, BufferKind::input, bytes_of(v));
      return;
    case ValueKind::state:
      if (const auto at = std::find(paged_.states.begin(), paged_.states.end(), id); at != paged_.states.end())
        o.paged_index = static_cast<int32_t>(at - paged_.states.begin());
      o.kind = o.paged_index >= 0 ? BufferKind::paged : BufferKind::state;
      o.buffer = add_buffer(v.name, o.kind, bytes_of(v));
      return;
    default:
      break;
  }
  const ValueId owner = owner_of(id);
  if (owner != id) {
    o.buffer = program_.operands[operand(owner)].buffer;
    return;
  }
  o.buffer = add_buffer(v.name, BufferKind::arena, bytes_of(v));
}

}  // namespace stormcell
