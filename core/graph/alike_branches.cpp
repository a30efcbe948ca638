#include "core/graph/alike_branches.h"

#include <algorithm>

#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// The text of a branch's nodes, in which the branch's own values and spaces are counted from 0.
class Signature {
 public:
  Signature(const Graph& graph, SpaceId branch) : g_(graph), branch_(branch) {}

  void add(const Node& n) {
    text_ += std::string(n.op->name) + "(";
    for (const ValueId v : n.inputs) text_ += value(v) + ",";
    text_ += ")";
    for (const auto& [key, attribute] : n.attributes) text_ += key + "=" + this->attribute(*n.op, key, attribute) + ";";
    for (const ValueId v : n.outputs) {
      values_.emplace(v, values_.size());
      text_ += type(g_.value(v).type) + " ";
    }
    for (const auto& yield : n.yields)
      for (const ValueId v : yield) text_ += "yield " + value(v) + ",";
    text_ += "\n";
  }
  std::string take() { return std::move(text_); }

 private:
  std::string value(ValueId v) {
    const Value& x = g_.value(v);
    if (x.kind == ValueKind::weight) return "w" + type(x.type);
    if (const auto own = values_.find(v); own != values_.end()) return "v" + std::to_string(own->second);
    // A value scattered to this branch equals one scattered to another.
    if (x.type.space != kNone && g_.is_within(x.type.space, branch_) && x.producer != kNone)
      return "from" + to_text(x.producer) + type(x.type);
    return "value" + to_text(v);
  }
  std::string space(SpaceId s) {
    if (s == kNone || !g_.is_within(s, branch_)) return "space" + to_text(s);
    return "s" + std::to_string(spaces_.emplace(s, spaces_.size()).first->second) + "b" +
           (s == branch_ ? std::string() : std::to_string(g_.space(s).branch));
  }
  std::string type(const TensorType& t) {
    std::string text(to_text(t.dtype));
    if (t.space != kNone) text += space(t.space);
    for (const Dim& d : t.content) text += "x" + d.to_text(g_.symbols);
    return text;
  }
  std::string attribute(const Operator& op, std::string_view key, const Attribute& a) {
    if (const auto* i = std::get_if<int64_t>(&a))
      return holds_spaces(op, key) ? space(SpaceId(*i)) : std::to_string(*i);
    if (const auto* r = std::get_if<double>(&a)) return real_text(*r);
    if (const auto* w = std::get_if<std::string>(&a)) return *w;
    std::string text;
    for (const int64_t i : std::get<std::vector<int64_t>>(a))
      text += (holds_spaces(op, key) ? space(SpaceId(i)) : std::to_string(i)) + ",";
    return text;
  }

  const Graph& g_;
  SpaceId branch_;
  std::map<ValueId, size_t> values_;
  std::map<SpaceId, size_t> spaces_;
  std::string text_;
};

}  // namespace

std::map<SpaceId, SpaceId> alike_branches(const Graph& graph) {
  std::map<SpaceId, Signature> signatures;
  for (const SpaceId s : graph.spaces.ids())
    if (graph.space(s).kind == SpaceKind::routed && graph.space(s).branch != kAllBranches)
      signatures.emplace(s, Signature(graph, s));
  graph.for_each_node([&](NodeId id, int) {
    const Node& n = graph.node(id);
    if (n.outputs.empty()) return;
    SpaceId s = place_of(graph, n);
    for (; s != kNone; s = graph.space(s).parent)
      if (const auto at = signatures.find(s); at != signatures.end()) at->second.add(n);
  });
  std::map<std::pair<ValueId, std::string>, SpaceId> first;
  std::map<SpaceId, SpaceId> alike;
  // Ordered by branch, so that the lowest comes first.
  std::vector<SpaceId> order;
  for (const auto& [s, signature] : signatures) order.push_back(s);
  std::sort(order.begin(), order.end(), [&](SpaceId a, SpaceId b) {
    const CellSpace &x = graph.space(a), &y = graph.space(b);
    return std::pair(x.decision, x.branch) < std::pair(y.decision, y.branch);
  });
  for (const SpaceId s : order)
    alike[s] = first.emplace(std::pair(graph.space(s).decision, signatures.at(s).take()), s).first->second;
  return alike;
}

}  // namespace stormcell
