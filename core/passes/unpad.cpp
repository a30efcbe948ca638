// Cells that a mask names as padding are left out: compact(mask) tells the real ones, what enters their computation is
// packed, what the model gives is expanded again, with zeros in padding. Products, attention, routers and branches in
// between run on real cells; they keep their names, so that records, replay and other passes know them.
//
// The same answer for real cells where padding cannot reach them: attention must mask it, capacity must count it last.
// The data is asked whether a mask's own values allow that: padding at the end, no sequence without a real cell.
#include "core/passes/unpad.h"

#include <algorithm>
#include <set>

#include "core/base/listed_words.h"
#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/rewrite.h"
#include "core/graph/roles.h"
#include "core/graph/spaces.h"
#include "core/passes/reasons.h"

namespace stormcell {
namespace {

/// A plan to compact the cells of one space.
struct Plan {
  ValueId mask = kNone;
  SpaceId space = kNone;
  std::vector<NodeId> nodes;    ///< over cells of the space, or of what is routed from it: they run on real cells
  std::set<ValueId> made;       ///< values that they make
  std::vector<NodeId> readers;  ///< over other cells, that attend to these
  bool needs_padding_last = false, needs_some_in_each = false;
  std::string obstacle;  ///< why not; empty: nothing stands in the way
};

class Planner {
 public:
  Planner(const Graph& graph, ValueId mask) : g_(graph) {
    plan_.mask = mask;
    plan_.space = graph.value(mask).type.space;
  }

  Plan make() {
    for (const NodeId id : g_.top.nodes) visit(id, g_.node(id));
    for (const NamedValue& output : g_.outputs) {
      if (!plan_.made.contains(output.value)) continue;
      if (output.real != plan_.mask) object("output " + output.name + " counts padding");
    }
    if (plan_.nodes.empty()) object("nothing is computed on its cells");
    if (!plan_.obstacle.empty() && leaves_out_itself()) plan_.obstacle = "the model itself leaves padding out";
    return std::move(plan_);
  }

 private:
  /// Whether the model compacts its prompt itself, as decoder-only models do.
  bool leaves_out_itself() const {
    return std::any_of(g_.values.begin(), g_.values.end(), [&](const Value& v) {
      return v.kind == ValueKind::ragged && g_.node(v.producer).inputs[0] == plan_.mask;
    });
  }
  void object(std::string why) {
    if (plan_.obstacle.empty()) plan_.obstacle = std::move(why);
  }
  bool over(ValueId v) const {
    const SpaceId space = g_.value(v).type.space;
    return space != kNone && g_.value(v).kind != ValueKind::weight && g_.dense_ancestor(space) == plan_.space;
  }
  bool reads_made(const Node& n) const {
    return std::any_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) { return plan_.made.contains(v); });
  }

