#include "core/verification/judged_decision.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/relation_algebra.h"
#include "core/graph/roles.h"
#include "core/graph/spaces.h"
#include "core/graph/within.h"

namespace stormcell {
namespace {

/// The rows that a decision above sends to `branch` (or to all): each row's cell there and its branch.
std::vector<std::pair<int64_t, int32_t>> sent_rows(const JudgedDecision& above, int32_t branch) {
  std::vector<std::pair<int64_t, int32_t>> rows;
  const int32_t first = branch == kAllBranches ? 0 : branch,
                last = branch == kAllBranches ? above.shape.branches - 1 : branch;
  for (int32_t b = first; b <= last; ++b)
    for (int64_t i = 0; i < above.shape.slot_count(); ++i)
      if (above.choice[i] == b) rows.emplace_back(i / above.shape.fan_out, b);
  return rows;
}

/// Rows of the dense space `space` below one cell of the relation's meet; 0: all of the batch.
int64_t rows_together(const Graph& graph, const Bindings& bindings, SpaceId space, const CellRelation& relation) {
  if (relation.reach == CellRelation::Reach::none) return 1;
  if (relation.reach == CellRelation::Reach::batch) return 0;
  int64_t rows = 1;
  for (; space != kNone && space != relation.meet; space = graph.space(space).parent) {
    if (graph.space(space).kind != SpaceKind::dense) return 0;
    rows *= graph.space(space).per_parent.evaluate(bindings);
  }
  return space == kNone ? 0 : rows;
}

/// Rows of the space below one cell of the root; 0: their number differs.
int64_t rows_of_item(const Graph& graph, const Bindings& bindings, SpaceId space) {
  int64_t rows = 1;
  for (; graph.space(space).kind == SpaceKind::dense; space = graph.space(space).parent)
    rows *= graph.space(space).per_parent.evaluate(bindings);
  return graph.space(space).kind == SpaceKind::root ? rows : 0;
}

/// Nodes that a repeat runs again and again.
std::set<NodeId> repeated_nodes(const Graph& graph) {
  std::set<NodeId> repeated;
  const std::function<void(const Block&, bool)> visit = [&](const Block& block, bool inside) {
    for (const NodeId id : block.nodes) {
      if (inside) repeated.insert(id);
      const Node& node = graph.node(id);
      for (const Block& body : node.bodies) visit(body, inside || has_role(node, Role::repeat));
    }
  };
  visit(graph.top, false);
  return repeated;
}

/// Decisions of one execution under construction: by node, in the order they were made.
class CellPlaces {
 public:
  explicit CellPlaces(const Graph& graph) : graph_(graph) {}

  /// Fills identity, rule and parents of `d`, which the route node `node` made. `ancestor`: of each cell its row in the
  /// dense space; empty where the router decides over that space.
  void fill(NodeId node, const Bindings& bindings, const std::vector<int32_t>& ancestor, JudgedDecision& d) {
    const Node& n = graph_.node(node);
    d.protocol = protocol_of(n.attributes);
    const SpaceId space = graph_.value(n.outputs[0]).type.space;
    d.dense_space = graph_.dense_ancestor(space);
    d.dense_name = graph_.space(d.dense_space).name;
    d.per_item = rows_of_item(graph_, bindings, d.dense_space);
    const CellSpace& s = graph_.space(space);
    const CellSpace& dense = graph_.space(d.dense_space);
    if (s.kind != SpaceKind::routed && dense.kind == SpaceKind::dense)
      d.per_parent = dense.per_parent.evaluate(bindings);
    if (s.kind == SpaceKind::ragged) {
      fill_ragged(space, ancestor, d);
    } else if (s.kind == SpaceKind::routed) {
      fill_routed(s, d);
    } else {
      d.place.resize(d.shape.cells);
      std::iota(d.place.begin(), d.place.end(), 0);
    }
    for (const FormerBranch& former : former_branches(n)) add_former(former, d);
  }
  void fill_routed(const CellSpace& s, JudgedDecision& d) {
    const JudgedDecision& above = decision_above(graph_.value(s.decision).producer, d);
    d.above = above.above;
    d.above.push_back(above.router);
    const auto rows = sent_rows(above, s.branch);
    if (std::ssize(rows) != d.shape.cells)
      failed(d.router, "decided over " + std::to_string(d.shape.cells) + " cells, " + std::to_string(rows.size()) +
                           " were sent by " + above.router);
    const size_t depth = above.depth();
    for (const auto& [cell, branch] : rows) {
      const auto from = above.place.begin() + cell * static_cast<int64_t>(depth);
      d.place.insert(d.place.end(), from, from + static_cast<int64_t>(depth));
      d.place.push_back(branch);
    }
  }
  /// All cells are in a branch to which nobody sends them any more: its router, where it decided before, sent them
  /// there.
  void add_former(const FormerBranch& former, JudgedDecision& d) const {
    const size_t depth = d.depth();
    std::vector<int32_t> place;
    for (int64_t c = 0; c < d.shape.cells; ++c) {
      const auto from = d.place.begin() + c * static_cast<int64_t>(depth);
      place.insert(place.end(), from, from + static_cast<int64_t>(depth));
      place.push_back(former.branch);
    }
    if (all_)
      for (const JudgedDecision& above : *all_)
        if (above.router == former.router && above.execution == d.execution && above.above == d.above &&
            std::ssize(sent_rows(above, former.branch)) != d.shape.cells)
          failed(d.router, "decided over " + std::to_string(d.shape.cells) + " cells as if " + former.router +
                               " had sent all of them");
    d.above.push_back(former.router);
    d.place = std::move(place);
  }
  /// Cells that a mask left, or the members of parents that another router sent to a branch.
  void fill_ragged(SpaceId space, const std::vector<int32_t>& ancestor, JudgedDecision& d) {
    if (!graph_.holds_members(space)) {
      d.place = ancestor;
      return;
    }
    const CellSpace& routed = graph_.space(graph_.space(space).parent);
    const JudgedDecision& above = decision_above(graph_.value(routed.decision).producer, d);
    d.above = above.above;
    d.above.push_back(above.router);
    const auto parent_of = [&](int32_t row) { return d.per_parent > 0 ? static_cast<int32_t>(row / d.per_parent) : 0; };
    // Slot after slot its parent's cells. They ascend: where they do not, a parent that was sent to several branches
    // begins anew.
    size_t next = 0;
    for (const auto& [cell, branch] : sent_rows(above, routed.branch)) {
      const auto from = above.place.begin() + cell * static_cast<int64_t>(above.depth());
      for (int32_t last = -1;
           next < ancestor.size() && ancestor[next] > last && parent_of(ancestor[next]) == above.row(cell); ++next) {
        last = ancestor[next];
        d.place.push_back(last);
        d.place.insert(d.place.end(), from + 1, from + static_cast<int64_t>(above.depth()));
        d.place.push_back(branch);
      }
    }
    if (next != ancestor.size()) failed(d.router, "decided over cells of a parent that was not routed");
  }
  void add(NodeId node, std::vector<JudgedDecision>& all, JudgedDecision decision) {
    all.push_back(std::move(decision));
    made_[node].push_back(all.size() - 1);
    all_ = &all;
  }

