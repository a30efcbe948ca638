#include <cinttypes>

#include "gpu/base/check.h"
#include "gpu/layer/layer.h"

namespace stormcell::gpu {
namespace {
constexpr const char* kCall = "layer";
}  // namespace

int64_t most_rows(const LayerCall& call) {
  if (!may_drop(call.rule) || call.rule.fan_out > 1 || call.parents.parent) return call.cells;
  const int64_t per_parent = call.parents.per_parent, parents = per_parent > 0 ? parts(call.cells, per_parent) : 1;
  return least(call.cells, parents * call.rule.capacity);
}

LayerParts layer_parts(const LayerCall& call, void* workspace) {
  LayerParts parts;
  Pieces pieces(workspace);
  const int64_t slots = call.cells * call.rule.fan_out;
  const DecisionView decision = lay_decision(pieces, {call.cells, call.rule.fan_out, call.experts});

  parts.route.scores = call.scores, parts.route.bias = call.score_bias;
  parts.route.cells = call.cells, parts.route.branches = call.experts;
  parts.route.parents = call.parents, parts.route.rule = call.rule;
  parts.route.decision = decision;
  parts.route_workspace_bytes = route_workspace(call.cells, call.experts, call.rule);
  parts.route_workspace = pieces.take<std::byte>(static_cast<int64_t>(parts.route_workspace_bytes));
  parts.map = pieces.take<int32_t>(kTileMapInts);
  void* hidden = pieces.take<std::byte>(slots * call.hidden * bytes_of(call.format));

  GroupedCall& first = parts.first;
  first.offsets = decision.offsets, first.experts = call.experts;
  first.most_slots = slots, first.most_rows = most_rows(call), first.fan_out = call.rule.fan_out;
  first.n = call.hidden, first.k = call.width;
  first.format = call.format, first.gated = call.gated, first.activation = call.activation;
  first.x = call.x, first.gather = decision.cell;
  first.w = call.w1, first.bias = call.bias1;
  first.y = hidden;

  GroupedCall& second = parts.second;
  second = first;
  second.n = call.width, second.k = call.hidden;
  second.gated = false, second.activation = Activation::none;
  second.x = hidden, second.gather = nullptr;
  second.w = call.w2, second.bias = call.bias2;

  CombineCall& combine = parts.combine;
  combine.decision = decision;
  combine.cells = call.cells, combine.width = call.width, combine.format = call.format;
  combine.dropped = call.dropped;
  combine.to = call.y;
  // A cell of one choice gets its one row from the product itself; contributions of several are summed in their order.
  parts.sums = call.rule.fan_out > 1;
  if (parts.sums) {
    second.y = pieces.take<std::byte>(slots * call.width * bytes_of(call.format));
    combine.from = second.y;
  } else {
    second.y = call.y, second.scatter = decision.cell, second.weight = decision.weight;
    combine.unrouted_only = true;
  }
  parts.fills = !parts.sums && (may_drop(call.rule) || may_choose_fewer(call.rule));
  parts.bytes = pieces.bytes();
  return parts;
}

OneBlockArgs one_block_args(const LayerParts& parts, const RegimeLimits& limits) {
  OneBlockArgs args;
  args.choose = choose_args(parts.route);
  args.index = index_args(parts.route, parts.route_workspace);
  args.map = {parts.route.decision.offsets, parts.route.branches, limits, parts.map};
  return args;
}

size_t layer_workspace(const LayerCall& call) { return layer_parts(call, nullptr).bytes; }
DecisionView layer_decision(const LayerCall& call, void* workspace) {
  return layer_parts(call, workspace).route.decision;
}

Status check_layer(const LayerCall& call, const RegimeLimits& limits, void* workspace, size_t workspace_bytes) {
  constexpr int32_t kMostWidth = 1 << 24;
  // Also refuses values for which the sizes of the workspace cannot be computed.
  if (call.cells < 0 || call.width < 1 || call.hidden < 1 || call.experts < 1 || call.rule.fan_out < 1 ||
      call.cells > INT32_MAX || call.experts > kMostExperts || call.cells * call.rule.fan_out > INT32_MAX ||
      call.width > kMostWidth || call.hidden > kMostWidth)
    return Status::failure(StatusCode::bad_input, "%s: %" PRId64 " cells, %d experts, width %d, hidden %d, fan-out %d",
                           kCall, call.cells, call.experts, call.width, call.hidden, call.rule.fan_out);
  const LayerParts parts = layer_parts(call, workspace);
  STORMCELL_TRY(check_workspace(kCall, workspace, workspace_bytes, parts.bytes));
  STORMCELL_TRY(check_route(parts.route, parts.route_workspace, parts.route_workspace_bytes));
  STORMCELL_TRY(check_grouped(parts.first, {parts.map, limits}));
  STORMCELL_TRY(check_grouped(parts.second, {parts.map, limits}));
  return parts.sums || parts.fills ? check_combine(parts.combine) : Status();
}

}  // namespace stormcell::gpu
