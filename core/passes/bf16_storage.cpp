// Products with weights in bf16 round their input to bf16, each for itself. A value that only such products read is
// rounded once if its producer stores it so. It then takes half of the memory and of the traffic, and no product has to
// round: bit for bit the same. Rows that a decision or a mask sends lie in bf16 if those that they are sent to do. If
// another reader needs them as they are, they are rounded while they are sent.
#include "core/passes/bf16_storage.h"

#include <algorithm>
#include <map>

#include "core/base/counted.h"
#include "core/base/id_vector.h"
#include "core/base/listed_words.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"
#include "core/passes/reasons.h"

namespace stormcell {
namespace {

bool holds(const std::vector<std::string_view>& list, std::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

class Bf16Storage {
 public:
  explicit Bf16Storage(const PassInput& input)
      : rows_(*input.bf16_rows),
        graph_(input.graph),
        users_(input.graph.users()),
        fixed_(input.graph.values.size(), false) {
    for (const NamedValue& output : graph_.outputs) fixed_[output.value] = true;
    // The results of a guard share memory with what its bodies yield.
    for (const Node& n : graph_.nodes)
      if (!n.bodies.empty()) {
        for (const ValueId v : n.outputs) fixed_[v] = true;
        for (const auto& yields : n.yields)
          for (const ValueId v : yields) fixed_[v] = true;
      }
  }

  void run() {
    std::vector<NodeId> order;
    graph_.for_each_node([&](NodeId id, int) { order.push_back(id); });
    // Readers first: whether rows may lie in bf16 depends on where they are sent.
    for (auto id = order.rbegin(); id != order.rend(); ++id)
      for (const ValueId v : graph_.node(*id).outputs) {
        if (!may_lie_in_bf16(*id, v)) continue;
        graph_.value(v).annotations.set(kStorage, to_text(DType::bf16));
        ++made_by_[graph_.node(*id).op->name];
      }
  }

  bool multiplies_in_bf16() const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& n) { return rounds_input(n); });
  }
  /// Values by the operators that make them: "12 of linear, 3 of rms_norm".
  std::string counts() const {
    std::string text;
    for (const auto& [op, count] : made_by_) add_to_list(text, std::to_string(count) + " of " + std::string(op));
    return text;
  }
  int64_t count() const {
    int64_t all = 0;
    for (const auto& [op, count] : made_by_) all += count;
    return all;
  }
  Graph take() { return std::move(graph_); }

 private:
  /// A product whose kernel reads rows in bf16 and rounds those that are not.
  bool rounds_input(const Node& n) const {
    if (!holds(rows_.read, n.op->name) || is_precise(n) || n.annotations.find(kKernel)) return false;
    const bool grouped = has_role(n, Role::grouped);
    if (!grouped && n.op->grouped_as.empty()) return false;
    const size_t first = grouped ? 2 : 1, last = grouped ? first + branches_sent(graph_, n).size() : plain_inputs(n);
    if (extra_count(n) > 0 && extra_input(n, "gain")) return false;
    for (size_t i = first; i < last; ++i)
      if (graph_.value(n.inputs[i]).type.dtype != DType::bf16 ||
          format_in_products(graph_.value(n.inputs[i])) != DType::bf16)
        return false;
    return true;
  }

  bool is_in_bf16(ValueId v) const { return format_in_memory(graph_.value(v)) == DType::bf16; }

  bool takes_bf16(NodeId id, ValueId v) const {
    const Node& n = graph_.node(id);
    if (n.inputs[0] != v || std::count(n.inputs.begin(), n.inputs.end(), v) > 1) return false;
    if (rounds_input(n)) return true;
    return has_role(n, Role::open) && holds(rows_.read, n.op->name) && !n.annotations.find(kKernel) &&
           std::all_of(n.outputs.begin(), n.outputs.end(), [&](ValueId sent) { return is_in_bf16(sent); });
  }

  bool may_lie_in_bf16(NodeId maker, ValueId v) const {
    const Value& value = graph_.value(v);
    const Node& n = graph_.node(maker);
    if (value.kind != ValueKind::result || value.type.dtype != DType::f32 || value.type.space == kNone || fixed_[v])
      return false;
    if (value.annotations.find(kStorage) || n.annotations.find(kKernel) || !holds(rows_.write, n.op->name))
      return false;
    // Pairs of elements are multiplied at once: a row of an odd width would end in the next.
    if (value.type.content.size() != 1 || value.type.content[0].constant() % 2 != 0) return false;
    if (!writes_even_rows(n)) return false;
    return !users_[v].empty() &&
           std::all_of(users_[v].begin(), users_[v].end(), [&](NodeId user) { return takes_bf16(user, v); });
  }

  /// Whether rows stored piece by piece have pieces of an even width. Rows multiplied row by row are not stored so.
  bool writes_even_rows(const Node& n) const {
    if (has_role(n, Role::attend)) {
      const int64_t width = graph_.value(n.inputs[2]).type.content[0].constant();
      return width / integer_of(n, "kv_heads") % 2 == 0;
    }
    if (has_role(n, Role::pointwise) && n.op->folds_as == "multiply")
      return graph_.value(n.inputs[0]).type.content == graph_.value(n.inputs[1]).type.content;
    return true;
  }

  const Bf16Rows& rows_;
  Graph graph_;
  IdVector<ValueId, std::vector<NodeId>> users_;
  IdVector<ValueId, bool> fixed_;  // by value: the plan may not choose its format
  std::map<std::string_view, int64_t> made_by_;
};

}  // namespace

PassResult bf16_storage(const PassInput& input) {
  PassResult result;
  result.graph = input.graph;
  if (!input.bf16_rows) {
    result.reason = "products of this device read activations in f32";
    return result;
  }
  Bf16Storage storage(input);
  if (!storage.multiplies_in_bf16()) {
    result.reason = "no product has weights in bf16 (--dtype bf16 converts them)";
    return result;
  }
  storage.run();
  if (storage.count() == 0) {
    result.reason = "no value is read only by products in bf16";
    return result;
  }
  result.applied = true;
  result.reason = counted(storage.count(), "value") + " that only products in bf16 read " +
                  (storage.count() == 1 ? "is" : "are") + " stored in bf16: " + storage.counts() +
                  (has_guards(input.graph) ? " (fallbacks included)" : "");
  result.graph = storage.take();
  check_annotations(result.graph);
  return result;
}

}  // namespace stormcell