  void visit(NodeId id, const Node& n) {
    if (!n.bodies.empty()) {
      for (const ValueId v : reads_of(g_, id))
        if (plan_.made.contains(v)) object(node_text(n) + " reads the rows of padding, too");
      return;
    }
    const bool makes = std::any_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) { return over(v); });
    if (has_role(n, Role::attend)) return attend(id, n, makes);
    if (makes && may_run_on_real_cells(n)) {
      plan_.nodes.push_back(id);
      plan_.made.insert(n.outputs.begin(), n.outputs.end());
      return;
    }
    // A node that stays as it is may read inputs, and values that were made of them alone; else it would read cells
    // that are not computed.
    if (reads_made(n)) object(node_text(n) + " reads padding");
  }

  /// Cell by cell; or a router whose capacity counts padding last.
  bool may_run_on_real_cells(const Node& n) {
    if (has_effect(*n.op)) return false;
    if (is_route(n)) {
      const Protocol protocol = protocol_of(n.attributes);
      if (mixes_batch(protocol))
        object("router " + n.name + " gives its places by priority over the batch, padding included");
      if (!mixes_parent(protocol)) return true;
      // Within a branch capacity is counted over all cells of the batch: padding of one sequence comes before real
      // cells of the next.
      if (!is_grouped(g_, g_.value(n.outputs[0]).type.space))
        object("router " + n.name + " counts its places over the whole batch, padding included");
      plan_.needs_padding_last = true;
      return true;
    }
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const Flow flow = n.op->flow ? n.op->flow(g_, n, i) : Flow{Mix::batch};
      // A node that hands a parent's row to its cells does so for the real ones.
      const bool hands_down = flow.mix == Mix::within && flow.space == g_.value(n.inputs[i]).type.space;
      if (flow.mix != Mix::cell && flow.mix != Mix::none && !hands_down) return false;
    }
    return true;
  }

  /// Keys among the cells must not be seen where they pad: the mask hides them, or they are behind every real query.
  void attend(NodeId id, const Node& n, bool makes) {
    const bool keys = over(n.inputs[1]);
    if (!makes && !keys) return;
    if (g_.holds_members(g_.value(n.inputs[keys ? 1 : 0]).type.space) || extra_input(n, "step"))
      return object(node_text(n) + " reads a cache or routed sequences");
    if (keys) {
      const auto mask = extra_input(n, "mask");
      const bool causal = n.op->flow(g_, n, 1).mix == Mix::before;
      if (mask && n.inputs[*mask] == plan_.mask) {
        plan_.needs_some_in_each = true;
      } else if (causal && makes) {
        plan_.needs_padding_last = true;
      } else {
        return object(node_text(n) + " attends to padding");
      }
    }
    if (makes) {
      plan_.nodes.push_back(id);
      plan_.made.insert(n.outputs.begin(), n.outputs.end());
    } else {
      plan_.readers.push_back(id);
    }
  }

  const Graph& g_;
  Plan plan_;
};

/// Carries a plan out, in place: the nodes stay, their values move to the real cells.
class Compacting {
 public:
  Compacting(Rewriter& rewriter, const Plan& plan) : rewriter_(rewriter), g_(rewriter.graph()), plan_(plan) {}

  void run() {
    const std::string name = g_.space(plan_.space).name;
    const NodeId told = rewriter_.make_node("compact", {plan_.mask}, {}, name + ".real");
    ragged_ = g_.node(told).outputs[0];
    real_ = ragged_space(g_, ragged_, g_.space(plan_.space).parent);
    std::vector<NodeId> order{told};
    const std::set<NodeId> mine(plan_.nodes.begin(), plan_.nodes.end()),
        readers(plan_.readers.begin(), plan_.readers.end());
    const std::vector<NodeId> before = g_.top.nodes;
    for (const ValueId v : plan_.made) move(v);
    for (const NodeId id : before) {
      if (mine.contains(id) || readers.contains(id)) {
        unmask(id);
        for (size_t i = 0; i < g_.node(id).inputs.size(); ++i) {
          const ValueId packed = packed_value(g_.node(id).inputs[i], order);
          g_.node(id).inputs[i] = packed;
        }
      }
      if (mine.contains(id)) map_spaces(g_.node(id), [&](SpaceId s) { return s == plan_.space ? real_ : s; });
      order.push_back(id);
    }
    for (NamedValue& output : g_.outputs) {
      if (!plan_.made.contains(output.value)) continue;
      const NodeId expand = rewriter_.make_node("expand", {output.value, ragged_}, {}, output.name + ".expanded");
      output.value = g_.node(expand).outputs[0];
      order.push_back(expand);
    }
    g_.top.nodes = std::move(order);
  }

 private:
  /// Values over the space, and decisions about it: the branches of those lie below the real cells then.
  void move(ValueId v) {
    Value& value = g_.value(v);
    if (value.type.space != plan_.space) return;
    value.type.space = real_;
    if (value.kind != ValueKind::decision) return;
    for (CellSpace& s : g_.spaces)
      if (s.decision == v) s.parent = real_;
  }

