// A router's rule as kernels take it: the part of core's Protocol that is decided on the device, as plain data.
#pragma once
#include "core/cell/protocol.h"
#include "gpu/base/number.h"

namespace stormcell::gpu {

inline constexpr int32_t kMostBranches = 1024, kMostChoices = 64;
inline constexpr float kInfinity = __builtin_huge_valf();

/// Parameters of one rule; those that its kind does not use are ignored.
struct Rule {
  ProtocolKind kind = ProtocolKind::top_k;
  SoftmaxPlace softmax = SoftmaxPlace::before;
  bool renormalize = false;
  int32_t k = 1;
  int32_t fan_out = 1;
  int32_t capacity = 0;  ///< switch_top1: cells for each (parent, branch); 0: unlimited
  int32_t residual = -1;
  int32_t groups = 1, groups_kept = 1;
  float threshold = 0, scale = 1;
};

/// The rules that the device decides.
inline bool is_decided_on_device(ProtocolKind kind) {
  return kind == ProtocolKind::top_k || kind == ProtocolKind::switch_top1 || kind == ProtocolKind::sigmoid_groups ||
         kind == ProtocolKind::threshold;
}

/// True where a Rule says all that the protocol says; capacity grids and path-wise padding are the CPU's.
inline bool is_decided_on_device(const Protocol& p) {
  return is_decided_on_device(p.kind) && p.supported_capacities.empty() && !p.capacity_padding && !p.path_wise_padding;
}

/// The rule of a protocol that is decided on the device.
inline Rule rule_of(const Protocol& p, int32_t branches) {
  const bool several = p.kind == ProtocolKind::top_k || p.kind == ProtocolKind::sigmoid_groups;
  Rule r;
  r.kind = p.kind, r.softmax = p.softmax, r.renormalize = p.renormalize;
  r.k = several ? p.k : 1;
  r.fan_out = p.kind == ProtocolKind::threshold ? branches : r.k;
  r.capacity = p.capacity, r.residual = p.residual, r.groups = p.groups, r.groups_kept = p.groups_kept;
  r.threshold = p.threshold, r.scale = p.scale;
  return r;
}

/// True where choices can be dropped, so that wanted and kept loads differ.
STORMCELL_BOTH inline bool may_drop(const Rule& rule) { return rule.kind == ProtocolKind::switch_top1 && rule.capacity > 0; }

}  // namespace stormcell::gpu
