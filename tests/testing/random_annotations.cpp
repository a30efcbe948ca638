#include "tests/testing/random_annotations.h"

#include <algorithm>

#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"

namespace stormcell::testing {
namespace {

bool holds(const std::vector<std::string_view>& list, std::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

class Annotating {
 public:
  Annotating(Graph& graph, const Bf16Rows& rows, uint64_t seed)
      : g_(graph),
        rows_(rows),
        random_(seed),
        users_(graph.users()),
        stores_(random_.chance(0.5) ? 1 : 0.7),
        sends_(random_.chance(0.5)) {}

  AnnotationCounts run() {
    std::vector<NodeId> order;
    g_.for_each_node([&](NodeId id, int) { order.push_back(id); });
    for (auto id = order.rbegin(); id != order.rend(); ++id)
      for (const ValueId v : g_.node(*id).outputs)
        if (may_lie_in_bf16(*id, v) && (sends_ || !has_role(g_.node(*id), Role::open)) && random_.chance(stores_)) {
          g_.value(v).annotations.set(kStorage, "bf16");
          ++counts_.stored;
          counts_.sent += has_role(g_.node(*id), Role::open);
        }
    for (const NodeId id : order) choose_kernel(g_.node(id));
    for (const Value& v : g_.values) hold(v);
    return counts_;
  }

 private:
  bool in_bf16(ValueId v) const { return format_in_memory(g_.value(v)) == DType::bf16; }
  bool is_product(const Node& n) const { return has_role(n, Role::grouped) || !n.op->grouped_as.empty(); }

  bool takes_bf16(const Node& n, ValueId v) const {
    if (n.inputs[0] != v || std::count(n.inputs.begin(), n.inputs.end(), v) > 1 || !holds(rows_.read, n.op->name))
      return false;
    if (is_product(n)) return !extra_input(n, "gain");
    return std::all_of(n.outputs.begin(), n.outputs.end(), [&](ValueId sent) { return in_bf16(sent); });
  }

  bool may_lie_in_bf16(NodeId id, ValueId v) const {
    const Node& n = g_.node(id);
    const Value& value = g_.value(v);
    if (value.kind != ValueKind::result || value.type.dtype != DType::f32 || value.type.space == kNone) return false;
    if (value.type.content.size() != 1 || value.type.content[0].constant() % 2 != 0 || !holds(rows_.write, n.op->name))
      return false;
    if (has_role(n, Role::attend) &&
        g_.value(n.inputs[2]).type.content[0].constant() / integer_of(n, "kv_heads") % 2 != 0)
      return false;
    if (n.op->folds_as == "multiply" && g_.value(n.inputs[0]).type.content != g_.value(n.inputs[1]).type.content)
      return false;
    for (const NamedValue& output : g_.outputs)
      if (output.value == v) return false;
    for (const Node& other : g_.nodes)
      for (const auto& yields : other.yields)
        if (std::find(yields.begin(), yields.end(), v) != yields.end()) return false;
    return std::all_of(users_[v].begin(), users_[v].end(), [&](NodeId user) { return takes_bf16(g_.node(user), v); });
  }

  void choose_kernel(Node& n) {
    const bool bf16 =
        std::any_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) { return in_bf16(v) && !is_weight(v); }) ||
        std::any_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) { return in_bf16(v); });
    if (n.op->name == "linear" && !bf16 && random_.chance(0.2)) {
      n.annotations.set(kKernel, "linear.plain");
    } else if (has_role(n, Role::close) && !joins_slots(n) && random_.chance(0.3)) {
      n.annotations.set(kKernel, "gather.chains");
    } else {
      return;
    }
    ++counts_.kernels;
  }

  /// Rows that may in part not be computed.
  bool joins_slots(const Node& gather) const {
    const SpaceId space = g_.value(gather.inputs[0]).type.space;
    return space != kNone && g_.space(space).kind == SpaceKind::routed && g_.space(space).branch == kAllBranches;
  }
  bool is_weight(ValueId v) const { return g_.value(v).kind == ValueKind::weight; }

  /// A matrix that only products read, none of a kernel of its own.
  void hold(const Value& weight) {
    if (weight.kind != ValueKind::weight || weight.type.dtype != DType::bf16 || weight.type.content.size() != 2) return;
    const ValueId id(&weight - g_.values.data());
    for (const NodeId user : users_[id]) {
      const Node& n = g_.node(user);
      // All branches of a grouped product are held alike.
      if (n.op->name != "linear" || !n.annotations.empty() || n.inputs[1] != id) return;
    }
    if (users_[id].empty() || !random_.chance(0.2)) return;
    g_.value(id).annotations.set(kFormat, "f32");
    ++counts_.formats;
  }

  Graph& g_;
  const Bf16Rows& rows_;
  Random random_;
  IdVector<ValueId, std::vector<NodeId>> users_;
  double stores_;  // how likely a value that may lie in bf16 does
  bool sends_;     // rows that are sent to branches may
  AnnotationCounts counts_;
};

}  // namespace

AnnotationCounts annotate_randomly(Graph& graph, const Bf16Rows& rows, uint64_t seed) {
  return Annotating(graph, rows, seed).run();
}

}  // namespace stormcell::testing
