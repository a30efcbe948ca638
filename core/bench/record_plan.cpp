#include "core/bench/record_plan.h"

#include <algorithm>
#include <set>

#include "core/bench/batch_inputs.h"
#include "core/graph/operator.h"
#include "core/graph/patch_grid.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/router_edges.h"
#include "core/graph/within.h"

namespace stormcell {
namespace {

ValueId decision_of(const Program& program, RouterId router) {
  return program.graph->node(program.routers[router].node).outputs[0];
}

bool in_turns(const Program& program, const ExecutedDecision& d) { return program.routers[d.router].repeat != kNone; }

/// The named router whose decision fills a routed space, -1: none.
int32_t router_over(const Program& program, const NamedRouters& named, const CellSpace& space) {
  for (const RouterId r : program.routers.ids())
    if (decision_of(program, r) == space.decision) return named.of[r];
  return -1;
}

/// The routed space whose branch has the cells of `space`: the space itself, or one above it. kNone: no branch has
/// them.
SpaceId routed_above(const Graph& g, SpaceId space) {
  while (space != kNone && g.space(space).kind != SpaceKind::routed) {
    const CellSpace& s = g.space(space);
    space = s.kind == SpaceKind::ragged && !g.holds_members(space) ? s.base : s.parent;
  }
  return space;
}

/// The named router and branch that a router is nested in, even if a pass has made that branch straight; -1: there is
/// none.
struct Nesting {
  int32_t router = -1, branch = -1;
};
Nesting nested_in(const Program& program, const NamedRouters& named, RouterId router) {
  const Graph& g = *program.graph;
  if (const std::vector<FormerBranch> former = former_branches(g.node(program.routers[router].node)); !former.empty()) {
    for (const RouterId r : program.routers.ids())
      if (program.routers[r].name == former.back().router) return {named.of[r], former.back().branch};
    return {};
  }
  const SpaceId above = routed_above(g, g.value(decision_of(program, router)).type.space);
  return above == kNone ? Nesting() : Nesting{router_over(program, named, g.space(above)), g.space(above).branch};
}

/// Index of the recorded space that a graph space is, added where it is new.
int32_t recorded_space(RecordPlan& plan, const Graph& graph, SpaceId space) {
  for (size_t s = 0; s < plan.spaces.size(); ++s)
    if (plan.spaces[s].space == space || plan.spaces[s].turn_space == space) return static_cast<int32_t>(s);
  plan.layout.spaces.push_back(graph.space(space).name);
  plan.spaces.push_back({kNone, kNone, static_cast<int32_t>(grid_columns(graph, space))});
  return static_cast<int32_t>(plan.spaces.size()) - 1;
}

// The prompt's pass and the turns of a router decide over different spaces of the graph, but over the cells of one
// stack.
void add_spaces(RecordPlan& plan, const Program& program) {
  const Graph& g = *program.graph;
  std::vector<int32_t> space_of(plan.routers.first.size(), -1);
  for (const RouterId r : program.routers.ids()) {
    const ProgramRouter& router = program.routers[r];
    int32_t& space = space_of[plan.routers.of[r]];
    if (space < 0) space = recorded_space(plan, g, router.dense_space);
    RecordedSpace& recorded = plan.spaces[space];
    (router.repeat != kNone ? recorded.turn_space : recorded.space) = router.dense_space;
  }
  for (size_t n = 0; n < space_of.size(); ++n) plan.layout.routers[n].space = space_of[n];
  // Sequences are told apart by the cells of a space. If no router decides, it is the space of an input.
  if (std::any_of(plan.spaces.begin(), plan.spaces.end(), [](const RecordedSpace& s) { return s.space != kNone; }))
    return;
  for (const Value& v : g.values)
    if (v.kind == ValueKind::input && v.type.space != kNone) {
      plan.spaces[recorded_space(plan, g, v.type.space)].space = v.type.space;
      return;
    }
}

/// The branch by which cells leave early, or only pass; -1: there is none.
int32_t residual_of(const Protocol& rule) {
  const bool has_one = rule.kind == ProtocolKind::residual_threshold || rule.kind == ProtocolKind::exit_threshold;
  return has_one ? residual_branch(rule) : rule.kind == ProtocolKind::threshold ? rule.residual : -1;
}

void add_routers(RecordPlan& plan, const Program& program) {
  const Graph& g = *program.graph;
  for (const RouterId first : plan.routers.first) {
    const ProgramRouter& router = program.routers[first];
    const Node& node = g.node(router.node);
    const Value& decision = g.value(node.outputs[0]);
    RouterInfo info;
    info.name = router.name;
    info.branches = decision.branches;
    info.fan_out = decision.fan_out;
    info.protocol = node.attributes.word("protocol");
    info.residual = residual_of(protocol_of(node.attributes));
    info.stack = node.attributes.word("stack", g.space(router.dense_space).name);
    const Nesting nesting = nested_in(program, plan.routers, first);
    info.parent = nesting.router, info.parent_branch = nesting.branch;
    plan.layout.routers.push_back(std::move(info));
  }
}

/// Edges of the graph, by named routers, in no order; some come twice. No edge leads from the prompt's pass to the
/// turns: their records are other batches.
std::vector<LayoutEdge> named_edges(const Program& program, const NamedRouters& named) {
  const auto router_of = [&](NodeId node) {
    const auto at = std::find_if(program.routers.begin(), program.routers.end(),
                                 [&](const ProgramRouter& r) { return r.node == node; });
    return RouterId(at - program.routers.begin());
  };
  std::vector<LayoutEdge> edges;
  for (const RouterEdge& e : router_edges(*program.graph)) {
    const RouterId a = router_of(e.from), b = router_of(e.to);
    if (!program.routers.holds(a) || !program.routers.holds(b)) continue;  // the plan does not run it
    if (program.routers[a].repeat == program.routers[b].repeat) edges.push_back({named.of[a], named.of[b], e.branches});
  }
  return edges;
}

/// Puts each named router behind those whose cells come to it; if edges leave it open, running order decides. In
/// running order a guard's fallback comes after its whole taken body. So a router that only the fallback has comes
/// last, though in the model it may come before one that both bodies have. `edges` name the routers as `named` does.
void put_in_order(NamedRouters& named, std::vector<LayoutEdge>& edges, const Program& program) {
  const size_t count = named.first.size();
  std::set<std::pair<int32_t, int32_t>> before;
  for (const LayoutEdge& e : edges) before.emplace(e.from, e.to);
  for (const RouterId r : program.routers.ids()) before.emplace(nested_in(program, named, r).router, named.of[r]);
  std::vector<std::vector<int32_t>> next(count);
  std::vector<int32_t> waits_for(count, 0);
  for (const auto& [from, to] : before)
    if (from >= 0 && from != to) next[from].push_back(to), ++waits_for[to];
  std::set<int32_t> unplaced, ready;
  for (size_t n = 0; n < count; ++n) {
    unplaced.insert(static_cast<int32_t>(n));
    if (waits_for[n] == 0) ready.insert(static_cast<int32_t>(n));
  }
  std::vector<int32_t> place(count);
  std::vector<RouterId> first;
  while (!unplaced.empty()) {
    // None is ready only where two bodies have the same routers the other way round: then running order breaks the
    // circle.
    const int32_t taken = ready.empty() ? *unplaced.begin() : *ready.begin();
    ready.erase(taken), unplaced.erase(taken);
    place[taken] = static_cast<int32_t>(first.size());
    first.push_back(named.first[taken]);
    for (const int32_t n : next[taken])
      if (--waits_for[n] == 0 && unplaced.contains(n)) ready.insert(n);
  }
  named.first = std::move(first);
  for (int32_t& of : named.of) of = place[of];
  for (LayoutEdge& e : edges) e.from = place[e.from], e.to = place[e.to];
}

void add_edges(RecordPlan& plan, const std::vector<LayoutEdge>& edges) {
  RunLayout& layout = plan.layout;
  for (const LayoutEdge& edge : edges) {
    if (edge.from >= edge.to || layout.routers[edge.from].space != layout.routers[edge.to].space) continue;
    const auto known = std::find_if(layout.edges.begin(), layout.edges.end(),
                                    [&](const LayoutEdge& k) { return k.from == edge.from && k.to == edge.to; });
    if (known == layout.edges.end()) {
      layout.edges.push_back(edge);
      continue;
    }
    // A router may be in both bodies of a guard, in the prompt's pass and in decoding: the edge has what any of them
    // sends.
    std::vector<int32_t> all;
    if (!known->branches.empty() && !edge.branches.empty())
      std::set_union(known->branches.begin(), known->branches.end(), edge.branches.begin(), edge.branches.end(),
                     std::back_inserter(all));
    known->branches = std::move(all);
  }
  std::sort(layout.edges.begin(), layout.edges.end(),
            [](const LayoutEdge& x, const LayoutEdge& y) { return std::pair(x.to, x.from) < std::pair(y.to, y.from); });
}

void add_steps(RecordPlan& plan, const Program& program) {
  const Graph& g = *program.graph;
  int depth = 0;
  for (const Step& step : program.steps) {
    depth += step.kind == StepKind::repeat_begin;
    plan.in_repeat.push_back(depth > 0);
    depth -= step.kind == StepKind::repeat_end;
    StepInfo info;
    info.op = std::string(to_text(step.kind));
    if (step.node != kNone) {
      const Node& node = g.node(step.node);
      if (step.kind == StepKind::kernel) info.op = std::string(node.op->name);
      info.name = node.name;
      const SpaceId above = node.outputs.empty() ? kNone : routed_above(g, g.value(node.outputs[0]).type.space);
      if (above != kNone) {
        info.branch = g.space(above).branch;
        info.router = router_over(program, plan.routers, g.space(above));
      }
    }
    plan.layout.steps.push_back(std::move(info));
  }
}

void add_decision(const RecordPlan& plan, const Program& program, const ExecutedDecision& d, RecordOptions options,
                  BatchRecord& record) {
  const Graph& g = *program.graph;
  DecisionRecord r;
  r.router = plan.routers.of[d.router];
  r.choice = d.choice;
  r.weight = d.weight;
  r.padded = d.padded;
  const ProgramRouter& router = program.routers[d.router];
  if (g.value(decision_of(program, d.router)).type.space != router.dense_space) r.ancestor = d.ancestor;
  if (options.scores) r.margin = d.margin;
  // The values that a threshold compares are no scores of its branches: there may be one for each class.
  if (options.scores) r.scores = d.scores, r.score_columns = d.score_columns;
  record.add_decision(r);
}

StepEvent event_of(const DeviceEvent& e) {
  return {e.begin_ns, e.end_ns, static_cast<uint32_t>(e.step), static_cast<uint16_t>(e.worker)};
}

/// Stores a thumbnail only if it changes the kept set. Call it after the decisions are known.
void add_thumbnails(const Executed& executed, KeptPictures& kept, BatchRecord& record) {
  const Batch& batch = executed.batch;
  const auto pixels = std::find_if(batch.inputs.begin(), batch.inputs.end(),
                                   [](const BatchInput& i) { return i.role == InputRole::pixels; });
  if (pixels == batch.inputs.end() || batch.items.empty()) return;
  const size_t each = pixels->reals.size() / batch.items.size();
  const int64_t bytes = thumbnail_bytes(batch.picture, pixels->shape.back());
  if (bytes == 0) return;
  for (const size_t i : take_in(kept, record, executed.plan.layout, batch.items, bytes))
    record.add_thumbnail(
        i, thumbnail_of(std::span(pixels->reals).subspan(i * each, each), batch.picture, pixels->shape.back()));
}

}  // namespace

bool RecordPlan::has_turns() const {
  return std::any_of(spaces.begin(), spaces.end(), [](const RecordedSpace& s) { return s.turn_space != kNone; });
}

RecordPlan record_plan(const Program& program) {
  RecordPlan plan;
  plan.routers = name_routers(program);
  std::vector<LayoutEdge> edges = named_edges(program, plan.routers);
  put_in_order(plan.routers, edges, program);
  add_routers(plan, program);
  add_spaces(plan, program);
  add_edges(plan, edges);
  add_steps(plan, program);
  return plan;
}

void fill_record(const Executed& executed, RecordOptions options, BatchRecord& record) {
  const auto& [plan, program, batch, bindings, result] = executed;
  const Graph& g = *program.graph;
  const bool has_turns = plan.has_turns();
  record.latency_ms = result.milliseconds;
  if (!batch.is_consecutive()) record.set_items(batch.items);
  for (size_t s = 0; s < plan.spaces.size(); ++s) {
    const RecordedSpace& recorded = plan.spaces[s];
    if (recorded.space == kNone) continue;
    const CellSpace& space = g.space(recorded.space);
    const int64_t cells = space.count.evaluate(bindings);
    CellTable table = batch.cell_table(batch.size() > 0 ? cells / batch.size() : 0);
    table.phase = has_turns ? Phase::prefill : Phase::forward;
    table.columns = recorded.columns;
    const std::vector<int32_t> mask = mask_over(g, recorded.space, batch, bindings);
    const std::span<const int32_t> tokens = tokens_over(g, recorded.space, batch);
    // A run that decodes begins with other cells than the data have: all of them count.
    const bool fits = std::ssize(mask) == cells, known = std::ssize(tokens) == cells;
    record.add_space(static_cast<int32_t>(s), table, fits ? std::span<const int32_t>(mask) : std::span<const int32_t>(),
                     known ? tokens : std::span<const int32_t>());
  }
  // Counted in any case; whether each of them is stored too is the writer's affair.
  for (const ExecutedDecision* d : standing_decisions(program, plan.routers, result))
    if (!in_turns(program, *d)) add_decision(plan, program, *d, options, record);
  for (int64_t i = 0; i < batch.size(); ++i)
    record.add_sequence(batch.labels.empty() ? std::string_view() : std::string_view(batch.labels[i]),
                        options.inputs && !batch.texts.empty() ? std::string_view(batch.texts[i]) : std::string_view());
  if (options.pictures) add_thumbnails(executed, *options.pictures, record);
  record.events.reserve(result.events.size());
  for (const DeviceEvent& e : result.events) {
    if (has_turns && plan.in_repeat[e.step]) {
      // The turns have times of their own.
      if (!record.events.empty())
        record.latency_ms = static_cast<double>(e.begin_ns - record.events.front().begin_ns) * 1e-6;
      break;
    }
    record.events.push_back(event_of(e));
  }
  // A guard is named by the step that tests it.
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kind != StepKind::guard) continue;
    const int32_t hits = result.guard_hits[step.guard], misses = result.guard_misses[step.guard];
    if (hits || misses) record.guards.push_back({static_cast<int32_t>(i), hits, misses});
  }
}