 private:
  // The decision in the same execution; for a router outside of the repeat that this one is in, its last.
  const JudgedDecision& decision_above(NodeId node, const JudgedDecision& d) const {
    const auto at = made_.find(node);
    if (at == made_.end()) failed(d.router, "decided without the router above it");
    for (const size_t i : at->second)
      if ((*all_)[i].execution == d.execution) return (*all_)[i];
    return (*all_)[at->second.back()];
  }

  const Graph& graph_;
  std::map<NodeId, std::vector<size_t>> made_;
  const std::vector<JudgedDecision>* all_ = nullptr;
};

}  // namespace

CellReach cell_reach(const Graph& graph, RepeatStop stop) {
  CellReach reach;
  const CellFlow flow = analyze_cell_flow(graph, stop);
  // A value that is one for all cells (a count of turns, say) holds no cell's content at first.
  std::vector<ValueId> sources = flow.sources();
  std::erase_if(sources, [&](ValueId source) { return graph.value(source).type.space == kNone; });
  const auto widest = [&](ValueId value) {
    CellRelation widest;
    for (const ValueId source : sources) widest = join(graph, widest, flow.relation(value, source).full);
    return widest;
  };
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    if (node.outputs.empty() || node.inputs.empty() || graph.value(node.outputs[0]).kind != ValueKind::decision) return;
    CellRelation& of = reach.routers[node.name];
    of = join(graph, of, widest(node.inputs[0]));
  });
  for (const NamedValue& output : graph.outputs)
    if (holds_items_in_order(graph, graph.value(output.value).type.space) &&
        widest(output.value).reach != CellRelation::Reach::batch)
      reach.by_item.insert(output.name);
  return reach;
}

std::vector<JudgedDecision> decisions_of(const Graph& graph, const Bindings& bindings, OracleResult<float>&& result,
                                         const CellReach& reach) {
  std::vector<JudgedDecision> all;
  CellPlaces places(graph);
  const std::set<NodeId> repeated = repeated_nodes(graph);
  std::map<NodeId, int64_t> turns;
  for (OracleDecision& o : result.decisions) {
    JudgedDecision d;
    d.router = o.router;
    d.execution = o.execution;
    if (repeated.contains(o.node)) d.turn = turns[o.node]++;
    d.shape = o.shape;
    d.choice = std::move(o.choice);
    d.free_choice = std::move(o.free_choice);
    d.weight = std::move(o.weight);
    d.margin = std::move(o.margin);
    d.scores = std::move(o.scores);
    d.bias = std::move(o.bias);
    d.score_columns = o.score_columns;
    places.fill(o.node, bindings, o.ancestor, d);
    if (const auto at = reach.routers.find(o.router); at != reach.routers.end())
      d.together = rows_together(graph, bindings, d.dense_space, at->second);
    places.add(o.node, all, std::move(d));
  }
  return all;
}

