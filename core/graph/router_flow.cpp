#include "core/graph/router_flow.h"

#include <algorithm>

#include "core/base/id_vector.h"
#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// States that a block's nodes write, bodies included.
void written_states(const Graph& g, const Block& block, std::vector<ValueId>& states) {
  const auto visit = [&](NodeId id, int) {
    const Node& n = g.node(id);
    if (has_role(n, Role::state)) states.push_back(n.inputs[0]);
  };
  g.for_each_node(block, 0, visit);
}

/// How a route node itself mixes cells.
void own_mixing(const Graph& g, const Node& n, std::vector<Mixing>& mixes) {
  const Flow flow = n.op->flow(g, n, 0);
  if (flow.mix == Mix::cell || flow.mix == Mix::none) return;
  const bool priority = mixes_batch(protocol_of(n.attributes));
  mixes.push_back(
      {priority ? "priority" : "capacity", flow.mix == Mix::batch ? kNone : flow.space, flow.mix == Mix::before});
}

void add_mixing(const Graph& g, const Node& n, std::vector<Mixing>& mixes) {
  if (has_role(n, Role::exchange)) return;  // moves rows between ranks, and back
  for (size_t i = 0; i < n.inputs.size() && n.op->flow; ++i) {
    const Flow flow = n.op->flow(g, n, i);
    if (flow.mix == Mix::cell || flow.mix == Mix::none) continue;
    // An operator that only hands a parent's row to its cells mixes nothing.
    if (flow.mix == Mix::within && flow.space == g.value(n.inputs[i]).type.space) continue;
    const Mixing mixing{std::string(n.op->name), flow.mix == Mix::batch ? kNone : flow.space, flow.mix == Mix::before};
    if (std::find(mixes.begin(), mixes.end(), mixing) == mixes.end()) mixes.push_back(mixing);
  }
}

}  // namespace

IdVector<ValueId, std::vector<ValueId>> value_successors(const Graph& g) {
  IdVector<ValueId, std::vector<ValueId>> next(g.values.size());
  const auto link = [&](ValueId from, ValueId to) {
    if (g.value(from).kind != ValueKind::weight) next[from].push_back(to);
  };
  g.for_each_node([&](NodeId id, int) {
    const Node& n = g.node(id);
    if (has_role(n, Role::guard)) {
      for (const auto& yield : n.yields)
        for (size_t i = 0; i < n.outputs.size(); ++i) link(yield[i], n.outputs[i]);
      return;
    }
    if (has_role(n, Role::repeat)) {
      std::vector<ValueId> states;
      written_states(g, n.bodies[0], states);
      for (const ValueId state : states) link(n.yields[0][0], state);
      return;
    }
    if (has_role(n, Role::state)) {
      for (size_t i = 1; i < n.inputs.size(); ++i) link(n.inputs[i], n.inputs[0]);
      return;
    }
    for (const ValueId out : n.outputs) {
      for (const ValueId in : n.inputs) link(in, out);
      if (!has_role(n, Role::close)) continue;
      for (const ValueId in : n.inputs)
        for (SpaceId s = g.value(in).type.space; s != kNone && s != g.value(out).type.space; s = g.origin(s)) {
          if (g.space(s).kind == SpaceKind::routed) link(g.space(s).decision, out);
          if (g.space(s).kind == SpaceKind::ragged) link(g.space(s).offsets, out);
        }
    }
  });
  return next;
}

std::vector<RouterFlow> router_flows(const Graph& g) {
  std::vector<NodeId> order;
  g.for_each_node([&](NodeId id, int) { order.push_back(id); });
  const IdVector<ValueId, std::vector<ValueId>> next = value_successors(g);
  std::vector<RouterFlow> flows;
  for (size_t at = 0; at < order.size(); ++at) {
    const Node& route = g.node(order[at]);
    if (!is_route(route)) continue;
    RouterFlow flow;
    flow.router = order[at];
    flow.decision = route.outputs[0];
    flow.name = route.name;
    IdVector<ValueId, bool> reached(g.values.size(), false);
    std::vector<ValueId> open{flow.decision};
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      for (const ValueId w : next[v]) {
        if (reached[w]) continue;
        reached[w] = true;
        open.push_back(w);
      }
    }
    for (const NodeId id : order) {
      const Node& n = g.node(id);
      for (const ValueId v : n.outputs)
        if (reached[v]) flow.values.push_back(v);
      if (is_route(n) && reached[n.outputs[0]]) flow.routers.push_back(n.name);
    }
    for (const NamedValue& o : g.outputs)
      if (reached[o.value]) flow.outputs.push_back(o.name);

    own_mixing(g, route, flow.mixes);
    // The next router is the first one behind that is no part of a branch of this one.
    const SpaceId from = g.value(flow.decision).type.space;
    const auto inside = [&](SpaceId s) {
      for (; s != kNone && s != from; s = g.space(s).parent)
        if (g.space(s).kind == SpaceKind::routed && g.space(s).decision == flow.decision) return true;
      return false;
    };
    for (size_t i = at + 1; i < order.size(); ++i) {
      const Node& n = g.node(order[i]);
      if (is_route(n) && reached[n.outputs[0]] && !inside(g.value(n.outputs[0]).type.space)) break;
      if (is_route(n)) continue;
      const auto routed = [&](ValueId v) { return reached[v]; };
      if (std::any_of(n.inputs.begin(), n.inputs.end(), routed)) add_mixing(g, n, flow.mixes);
    }
    flows.push_back(std::move(flow));
  }
  return flows;
}

std::string to_text(const Graph& graph, const Mixing& mixing) {
  if (mixing.within == kNone) return mixing.what + " over the batch";
  return mixing.what + " within " + graph.space(mixing.within).name + (mixing.ordered ? ", in order" : "");
}

}  // namespace stormcell