std::vector<int32_t> first_positions(const Model& model, const Batch& batch) {
  std::vector<int32_t> first(batch.size(), 0);
  const auto tokens =
      std::find_if(batch.spaces.begin(), batch.spaces.end(), [](const BatchCells& s) { return s.holds_tokens; });
  if (model.has_encoder || tokens == batch.spaces.end()) return first;
  for (size_t i = 0; i < first.size(); ++i) {
    const auto row = static_cast<int64_t>(i) * tokens->per_item;
    int64_t behind = tokens->per_item;
    while (!tokens->real.empty() && behind > 0 && tokens->real[row + behind - 1] == 0) --behind;
    first[i] = static_cast<int32_t>(behind);
  }
  return first;
}

std::vector<DecodedTurn> decoded_turns(const Model& model, const Executed& executed,
                                       const std::vector<int32_t>& generated, int64_t most) {
  const auto& [plan, program, batch, bindings, result] = executed;
  std::vector<DecodedTurn> turns;
  const auto turn_at = [&](int32_t turn) -> DecodedTurn& {
    for (int32_t next = turns.size(); next <= turn; ++next) turns.emplace_back().turn = next;
    return turns[turn];
  };
  for (const ExecutedDecision& d : result.decisions)
    if (in_turns(program, d)) turn_at(d.turn);
  // Within a turn steps only go on: one that does not begins the next.
  int32_t turn = -1, last = INT32_MAX;
  for (size_t e = 0; e < result.events.size(); ++e) {
    const int32_t step = result.events[e].step;
    if (!plan.in_repeat[step]) continue;
    if (step <= last) turn_at(++turn).first_event = e;
    last = step;
    ++turn_at(turn).events;
  }
  // A decoder-only model emits its first token in prefill, before turn 0.
  const int32_t ahead = model.has_encoder ? 0 : 1;
  const std::vector<int32_t> first = first_positions(model, batch);
  for (DecodedTurn& t : turns) {
    for (int64_t i = 0; i < batch.size(); ++i) {
      t.position.push_back(first[i] + t.turn);
      const int32_t *written = generated.data() + i * most, writes = t.turn + ahead;
      const int32_t read = writes > 0 ? written[writes - 1] : model.tokens.decoder_start;
      t.token.push_back(read >= 0 ? read : model.tokens.pad);
      t.is_going.push_back(writes < most && written[writes] >= 0);
    }
  }
  return turns;
}

