#include <cinttypes>

#include "gpu/base/check.h"
#include "gpu/routing/routing.h"

namespace stormcell::gpu {
namespace {
constexpr const char* kCall = "route";

struct Laid {
  int32_t tiles = 1;
  int32_t *tile_counts = nullptr, *counts = nullptr;
  size_t bytes = 0;
};
Laid lay(int64_t cells, int32_t branches, const Rule& rule, void* workspace) {
  Laid laid;
  Pieces pieces(workspace);
  const int64_t rows = may_drop(rule) ? 2 * int64_t{branches} : branches;
  laid.tiles = static_cast<int32_t>(most<int64_t>(1, parts<int64_t>(cells * rule.fan_out, kTileChoices)));
  laid.tile_counts = pieces.take<int32_t>(rows * laid.tiles);
  laid.counts = pieces.take<int32_t>(rows);
  laid.bytes = pieces.bytes();
  return laid;
}

Status check_rule(const Rule& rule, int32_t branches) {
  const auto bad = [&](const char* what, int64_t value, int64_t from, int64_t to) {
    return Status::failure(StatusCode::bad_input,
                           "%s: %s is %" PRId64 ", allowed are %" PRId64 " to %" PRId64 " (%d branches)", kCall, what,
                           value, from, to, branches);
  };
  if (rule.choose == DeviceChoice::none)
    return Status::failure(StatusCode::unsupported, "%s: the protocol is not decided on the device", kCall);
  if (branches < 1 || branches > kMostBranches) return bad("branches", branches, 1, kMostBranches);
  if (rule.k < 1 || rule.k > least(branches, kMostChoices)) return bad("k", rule.k, 1, least(branches, kMostChoices));
  const int32_t fan_out = may_choose_fewer(rule) ? branches : rule.k;
  if (rule.fan_out != fan_out) return bad("fan_out", rule.fan_out, fan_out, fan_out);
  if (rule.capacity < 0) return bad("capacity", rule.capacity, 0, INT32_MAX);
  if (rule.capacity > 0 && rule.fan_out > 1) return bad("capacity with several choices a cell", rule.capacity, 0, 0);
  if (may_choose_fewer(rule) && rule.residual >= branches) return bad("residual", rule.residual, -1, branches - 1);
  if (rule.choose == DeviceChoice::in_groups) {
    if (rule.groups > kMostChoices) return bad("groups", rule.groups, 1, kMostChoices);  // as in core
    if (rule.groups < 1 || branches % rule.groups != 0)
      return Status::failure(StatusCode::bad_input, "%s: %d branches cannot be split into %d equal groups", kCall,
                             branches, rule.groups);
    if (rule.groups_kept < 1 || rule.groups_kept > rule.groups)
      return bad("groups_kept", rule.groups_kept, 1, rule.groups);
  }
  return {};
}
}  // namespace

size_t route_workspace(int64_t cells, int32_t branches, const Rule& rule) {
  return lay(cells, branches, rule, nullptr).bytes;
}

Status check_route(const RouteCall& call, const void* workspace, size_t workspace_bytes) {
  STORMCELL_TRY(check_rule(call.rule, call.branches));
  if (call.cells < 0 || call.cells > INT32_MAX || call.cells * call.rule.fan_out > INT32_MAX - kTileChoices)
    return Status::failure(StatusCode::bad_input, "%s: %" PRId64 " cells of %d choices are beyond 2^31 slots", kCall,
                           call.cells, call.rule.fan_out);
  const DecisionView& d = call.decision;
  if (d.branches != call.branches || d.fan_out != call.rule.fan_out)
    return Status::failure(StatusCode::bad_input,
                           "%s: the decision is laid out for %d branches and fan-out %d, the rule has %d and %d", kCall,
                           d.branches, d.fan_out, call.branches, call.rule.fan_out);
  if (call.cells > 0) STORMCELL_TRY(check_pointer(kCall, "scores", call.scores, 4));
  if (call.bias) STORMCELL_TRY(check_pointer(kCall, "bias", call.bias, 4));
  if (call.parents.per_parent < 0)
    return Status::failure(StatusCode::bad_input, "%s: %" PRId64 " cells a parent", kCall, call.parents.per_parent);
  const struct {
    const char* name;
    const void* pointer;
  } parts_of_decision[] = {{"decision.cells", d.cells},   {"decision.offsets", d.offsets},
                           {"decision.cell", d.cell},     {"decision.weight", d.weight},
                           {"decision.choice", d.choice}, {"decision.choice_weight", d.choice_weight},
                           {"decision.slot", d.slot},     {"decision.wanted", d.wanted},
                           {"decision.padded", d.padded}, {"decision.margin", d.margin}};
  for (const auto& part : parts_of_decision) STORMCELL_TRY(check_pointer(kCall, part.name, part.pointer, 4));
  return check_workspace(kCall, workspace, workspace_bytes, route_workspace(call.cells, call.branches, call.rule));
}

IndexArgs index_args(const RouteCall& call, void* workspace) {
  const Laid laid = lay(call.cells, call.branches, call.rule, workspace);
  IndexArgs args;
  args.decision = call.decision;
  args.cells = static_cast<int32_t>(call.cells);
  args.parents = call.parents;
  args.capacity = may_drop(call.rule) ? call.rule.capacity : 0;
  args.tiles = laid.tiles;
  args.tile_counts = laid.tile_counts;
  args.counts = laid.counts;
  return args;
}

}  // namespace stormcell::gpu
