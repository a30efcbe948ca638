#include "core/graph/cell_flow.h"

#include <algorithm>

#include "core/base/id_vector.h"
#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/relation_algebra.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

using Row = std::vector<CellDependence>;  // dependences of one value, by source

/// True when the weights of the chosen branches are computed from the scores; else they are 1.
bool weights_from_scores(const Node& route) {
  return protocol_row(protocol_of(route.attributes).kind).weighting != Weighting::one;
}

class Analysis {
 public:
  Analysis(const Graph& graph, const std::vector<ValueId>& sources, RepeatStop stop)
      : g_(graph), sources_(sources), stop_(stop), rows_(graph.values.size(), Row(sources.size())) {
    for (size_t s = 0; s < sources.size(); ++s) {
      const CellRelation self = identity_relation(g_, g_.value(sources[s]).type.space);
      row(sources[s])[s] = {self, self};
    }
  }

  void run() { block(g_.top); }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  Row& row(ValueId v) { return rows_[v]; }
  SpaceId space(ValueId v) const { return g_.value(v).type.space; }

  /// Adds to `into`, a value over `to`, what comes from `from` by the flow.
  void add(Row& into, SpaceId to, ValueId from, const Flow& flow, bool data = true, bool full = true) {
    if (g_.value(from).kind == ValueKind::weight) return;
    const Row& r = row(from);
    for (size_t s = 0; s < into.size(); ++s) {
      if (data && !flow.decision_only)
        into[s].data = join(g_, into[s].data, compose(g_, r[s].data, flow, space(from), to));
      if (full) into[s].full = join(g_, into[s].full, compose(g_, r[s].full, flow, space(from), to));
    }
  }
  void join_rows(Row& into, const Row& other) {
    for (size_t s = 0; s < into.size(); ++s) {
      into[s].data = join(g_, into[s].data, other[s].data);
      into[s].full = join(g_, into[s].full, other[s].full);
    }
  }

  void block(const Block& block) {
    for (const NodeId id : block.nodes) node(g_.node(id));
  }

  void node(const Node& n) {
    if (has_role(n, Role::repeat)) return repeat(n);
    if (has_role(n, Role::guard)) return guard(n);
    if (has_role(n, Role::state)) return state(n);
    for (const ValueId out : n.outputs) {
      Row fresh(sources_.size());
      const SpaceId to = space(out);
      for (size_t i = 0; i < n.inputs.size(); ++i) {
        const ValueId in = n.inputs[i];
        const Flow flow = n.op->flow ? n.op->flow(g_, n, i) : Flow{Mix::batch};
        if (is_route(n)) {
          // Choosing counts in full only; the cell's own scores weigh what was chosen.
          add(fresh, to, in, flow, false);
          add(fresh, to, in, {Mix::cell}, weights_from_scores(n));
        } else if (g_.value(in).kind == ValueKind::decision) {
          // Scatters, grouped products and predicates ask only who was chosen.
          add(fresh, to, in, flow, flow.weights);
        } else {
          add(fresh, to, in, flow);
        }
      }
      if (has_role(n, Role::close)) decisions_of_gather(n, fresh, to);
      row(out) = std::move(fresh);
    }
  }

  /// The rows that come depend on all decisions between the rows' spaces and the gather's; `weighted` reads their
  /// weights too.
  void decisions_of_gather(const Node& n, Row& into, SpaceId to) {
    const bool weighted = n.attributes.word("mode") == "weighted";
    for (const ValueId in : n.inputs)
      for (SpaceId s = space(in); s != kNone && s != to; s = g_.origin(s)) {
        const CellSpace& cells = g_.space(s);
        if (cells.kind == SpaceKind::routed) add(into, to, cells.decision, {Mix::cell}, weighted);
        if (cells.kind != SpaceKind::ragged) continue;
        add(into, to, cells.offsets, {Mix::cell});
        // Members go where their parents are sent: the parent's decision is all its cells'.
        if (!g_.holds_members(s)) continue;
        const CellSpace& above = g_.space(cells.parent);
        add(into, to, above.decision, {Mix::within, above.parent}, weighted);
      }
  }