void fill_turn(const Executed& executed, const DecodedTurn& turn, RecordOptions options, BatchRecord& record) {
  const auto& [plan, program, batch, bindings, result] = executed;
  if (!batch.is_consecutive()) record.set_items(batch.items);
  const std::span events = std::span(result.events).subspan(turn.first_event, turn.events);
  if (!events.empty()) record.latency_ms = static_cast<double>(events.back().end_ns - events.front().begin_ns) * 1e-6;
  for (const DeviceEvent& e : events) record.events.push_back(event_of(e));
  for (size_t s = 0; s < plan.spaces.size(); ++s) {
    if (plan.spaces[s].turn_space == kNone) continue;
    const int64_t cells = program.graph->space(plan.spaces[s].turn_space).count.evaluate(bindings);
    CellTable table = batch.cell_table(batch.size() > 0 ? cells / batch.size() : 0);
    table.starts = turn.position;
    table.phase = Phase::decode;
    // One cell a sequence, or its parts.
    std::vector<int32_t> mask;
    for (const int32_t going : turn.is_going) mask.insert(mask.end(), static_cast<size_t>(table.per_sequence), going);
    record.add_space(static_cast<int32_t>(s), table, mask,
                     table.per_sequence == 1 ? std::span<const int32_t>(turn.token) : std::span<const int32_t>());
  }
  for (const ExecutedDecision* d : standing_decisions(program, plan.routers, result))
    if (in_turns(program, *d) && d->turn == turn.turn) add_decision(plan, program, *d, options, record);
  for (const std::string& label : batch.labels) record.add_sequence(label);
}

}  // namespace stormcell
