// Leaves out what nobody uses any more, and numbers everything else anew.
#include "core/graph/rewrite.h"

namespace stormcell {
namespace {

/// New ids of what is kept, in the old order; kNone for the others.
template <class Key>
IdVector<Key, Key> renumber(const IdVector<Key, bool>& kept) {
  IdVector<Key, Key> to(kept.size());
  Key next(0);
  for (const Key id : kept.ids()) {
    if (!kept[id]) continue;
    to[id] = next;
    ++next;
  }
  return to;
}

class Compacting {
 public:
  explicit Compacting(const Graph& from)
      : from_(from),
        node_kept_(from.nodes.size(), false),
        value_kept_(from.values.size(), false),
        space_kept_(from.spaces.size(), false) {}

  Graph run() {
    find_kept();
    number();
    Graph to;
    to.symbols = from_.symbols;
    copy_spaces(to);
    copy_values(to);
    copy_nodes(to);
    to.top = from_.top;
    map_block(to.top);
    to.outputs = from_.outputs;
    for (NamedValue& output : to.outputs) output.value = value_of(output.value), output.real = value_of(output.real);
    return to;
  }

 private:
  void keep_values(const std::vector<ValueId>& list) {
    for (const ValueId v : list) value_kept_[v] = true;
  }

  void keep_space(SpaceId s) {
    if (s == kNone || space_kept_[s]) return;
    const CellSpace& space = from_.space(s);
    space_kept_[s] = true;
    keep_space(space.parent);
    for (const ValueId defined_by : {space.decision, space.offsets})
      if (defined_by != kNone) value_kept_[defined_by] = true;
    keep_space(space.base);
  }

  void find_kept() {
    from_.for_each_node([&](NodeId id, int) {
      node_kept_[id] = true;
      Node node = from_.node(id);
      keep_values(node.inputs);
      keep_values(node.outputs);
      for (const auto& yields : node.yields) keep_values(yields);
      map_spaces(node, [&](SpaceId s) {
        keep_space(s);
        return s;
      });
    });
    for (const NamedValue& output : from_.outputs) value_kept_[output.value] = true;
    for (const ValueId v : from_.values.ids()) {
      if (from_.value(v).kind == ValueKind::input) value_kept_[v] = true;
      if (value_kept_[v]) keep_space(from_.value(v).type.space);
    }
  }

  // A space comes after its parent and its base, whichever was made first.
  void place(SpaceId s) {
    if (s == kNone || !space_kept_[s] || space_to_[s] != kNone) return;
    place(from_.space(s).parent);
    place(from_.space(s).base);
    space_to_[s] = space_order_.add(s);
  }

  void number() {
    space_to_.assign(from_.spaces.size(), kNone);
    for (const SpaceId s : from_.spaces.ids()) place(s);
    node_to_ = renumber(node_kept_);
    value_to_ = renumber(value_kept_);
  }

  ValueId value_of(ValueId v) const { return v == kNone ? kNone : value_to_[v]; }
  SpaceId space_of(SpaceId s) const { return s == kNone ? kNone : space_to_[s]; }
  void map_values(std::vector<ValueId>& list) const {
    for (ValueId& v : list) v = value_of(v);
  }
  void map_block(Block& block) const {
    for (NodeId& n : block.nodes) n = node_to_[n];
  }

  void copy_spaces(Graph& to) const {
    for (const SpaceId s : space_order_) {
      CellSpace space = from_.space(s);
      space.parent = space_of(space.parent);
      space.decision = value_of(space.decision);
      space.offsets = value_of(space.offsets);
      space.base = space_of(space.base);
      to.spaces.push_back(std::move(space));
    }
  }

  void copy_values(Graph& to) const {
    for (const ValueId v : from_.values.ids()) {
      if (!value_kept_[v]) continue;
      Value value = from_.value(v);
      value.type.space = space_of(value.type.space);
      if (value.producer != kNone) value.producer = node_to_[value.producer];
      to.values.push_back(std::move(value));
    }
  }

  void copy_nodes(Graph& to) const {
    for (const NodeId n : from_.nodes.ids()) {
      if (!node_kept_[n]) continue;
      Node node = from_.node(n);
      map_values(node.inputs);
      map_values(node.outputs);
      for (auto& yields : node.yields) map_values(yields);
      for (Block& body : node.bodies) map_block(body);
      map_spaces(node, [&](SpaceId s) { return space_of(s); });
      to.nodes.push_back(std::move(node));
    }
  }

  const Graph& from_;
  IdVector<NodeId, bool> node_kept_;
  IdVector<ValueId, bool> value_kept_;
  IdVector<SpaceId, bool> space_kept_;
  IdVector<NodeId, NodeId> node_to_;
  IdVector<ValueId, ValueId> value_to_;
  IdVector<SpaceId, SpaceId> space_to_;
  IdVector<SpaceId, SpaceId> space_order_;  // by new id
};

}  // namespace

Graph compact(const Graph& from) { return Compacting(from).run(); }

}  // namespace stormcell