  void state(const Node& n) {
    const ValueId state = n.inputs[0];
    if (!written_.empty()) written_.back().push_back(state);
    // The write replaces the content, except for rows that stay.
    Row fresh = n.op->keeps_rows ? row(state) : Row(sources_.size());
    for (size_t i = 1; i < n.inputs.size(); ++i) add(fresh, space(state), n.inputs[i], n.op->flow(g_, n, i));
    row(state) = std::move(fresh);
  }

  /// Both bodies compute the same for every input, so that the predicate adds nothing.
  void guard(const Node& n) {
    const std::vector<Row> before = states();
    block(n.bodies[0]);
    const std::vector<Row> taken = states();
    restore(before);
    block(n.bodies[1]);
    size_t i = 0;
    for (const ValueId v : sources_)
      if (g_.value(v).kind == ValueKind::state) join_rows(row(v), taken[i++]);
    for (size_t out = 0; out < n.outputs.size(); ++out) {
      row(n.outputs[out]) = row(n.yields[0][out]);
      join_rows(row(n.outputs[out]), row(n.yields[1][out]));
    }
  }

  /// Turns until nothing is added. Whether another turn runs is asked of the stop, by everything that turns write.
  void repeat(const Node& n) {
    for (;;) {
      const std::vector<Row> before = states();
      written_.emplace_back();
      block(n.bodies[0]);
      std::vector<ValueId> written = std::move(written_.back());
      written_.pop_back();
      std::sort(written.begin(), written.end());
      written.erase(std::unique(written.begin(), written.end()), written.end());
      if (stop_ == RepeatStop::counts)
        for (const ValueId state : written) add(row(state), space(state), n.yields[0][0], {Mix::batch});
      if (!written_.empty()) written_.back().insert(written_.back().end(), written.begin(), written.end());
      size_t i = 0;
      bool grown = false;
      for (const ValueId v : sources_) {
        if (g_.value(v).kind != ValueKind::state) continue;
        const Row& old = before[i++];
        join_rows(row(v), old);
        grown = grown || row(v) != old;
      }
      if (!grown) return;
    }
  }

  std::vector<Row> states() {
    std::vector<Row> rows;
    for (const ValueId v : sources_)
      if (g_.value(v).kind == ValueKind::state) rows.push_back(row(v));
    return rows;
  }
  void restore(const std::vector<Row>& rows) {
    size_t i = 0;
    for (const ValueId v : sources_)
      if (g_.value(v).kind == ValueKind::state) row(v) = rows[i++];
  }

  const Graph& g_;
  const std::vector<ValueId>& sources_;
  RepeatStop stop_;
  IdVector<ValueId, Row> rows_;
  std::vector<std::vector<ValueId>> written_;  // states, by enclosing repeat
};

}  // namespace

CellFlow analyze_cell_flow(const Graph& graph, RepeatStop stop) {
  CellFlow flow;
  for (const ValueId v : graph.values.ids())
    if (graph.value(v).kind == ValueKind::input || graph.value(v).kind == ValueKind::state) flow.sources_.push_back(v);
  Analysis analysis(graph, flow.sources_, stop);
  analysis.run();
  flow.dependences_ = analysis.take();
  flow.routers_ = router_flows(graph);
  return flow;
}

const CellDependence& CellFlow::relation(ValueId value, ValueId source) const {
  const auto at = std::lower_bound(sources_.begin(), sources_.end(), source);
  return dependences_.at(static_cast<size_t>(value)).at(static_cast<size_t>(at - sources_.begin()));
}

const RouterFlow* CellFlow::router(std::string_view name) const {
  const auto at = std::find_if(routers_.begin(), routers_.end(), [&](const RouterFlow& r) { return r.name == name; });
  return at == routers_.end() ? nullptr : &*at;
}

}  // namespace stormcell
