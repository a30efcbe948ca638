// What nobody uses any more is left out, everything else numbered anew.
#include "core/graph/rewrite.h"

namespace stormcell {
namespace {

size_t index(int32_t id) { return static_cast<size_t>(id); }

/// Numbers of what is kept, in the old order; kNone for the others.
std::vector<int32_t> renumber(const std::vector<char>& kept) {
  std::vector<int32_t> to(kept.size(), kNone);
  int32_t next = 0;
  for (size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) to[i] = next++;
  return to;
}

}  // namespace

Graph compact(const Graph& from) {
  std::vector<char> node_kept(from.nodes.size(), 0), value_kept(from.values.size(), 0), space_kept(from.spaces.size(), 0);
  const auto keep_space = [&](auto&& self, SpaceId s) -> void {
    if (s == kNone || space_kept[index(s)]) return;
    space_kept[index(s)] = 1;
    self(self, from.space(s).parent);
    for (const ValueId told_by : {from.space(s).decision, from.space(s).offsets})
      if (told_by != kNone) value_kept[index(told_by)] = 1;
    self(self, from.space(s).base);
  };
  from.for_each_node([&](NodeId id, int) {
    node_kept[index(id)] = 1;
    const Node& node = from.node(id);
    for (const ValueId v : node.inputs) value_kept[index(v)] = 1;
    for (const ValueId v : node.outputs) value_kept[index(v)] = 1;
    for (const auto& yields : node.yields)
      for (const ValueId v : yields) value_kept[index(v)] = 1;
    Node seen = node;
    map_spaces(seen, [&](SpaceId s) {
      keep_space(keep_space, s);
      return s;
    });
  });
  for (const NamedValue& output : from.outputs) value_kept[index(output.value)] = 1;
  for (size_t i = 0; i < from.values.size(); ++i) {
    if (from.values[i].kind == ValueKind::input) value_kept[i] = 1;
    if (value_kept[i]) keep_space(keep_space, from.values[i].type.space);
  }

  // A space stands behind its parent and its base, whichever was made first.
  std::vector<SpaceId> space_order;
  std::vector<int32_t> space_to(from.spaces.size(), kNone);
  const auto place = [&](auto&& self, SpaceId s) -> void {
    if (s == kNone || !space_kept[index(s)] || space_to[index(s)] != kNone) return;
    self(self, from.space(s).parent);
    self(self, from.space(s).base);
    space_to[index(s)] = static_cast<int32_t>(space_order.size());
    space_order.push_back(s);
  };
  for (size_t s = 0; s < from.spaces.size(); ++s) place(place, static_cast<SpaceId>(s));
  const std::vector<int32_t> node_to = renumber(node_kept), value_to = renumber(value_kept);
  const auto value_of = [&](ValueId v) { return v == kNone ? kNone : value_to[index(v)]; };
  const auto space_of = [&](SpaceId s) { return s == kNone ? kNone : space_to[index(s)]; };
  const auto map_values = [&](std::vector<ValueId>& list) {
    for (ValueId& v : list) v = value_of(v);
  };
  Graph to;
  to.symbols = from.symbols;
  for (const SpaceId s : space_order) {
    CellSpace space = from.space(s);
    space.parent = space_of(space.parent);
    space.decision = value_of(space.decision);
    space.offsets = value_of(space.offsets);
    space.base = space_of(space.base);
    to.spaces.push_back(std::move(space));
  }
  for (size_t v = 0; v < from.values.size(); ++v) {
    if (!value_kept[v]) continue;
    Value value = from.values[v];
    value.type.space = space_of(value.type.space);
    if (value.producer != kNone) value.producer = node_to[index(value.producer)];
    to.values.push_back(std::move(value));
  }
  const auto map_block = [&](Block& block) {
    for (NodeId& n : block.nodes) n = node_to[index(n)];
  };
  for (size_t n = 0; n < from.nodes.size(); ++n) {
    if (!node_kept[n]) continue;
    Node node = from.nodes[n];
    map_values(node.inputs);
    map_values(node.outputs);
    for (auto& yields : node.yields) map_values(yields);
    for (Block& body : node.bodies) map_block(body);
    map_spaces(node, space_of);
    to.nodes.push_back(std::move(node));
  }
  to.top = from.top;
  map_block(to.top);
  to.outputs = from.outputs;
  for (NamedValue& output : to.outputs) output.value = value_of(output.value), output.real = value_of(output.real);
  return to;
}

}  // namespace stormcell
