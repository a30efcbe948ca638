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

class Compacting {
 public:
  explicit Compacting(const Graph& from)
      : from_(from), node_kept_(from.nodes.size(), 0), value_kept_(from.values.size(), 0), space_kept_(from.spaces.size(), 0) {}

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
    for (const ValueId v : list) value_kept_[index(v)] = 1;
  }

  void keep_space(SpaceId s) {
    if (s == kNone || space_kept_[index(s)]) return;
    const CellSpace& space = from_.space(s);
    space_kept_[index(s)] = 1;
    keep_space(space.parent);
    for (const ValueId told_by : {space.decision, space.offsets})
      if (told_by != kNone) value_kept_[index(told_by)] = 1;
    keep_space(space.base);
  }

  void find_kept() {
    from_.for_each_node([&](NodeId id, int) {
      node_kept_[index(id)] = 1;
      Node node = from_.node(id);
      keep_values(node.inputs);
      keep_values(node.outputs);
      for (const auto& yields : node.yields) keep_values(yields);
      map_spaces(node, [&](SpaceId s) {
        keep_space(s);
        return s;
      });
    });
    for (const NamedValue& output : from_.outputs) value_kept_[index(output.value)] = 1;
    for (size_t i = 0; i < from_.values.size(); ++i) {
      if (from_.values[i].kind == ValueKind::input) value_kept_[i] = 1;
      if (value_kept_[i]) keep_space(from_.values[i].type.space);
    }
  }

  // A space stands behind its parent and its base, whichever was made first.
  void place(SpaceId s) {
    if (s == kNone || !space_kept_[index(s)] || space_to_[index(s)] != kNone) return;
    place(from_.space(s).parent);
    place(from_.space(s).base);
    space_to_[index(s)] = static_cast<int32_t>(space_order_.size());
    space_order_.push_back(s);
  }

  void number() {
    space_to_.assign(from_.spaces.size(), kNone);
    for (size_t s = 0; s < from_.spaces.size(); ++s) place(static_cast<SpaceId>(s));
    node_to_ = renumber(node_kept_);
    value_to_ = renumber(value_kept_);
  }

  ValueId value_of(ValueId v) const { return v == kNone ? kNone : value_to_[index(v)]; }
  SpaceId space_of(SpaceId s) const { return s == kNone ? kNone : space_to_[index(s)]; }
  void map_values(std::vector<ValueId>& list) const {
    for (ValueId& v : list) v = value_of(v);
  }
  void map_block(Block& block) const {
    for (NodeId& n : block.nodes) n = node_to_[index(n)];
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
    for (size_t v = 0; v < from_.values.size(); ++v) {
      if (!value_kept_[v]) continue;
      Value value = from_.values[v];
      value.type.space = space_of(value.type.space);
      if (value.producer != kNone) value.producer = node_to_[index(value.producer)];
      to.values.push_back(std::move(value));
    }
  }

  void copy_nodes(Graph& to) const {
    for (size_t n = 0; n < from_.nodes.size(); ++n) {
      if (!node_kept_[n]) continue;
      Node node = from_.nodes[n];
      map_values(node.inputs);
      map_values(node.outputs);
      for (auto& yields : node.yields) map_values(yields);
      for (Block& body : node.bodies) map_block(body);
      map_spaces(node, [&](SpaceId s) { return space_of(s); });
      to.nodes.push_back(std::move(node));
    }
  }

  const Graph& from_;
  std::vector<char> node_kept_, value_kept_, space_kept_;
  std::vector<int32_t> node_to_, value_to_, space_to_;
  std::vector<SpaceId> space_order_;
};

}  // namespace

Graph compact(const Graph& from) { return Compacting(from).run(); }

}  // namespace stormcell
