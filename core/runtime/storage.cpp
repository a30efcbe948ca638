#include "core/runtime/storage.h"

#include <algorithm>

#include "core/graph/operator.h"

namespace stormcell {
namespace {

constexpr int64_t kAlign = 64;

/// Bytes of a decision with these bounds, as decision_bytes() lays it out, as an extent: 5 parts of slots, 2 of cells, 3 of branches and
/// one word, each rounded up to the alignment.
Dim bytes_of_decision(const Dim& cells, int32_t fan_out, int32_t branches) {
  return cells * Dim(fan_out) * Dim(5 * 4) + cells * Dim(2 * 4) + Dim(3 * 4 * (branches + 1) + 4 + 12 * kAlign);
}

}  // namespace

Storage::Storage(Program& program) : program_(program), graph_(*program.graph), operand_of_(graph_.values.size(), -1) {
  for (size_t i = 0; i < graph_.values.size(); ++i)
    if (graph_.values[i].kind == ValueKind::input) program_.inputs.push_back(operand(static_cast<ValueId>(i)));
  alias_guard_outputs();
}

int32_t Storage::dim(const Dim& d) {
  const auto at = std::find(program_.dims.begin(), program_.dims.end(), d);
  if (at != program_.dims.end()) return static_cast<int32_t>(at - program_.dims.begin());
  program_.dims.push_back(d);
  return static_cast<int32_t>(program_.dims.size()) - 1;
}

int32_t Storage::add_buffer(std::string name, BufferKind kind, Dim bytes) {
  program_.buffers.push_back({std::move(name), kind, std::move(bytes)});
  return static_cast<int32_t>(program_.buffers.size()) - 1;
}

// A guard's outputs share memory with what its bodies yield, where a body makes the value itself.
void Storage::alias_guard_outputs() {
  for (const Node& node : graph_.nodes) {
    if (node.op->name != "guard") continue;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      for (size_t b = 0; b < 2; ++b) {
        const ValueId yield = node.yields[b][i];
        if (makes(node.bodies[b], yield) && !alias_.count(yield)) alias_[yield] = node.outputs[i];
      }
  }
}

bool Storage::makes(const Block& body, ValueId v) const {
  const NodeId producer = graph_.value(v).producer;
  bool found = false;
  auto visit = [&](NodeId id, int) { found = found || id == producer; };
  graph_.for_each_node(body, 0, visit);
  return found && graph_.value(v).kind == ValueKind::result;
}

ValueId Storage::storage_of(ValueId v) const {
  for (auto at = alias_.find(v); at != alias_.end(); at = alias_.find(v)) v = at->second;
  return v;
}

int32_t Storage::operand(ValueId id) {
  if (operand_of_[static_cast<size_t>(id)] >= 0) return operand_of_[static_cast<size_t>(id)];
  const Value& v = graph_.value(id);
  Operand o;
  o.value = id;
  o.dtype = v.type.dtype;
  if (v.kind == ValueKind::decision) {
    decision_operand(v, o);
  } else {
    for (const Dim& d : v.type.content) o.width *= v.kind == ValueKind::weight || d.is_constant() ? d.constant() : 1;
    value_operand(id, v, o);
  }
  program_.operands.push_back(o);
  return operand_of_[static_cast<size_t>(id)] = static_cast<int32_t>(program_.operands.size()) - 1;
}

int32_t Storage::room_for(ValueId id) {
  Operand o = program_.operands[static_cast<size_t>(operand(id))];
  o.kind = BufferKind::arena;
  o.buffer = add_buffer(graph_.value(id).name + ".saved", BufferKind::arena, bytes_of(graph_.value(id)));
  program_.operands.push_back(o);
  return static_cast<int32_t>(program_.operands.size()) - 1;
}

Dim Storage::bytes_of(const Value& v) const {
  Dim bytes(static_cast<int64_t>(element_size(v.type.dtype)));
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
  o.buffer = add_buffer(v.name, BufferKind::arena, bytes_of_decision(from.count, v.fan_out, v.branches));
}

void Storage::rows_of(SpaceId space, Operand& o) {
  if (space == kNone) return;
  const CellSpace& s = graph_.space(space);
  o.rows = dim(s.count);
  if (s.kind == SpaceKind::routed) {
    o.decision = operand(s.decision);
    o.branch = s.branch;
  }
}

void Storage::value_operand(ValueId id, const Value& v, Operand& o) {
  rows_of(v.type.space, o);
  switch (v.kind) {
    case ValueKind::weight:
      o.kind = BufferKind::weight;
      program_.weights.push_back({id, v.name});
      o.buffer = static_cast<int32_t>(program_.weights.size()) - 1;
      return;
    case ValueKind::input:
      o.kind = BufferKind::input;
      o.buffer = add_buffer(v.name, BufferKind::input, bytes_of(v));
      return;
    case ValueKind::state:
      o.kind = BufferKind::state;
      o.buffer = add_buffer(v.name, BufferKind::state, bytes_of(v));
      return;
    default:
      break;
  }
  const ValueId storage = storage_of(id);
  if (storage != id) {
    o.buffer = program_.operands[static_cast<size_t>(operand(storage))].buffer;
    return;
  }
  o.buffer = add_buffer(v.name, BufferKind::arena, bytes_of(v));
}

}  // namespace stormcell
