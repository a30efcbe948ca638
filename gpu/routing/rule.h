// A router's rule as kernels take it: the part of core's Protocol that is decided on the device, as plain data.
#pragma once
#include "core/cell/protocol_row.h"
#include "gpu/base/number.h"

namespace stormcell::gpu {

inline constexpr int32_t kMostBranches = 1024;  ///< fewer than core's: an index holds counts of all of them
inline constexpr float kInfinity = __builtin_huge_valf();

/// The kernels of choose.h that find a cell's choices.
enum class DeviceChoice : uint8_t { none, largest, above_threshold, in_groups };

/// The protocols that the device decides, each by the function of its choice; all others are the CPU's.
inline DeviceChoice device_choice(ProtocolKind kind) {
  switch (kind) {
    case ProtocolKind::top_k:
    case ProtocolKind::switch_top1:
      return DeviceChoice::largest;
    case ProtocolKind::threshold:
      return DeviceChoice::above_threshold;
    case ProtocolKind::sigmoid_groups:
      return DeviceChoice::in_groups;
    default:
      return DeviceChoice::none;
  }
}

/// Parameters of one rule; those that its choice does not use are ignored.
struct Rule {
  DeviceChoice choose = DeviceChoice::none;
  SoftmaxPlace softmax = SoftmaxPlace::before;  ///< of the weights, where the largest are chosen
  bool renormalize = false;
  int32_t k = 1;
  int32_t fan_out = 1;
  int32_t capacity = 0;  ///< cells for each (parent, branch); 0: unlimited
  int32_t residual = -1;
  int32_t groups = 1, groups_kept = 1;
  float threshold = 0, scale = 1;
};

/// True if a Rule expresses everything of the protocol; disabled branches, capacity grids and path-wise padding need
/// the CPU.
inline bool is_decided_on_device(const Protocol& p) {
  return device_choice(p.kind) != DeviceChoice::none && p.off.empty() && p.supported_capacities.empty() &&
         !p.capacity_padding && !p.path_wise_padding;
}

/// The rule of a protocol that is decided on the device.
inline Rule rule_of(const Protocol& p, int32_t branches) {
  Rule r;
  r.choose = device_choice(p.kind), r.softmax = softmax_of_weights(p), r.renormalize = p.renormalize;
  r.fan_out = fan_out_of(p, branches);
  r.k = r.choose == DeviceChoice::above_threshold ? 1 : r.fan_out;
  r.capacity = mixes_parent(p) ? p.capacity : 0, r.residual = p.residual, r.groups = p.groups,
  r.groups_kept = p.groups_kept;
  r.threshold = p.threshold, r.scale = p.scale;
  return r;
}

/// True where choices can be dropped, so that wanted and kept loads differ.
STORMCELL_BOTH inline bool may_drop(const Rule& rule) { return rule.capacity > 0; }
/// True if a cell may have fewer choices than the fan-out.
inline bool may_choose_fewer(const Rule& rule) { return rule.choose == DeviceChoice::above_threshold; }

}  // namespace stormcell::gpu