std::vector<JudgedDecision> decisions_of(const Program& program, const NamedRouters& named, const Bindings& bindings,
                                         const ExecutionResult& result, const CellReach* as_reference) {
  std::vector<JudgedDecision> all;
  CellPlaces places(*program.graph);
  std::map<int32_t, int64_t> executions;  // by named router
  for (const ExecutedDecision* e : standing_decisions(program, named, result)) {
    const ProgramRouter& router = program.routers[e->router];
    JudgedDecision d;
    d.router = router.name;
    d.execution = executions[named.of[e->router]]++;
    if (router.repeat != kNone) d.turn = e->turn;
    d.shape = e->shape;
    d.choice = e->choice;
    d.free_choice = e->free_choice;
    d.weight = e->weight;
    d.margin = e->margin;
    places.fill(router.node, bindings, e->ancestor, d);
    if (as_reference) {
      if (!extra_input(program.graph->node(router.node), "bias"))
        d.scores = e->scores, d.score_columns = e->score_columns;
      if (const auto at = as_reference->routers.find(d.router); at != as_reference->routers.end())
        d.together = rows_together(*program.graph, bindings, d.dense_space, at->second);
    }
    for (size_t c = 0; c < e->ancestor.size(); ++c)
      if (e->ancestor[c] != d.place[c * d.depth()])
        failed(d.router, "recorded cell " + std::to_string(e->ancestor[c]) + " where the routers above sent cell " +
                             std::to_string(d.place[c * d.depth()]));
    places.add(router.node, all, std::move(d));
  }
  return all;
}

ReplayedDecisions choices_to_replay(const Program& program, const std::vector<JudgedDecision>& decisions) {
  ReplayedDecisions replayed(program.routers.size());
  for (const RouterId r : replayed.ids())
    for (const JudgedDecision& d : decisions) {
      // A router of the prompt's pass and its namesake in decoding decide over different spaces.
      if (d.router != program.routers[r].name ||
          d.dense_name != program.graph->space(program.routers[r].dense_space).name)
        continue;
      ReplayedDecision& f = replayed[r].emplace_back();
      f.choice = d.choice;
      for (int64_t c = 0; c < d.shape.cells; ++c) f.ancestor.push_back(d.row(c));
    }
  return replayed;
}

std::vector<JudgedDecision> only_computed(const std::vector<JudgedDecision>& decisions,
                                          const std::map<std::string, std::vector<int32_t>>& computed) {
  std::vector<JudgedDecision> kept;
  for (const JudgedDecision& d : decisions) {
    const auto at = computed.find(d.dense_name);
    if (at == computed.end()) {
      kept.push_back(d);
      continue;
    }
    JudgedDecision& k = kept.emplace_back(d);
    k.shape.cells = 0;
    k.choice.clear(), k.free_choice.clear(), k.weight.clear(), k.margin.clear(), k.scores.clear(), k.place.clear();
    for (int64_t c = 0; c < d.shape.cells; ++c) {
      if (static_cast<size_t>(d.row(c)) >= at->second.size())
        failed(d.router, "decided over cell " + std::to_string(d.row(c)) + " of " + std::to_string(at->second.size()) +
                             " of " + d.dense_name);
      if (at->second[d.row(c)] == 0) continue;
      const auto take = [&](const auto& from, auto& to, int64_t width) {
        if (!from.empty()) to.insert(to.end(), from.begin() + c * width, from.begin() + (c + 1) * width);
      };
      ++k.shape.cells;
      take(d.choice, k.choice, d.shape.fan_out);
      take(d.free_choice, k.free_choice, d.shape.fan_out);
      take(d.weight, k.weight, d.shape.fan_out);
      take(d.margin, k.margin, 1);
      take(d.scores, k.scores, d.score_columns);
      take(d.place, k.place, static_cast<int64_t>(d.depth()));
    }
  }
  return kept;
}

std::vector<JudgedDecision> decisions_of_tokens(const std::vector<JudgedDecision>& decisions,
                                                const std::vector<int64_t>& tokens) {
  std::vector<JudgedDecision> kept;
  for (const JudgedDecision& d : decisions) {
    const auto counting =
        std::count_if(tokens.begin(), tokens.end(), [&](int64_t count) { return d.execution < count; });
    const bool all = counting == std::ssize(tokens);
    if (all) kept.push_back(d);
    if (all || counting == 0 || d.per_item == 0) continue;
    std::vector<int32_t> rows;
    for (const int64_t count : tokens) rows.insert(rows.end(), static_cast<size_t>(d.per_item), d.execution < count);
    const std::vector<JudgedDecision> some = only_computed({d}, {{d.dense_name, std::move(rows)}});
    kept.insert(kept.end(), some.begin(), some.end());
  }
  return kept;
}

}  // namespace stormcell