  /// No key pads any more.
  void unmask(NodeId id) {
    Node& n = g_.node(id);
    if (!has_role(n, Role::attend)) return;
    const auto mask = extra_input(n, "mask");
    if (!mask || n.inputs[*mask] != plan_.mask) return;
    n.inputs.erase(n.inputs.begin() + *mask);
    remove_extra(n, "mask");
  }

  /// The real cells' rows of a value that is there for all.
  ValueId packed_value(ValueId v, std::vector<NodeId>& order) {
    if (g_.value(v).type.space != plan_.space || g_.value(v).kind == ValueKind::weight || v == ragged_) return v;
    // A state may change between two uses.
    const bool kept = g_.value(v).kind != ValueKind::state;
    if (const auto at = packed_.find(v); kept && at != packed_.end()) return at->second;
    const NodeId pack = rewriter_.make_node("pack", {v, ragged_}, {{"spaces", std::vector{int64_t{real_}}}},
                                            g_.value(v).name + ".real");
    order.push_back(pack);
    g_.value(g_.node(pack).outputs[0]).annotations = g_.value(v).annotations;
    return packed_[v] = g_.node(pack).outputs[0];
  }

  Rewriter& rewriter_;
  Graph& g_;
  const Plan& plan_;
  ValueId ragged_ = kNone;
  SpaceId real_ = kNone;
  ValueMap packed_;
};

/// The kernels that the device lacks for the nodes that Compacting makes; empty: none.
std::string missing_kernels(const PassInput& input, const Graph& graph, const Plan& plan) {
  AskedKernels kernels(input);
  for (const std::string_view op : {"compact", "pack"}) kernels.has(op);
  if (std::any_of(graph.outputs.begin(), graph.outputs.end(),
                  [&](const NamedValue& o) { return plan.made.contains(o.value); }))
    kernels.has("expand");
  return kernels.missing();
}

std::string why_not(const Plan& plan, const MaskFacts* facts) {
  if (!plan.obstacle.empty()) return plan.obstacle;
  if (!facts) return "the data does not say which cells are padding";
  if (facts->real == facts->cells) return "the data has no padding";
  if (plan.needs_padding_last && !facts->padding_last) return "padding comes before real cells and could displace them";
  if (plan.needs_some_in_each && !facts->some_in_each) return "some sequences have no real cell";
  return {};
}

std::string percent(int64_t part, int64_t of) {
  return std::to_string((100 * part + of / 2) / std::max<int64_t>(of, 1)) + " %";
}

}  // namespace

PassResult unpad(const PassInput& input) {
  PassResult result;
  Rewriter rewriter(input.graph);
  Refusals refusals;
  std::string done;
  for (const ValueId v : input.graph.values.ids()) {
    const Value& mask = input.graph.value(v);
    if (mask.role != InputRole::mask) continue;
    const std::string space = input.graph.space(mask.type.space).name;
    const auto facts = input.masks.find(mask.name);
    const MaskFacts* known = facts == input.masks.end() ? nullptr : &facts->second;
    const Plan plan = Planner(rewriter.graph(), v).make();
    std::string why = why_not(plan, known);
    if (why.empty()) why = missing_kernels(input, rewriter.graph(), plan);
    if (!why.empty()) {
      refusals.emplace_back(space, std::move(why));
      continue;
    }
    Compacting(rewriter, plan).run();
    result.applied = true;
    // Before real cells it shifts the blocks of keys that attention sums by.
    result.same_bits = result.same_bits && known->padding_last;
    add_to_list(done, percent(known->cells - known->real, known->cells) + " of the cells of " + space);
  }
  if (result.applied) done = "padding is not computed: " + done;
  if (!result.applied && refusals.empty()) done = "the model has no mask";
  result.reason = with_refusals(done, refusals);
  result.graph = result.applied ? rewriter.finish() : input.graph;
  return result;
}

}  // namespace stormcell
