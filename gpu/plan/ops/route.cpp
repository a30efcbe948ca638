#include <optional>

#include "core/cell/choose.h"
#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "gpu/plan/step_nodes.h"
#include "gpu/routing/choose_shapes.h"

namespace stormcell::gpu {
namespace {

struct Routing {
  RouteArgs args;
  bool by_cell = false;
  std::vector<int32_t> table;  ///< of a hash
  double by_confidence = 0;    ///< capacity factor of a batch whose most confident cells come first; 0: it is not so
  std::vector<int32_t> supported;  ///< capacities; empty: loads are reported as they are
  bool padding = false, path_wise = false;
};

std::optional<CellRule> cell_rule(ProtocolKind kind) {
  switch (kind) {
    case ProtocolKind::label:
      return CellRule::label;
    case ProtocolKind::hash:
      return CellRule::hash;
    case ProtocolKind::exit_threshold:
      return CellRule::exit;
    case ProtocolKind::residual_threshold:
      return CellRule::residual;
    default:
      return std::nullopt;
  }
}

/// The two branches of each label.
std::vector<int32_t> hash_table(const Protocol& protocol, int32_t branches) {
  std::vector<int32_t> labels, table(2 * static_cast<size_t>(branches));
  for (int32_t b = 0; b < branches; ++b) labels.push_back(b);
  std::vector<float> margins(labels.size());
  ScoreView in;
  in.label = labels.data(), in.cells = branches, in.branches = branches;
  DecisionView out;
  out.choice = table.data(), out.margin = margins.data(), out.branches = branches, out.fan_out = 2;
  choose_hash(in, protocol, out);
  return table;
}

/// Adds the nodes from choices to the index: one block if they fit one tile. `above`: the decisions that a replay
/// follows.
void add_index(StepNodes& nodes, const RouteArgs& replaying, int64_t tiles, const std::vector<Ref>& above) {
  if (tiles == 1) return nodes.add<RouteKernel<IndexOneTileKernel>>(replaying, 1, above);
  RouteArgs args = replaying;
  args.replaying = {};
  args.ref[RouteArgs::kNotReplayed] = args.ref[RouteArgs::kTurn] = {};
  args.ref[RouteArgs::kScores].bytes = 0;  // how many rows came is all that the index asks
  const int64_t by_tile = nodes.blocks(tiles, 1), cells = nodes.most_rows(nodes.input(0));
  const bool drops = args.rule.capacity > 0;
  const int64_t rows = int64_t{args.decision.branches} * (drops ? 2 : 1);
  if (drops) {
    nodes.add<RouteKernel<TailKernel>>(args, by_tile);
    nodes.add<RouteKernel<CarryKernel>>(args, nodes.blocks(args.decision.branches, 1));
    nodes.add<RouteKernel<LimitKernel>>(args, by_tile);
  }
  nodes.add<ReplayKernel>(replaying, nodes.blocks(cells, ReplayKernel::kThreads), above);
  nodes.add<RouteKernel<CountKernel>>(args, by_tile);
  nodes.add<RouteKernel<ScanKernel>>(args, nodes.blocks(rows, 1));
  nodes.add<RouteKernel<PlaceKernel>>(args, by_tile);
}

/// False if the cells are too many for one block.
bool add_one_block(StepNodes& nodes, const RouteArgs& args, int64_t cells, int64_t tiles,
                   const std::vector<Ref>& above) {
  OneBlockArgs sizes;
  sizes.choose.cells = static_cast<int32_t>(cells), sizes.choose.branches = args.decision.branches;
  sizes.index.tiles = static_cast<int32_t>(tiles);
  return with_one_block(sizes, [&](auto shape) {
    using Shape = decltype(shape);
    nodes.add<OneBlockRoute<Shape::kLanes, Shape::kHeld>>(args, 1, above);
  });
}

/// Drops choices without a place, between the choices and the index.
void add_priority(StepNodes& nodes, const RouteArgs& route, double factor, int64_t cells) {
  PriorityArgs args;
  args.decision = route.decision;
  args.factor = factor;
  args.branch_at = align_up<int64_t>(cells * 4, 256);
  args.ref[PriorityArgs::kScores] = nodes.reads(0);
  args.ref[PriorityArgs::kDecision] = route.ref[RouteArgs::kDecision];
  args.ref[PriorityArgs::kDecision].access = Access::read;
  args.ref[PriorityArgs::kRanking] = nodes.plan().scratch(args.branch_at + cells * 4);
  nodes.add<ConfidenceKernel>(args, nodes.blocks(cells, ConfidenceKernel::kThreads));
  args.ref[PriorityArgs::kScores].bytes = 0;  // how many rows came is all that is asked
  args.ref[PriorityArgs::kDecision].access = Access::both;
  args.ref[PriorityArgs::kRanking].access = Access::read;
  nodes.add<PriorityKernel>(args, nodes.blocks(cells, PriorityKernel::kThreads));
}

void add_padding(StepNodes& nodes, const Routing& routing, const RouteArgs& route) {
  if (routing.supported.empty()) return;
  PadArgs args;
  args.decision = route.decision;
  args.supported = nodes.plan().constants(routing.supported.data(), routing.supported.size());
  args.count = static_cast<int32_t>(routing.supported.size());
  args.padding = routing.padding, args.path_wise = routing.path_wise;
  args.ref[PadArgs::kDecision] = route.ref[RouteArgs::kDecision];
  nodes.add<PadKernel>(args, 1);
}

void add_route(StepNodes& nodes, const Routing& routing) {
  RouteArgs args = routing.args;
  args.decision = nodes.plan().places(nodes.step().outputs[0]);
  const int64_t cells = nodes.most_rows(nodes.input(0)),
                tiles = std::max<int64_t>(1, parts<int64_t>(cells * args.decision.fan_out, kTileChoices)),
                rows = int64_t{args.decision.branches} * (args.rule.capacity > 0 ? 2 : 1);
  args.counts = align_up<int64_t>(rows * tiles * 4, 256);
  args.ref[RouteArgs::kScores] = nodes.reads(0);
  args.ref[RouteArgs::kDecision] = nodes.writes(0);
  args.ref[RouteArgs::kDecision].access = Access::both;
  if (routing.args.by_parent && args.rule.capacity > 0)
    args.ref[RouteArgs::kCells] = nodes.cells_of(nodes.input(0), args.ragged);
  args.ref[RouteArgs::kWorkspace] = nodes.plan().scratch(args.counts + rows * 4);
  args.ref[RouteArgs::kWorkspace].access = Access::both;
  RouteArgs replaying = args;
  std::vector<Ref> above;
  replaying.replaying = nodes.plan().replaying(nodes.router(), above);
  replaying.ref[RouteArgs::kTurn] = nodes.plan().turn_of(nodes.router());
  replaying.ref[RouteArgs::kNotReplayed] = nodes.plan().not_replayed(nodes.router());
  if (routing.by_cell) {
    args.table = nodes.plan().constants(routing.table.data(), routing.table.size());
    nodes.add<CellRuleKernel>(args, nodes.blocks(cells, CellRuleKernel::kThreads));
  } else if (routing.by_confidence == 0 && add_one_block(nodes, replaying, cells, tiles, above)) {
    return add_padding(nodes, routing, args);
  } else {
    with_choose_shape(args.decision.branches, [&](auto shape) {
      using Shape = decltype(shape);
      nodes.add<ChooseRoute<Shape::kLanes, Shape::kHeld>>(
          args, nodes.blocks(cells, ChooseKernel<Shape::kLanes, Shape::kHeld>::kCells));
    });
  }
  if (routing.by_confidence > 0) add_priority(nodes, args, routing.by_confidence, cells);
  add_index(nodes, replaying, tiles, above);
  add_padding(nodes, routing, args);
}

/// The rule that the kernels of choices and of the index follow. A choice by confidence is that of Switch, and its drops
/// are made by kernels of their own: then nothing is dropped in order, but wanted loads are counted.
Rule rule_in_plan(const Protocol& protocol, int32_t branches) {
  Protocol chosen = protocol;
  if (protocol.kind == ProtocolKind::batch_prioritized) chosen.kind = ProtocolKind::switch_top1, chosen.capacity = 0;
  Rule rule = rule_of(chosen, branches);
  if (mixes_batch(protocol)) rule.capacity = INT32_MAX;
  return rule;
}

}  // namespace

std::unique_ptr<PlanKernel> plan_route(const KernelBuildContext& m) {
  const Protocol protocol = protocol_of(m.node().attributes);
  const int32_t branches = m.graph().value(m.node().outputs[0]).branches;
  const std::optional<CellRule> by_cell = cell_rule(protocol.kind);
  if (branches > kMostBranches || !protocol.off.empty()) return nullptr;
  Routing routing;
  routing.args.rule = rule_in_plan(protocol, branches);
  if (!by_cell && routing.args.rule.choose == DeviceChoice::none) return nullptr;
  if (mixes_batch(protocol)) routing.by_confidence = protocol.capacity_factor;
  routing.supported = protocol.supported_capacities;
  routing.padding = protocol.capacity_padding, routing.path_wise = protocol.path_wise_padding;
  const TensorType& scores = m.type(0);
  const int64_t columns = scores.content.empty() ? 1 : scores.content[0].constant();
  if (by_cell) {
    routing.by_cell = true;
    routing.args.by_cell = *by_cell;
    routing.args.columns = static_cast<int32_t>(columns);
    if (*by_cell == CellRule::hash) routing.table = hash_table(protocol, branches);
  } else if (!scores.content.empty() && columns != branches) {
    return nullptr;  // one number a cell is one branch
  }
  if (const auto bias = extra_input(m.node(), "bias")) routing.args.bias = static_cast<int32_t>(m.f32_weight(*bias));
  routing.args.by_parent = !mixes_batch(protocol) && is_grouped(m.graph(), m.type(0).space);
  return planned("route", [routing](StepNodes& nodes) { add_route(nodes, routing); });
}

}  // namespace stormcell::gpu
