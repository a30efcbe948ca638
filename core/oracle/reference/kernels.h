// The visible list of reference kernels, one row an operator. Route, guard and repeat are the oracle's own.
// A row is for all number types. A library of the tests instantiates the list for Residue (core/oracle/residue.h), so
// it does not build with a kernel that compiles for floats alone.
#pragma once
#include <array>
#include <string_view>

#include "core/oracle/reference/activation.h"
#include "core/oracle/reference/add.h"
#include "core/oracle/reference/add_constant.h"
#include "core/oracle/reference/all_set.h"
#include "core/oracle/reference/argmax.h"
#include "core/oracle/reference/attention.h"
#include "core/oracle/reference/branches_empty.h"
#include "core/oracle/reference/branches_full.h"
#include "core/oracle/reference/broadcast.h"
#include "core/oracle/reference/choice_weight.h"
#include "core/oracle/reference/compact.h"
#include "core/oracle/reference/concat.h"
#include "core/oracle/reference/conv2d.h"
#include "core/oracle/reference/embedding.h"
#include "core/oracle/reference/end_sequences.h"
#include "core/oracle/reference/expand.h"
#include "core/oracle/reference/extent.h"
#include "core/oracle/reference/fold.h"
#include "core/oracle/reference/gather.h"
#include "core/oracle/reference/grouped_conv2d.h"
#include "core/oracle/reference/grouped_layer_norm.h"
#include "core/oracle/reference/grouped_linear.h"
#include "core/oracle/reference/grouped_residual_blocks.h"
#include "core/oracle/reference/layer_norm.h"
#include "core/oracle/reference/linear.h"
#include "core/oracle/reference/members.h"
#include "core/oracle/reference/merge_cells.h"
#include "core/oracle/reference/multiply.h"
#include "core/oracle/reference/pack.h"
#include "core/oracle/reference/pixel_shuffle.h"
#include "core/oracle/reference/pool.h"
#include "core/oracle/reference/positions.h"
#include "core/oracle/reference/reduce.h"
#include "core/oracle/reference/residual_blocks.h"
#include "core/oracle/reference/resize.h"
#include "core/oracle/reference/rms_norm.h"
#include "core/oracle/reference/rotary.h"
#include "core/oracle/reference/sample.h"
#include "core/oracle/reference/scale.h"
#include "core/oracle/reference/scatter.h"
#include "core/oracle/reference/separable_conv2d.h"
#include "core/oracle/reference/squared_distance.h"
#include "core/oracle/reference/standardize.h"
#include "core/oracle/reference/state_fill.h"
#include "core/oracle/reference/state_put.h"
#include "core/oracle/reference/state_write.h"
#include "core/oracle/reference/unfold.h"
#include "core/oracle/reference/window_attention.h"
#include "core/oracle/reference/zeros.h"

namespace stormcell::reference {

template <class Scalar>
struct KernelRow {
  std::string_view op;
  Kernel<Scalar> kernel;
};

template <class Scalar>
inline constexpr auto kKernels = std::to_array<KernelRow<Scalar>>({
    {"embedding", embedding<Scalar>},
    {"linear", linear<Scalar>},
    {"grouped_linear", grouped_linear<Scalar>},
    {"conv2d", conv2d<Scalar>},
    {"grouped_conv2d", grouped_conv2d<Scalar>},
    {"separable_conv2d", separable_conv2d<Scalar>},
    {"rms_norm", rms_norm<Scalar>},
    {"activation", activation<Scalar>},
    {"add", add<Scalar>},
    {"multiply", multiply<Scalar>},
    {"scale", scale<Scalar>},
    {"attention", attention<Scalar>},
    {"rotary", rotary<Scalar>},
    {"positions", positions<Scalar>},
    {"pool", pool<Scalar>},
    {"reduce", reduce<Scalar>},
    {"broadcast", broadcast<Scalar>},
    {"argmax", argmax<Scalar>},
    {"sample", sample<Scalar>},
    {"scatter", scatter<Scalar>},
    {"gather", gather<Scalar>},
    {"compact", compact<Scalar>},
    {"members", members<Scalar>},
    {"pack", pack<Scalar>},
    {"expand", expand<Scalar>},
    {"choice_weight", choice_weight<Scalar>},
    {"zeros", zeros<Scalar>},
    {"resize", resize<Scalar>},
    {"unfold", unfold<Scalar>},
    {"fold", fold<Scalar>},
    {"pixel_shuffle", pixel_shuffle<Scalar>},
    {"concat", concat<Scalar>},
    {"standardize", standardize<Scalar>},
    {"squared_distance", squared_distance<Scalar>},
    {"layer_norm", layer_norm<Scalar>},
    {"grouped_layer_norm", grouped_layer_norm<Scalar>},
    {"merge_cells", merge_cells<Scalar>},
    {"window_attention", window_attention<Scalar>},
    {"residual_blocks", residual_blocks<Scalar>},
    {"grouped_residual_blocks", grouped_residual_blocks<Scalar>},
    {"extent", extent<Scalar>},
    {"add_constant", add_constant<Scalar>},
    {"end_sequences", end_sequences<Scalar>},
    {"all_set", all_set<Scalar>},
    {"branches_empty", branches_empty<Scalar>},
    {"branches_full", branches_full<Scalar>},
    {"state_fill", state_fill<Scalar>},
    {"state_write", state_write<Scalar>},
    {"state_put", state_put<Scalar>},
});

template <class Scalar>
Kernel<Scalar> find_kernel(std::string_view op) {
  for (const KernelRow<Scalar>& row : kKernels<Scalar>)
    if (row.op == op) return row.kernel;
  return nullptr;
}

}  // namespace stormcell::reference
