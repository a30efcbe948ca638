// The visible list of reference kernels. Route, guard and repeat are the oracle's own.
#include <array>

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
namespace {
const KernelRow kKernels[] = {
    {"embedding", embedding<float>, embedding<double>},
    {"linear", linear<float>, linear<double>},
    {"grouped_linear", grouped_linear<float>, grouped_linear<double>},
    {"conv2d", conv2d<float>, conv2d<double>},
    {"grouped_conv2d", grouped_conv2d<float>, grouped_conv2d<double>},
    {"separable_conv2d", separable_conv2d<float>, separable_conv2d<double>},
    {"rms_norm", rms_norm<float>, rms_norm<double>},
    {"activation", activation<float>, activation<double>},
    {"add", add<float>, add<double>},
    {"multiply", multiply<float>, multiply<double>},
    {"scale", scale<float>, scale<double>},
    {"attention", attention<float>, attention<double>},
    {"rotary", rotary<float>, rotary<double>},
    {"positions", positions<float>, positions<double>},
    {"pool", pool<float>, pool<double>},
    {"reduce", reduce<float>, reduce<double>},
    {"broadcast", broadcast<float>, broadcast<double>},
    {"argmax", argmax<float>, argmax<double>},
    {"scatter", scatter<float>, scatter<double>},
    {"gather", gather<float>, gather<double>},
    {"compact", compact<float>, compact<double>},
    {"members", members<float>, members<double>},
    {"pack", pack<float>, pack<double>},
    {"expand", expand<float>, expand<double>},
    {"choice_weight", choice_weight<float>, choice_weight<double>},
    {"zeros", zeros<float>, zeros<double>},
    {"resize", resize<float>, resize<double>},
    {"unfold", unfold<float>, unfold<double>},
    {"fold", fold<float>, fold<double>},
    {"pixel_shuffle", pixel_shuffle<float>, pixel_shuffle<double>},
    {"concat", concat<float>, concat<double>},
    {"standardize", standardize<float>, standardize<double>},
    {"squared_distance", squared_distance<float>, squared_distance<double>},
    {"layer_norm", layer_norm<float>, layer_norm<double>},
    {"grouped_layer_norm", grouped_layer_norm<float>, grouped_layer_norm<double>},
    {"merge_cells", merge_cells<float>, merge_cells<double>},
    {"window_attention", window_attention<float>, window_attention<double>},
    {"residual_blocks", residual_blocks<float>, residual_blocks<double>},
    {"grouped_residual_blocks", grouped_residual_blocks<float>, grouped_residual_blocks<double>},
    {"extent", extent<float>, extent<double>},
    {"add_constant", add_constant<float>, add_constant<double>},
    {"end_sequences", end_sequences<float>, end_sequences<double>},
    {"all_set", all_set<float>, all_set<double>},
    {"branches_empty", branches_empty<float>, branches_empty<double>},
    {"branches_full", branches_full<float>, branches_full<double>},
    {"state_fill", state_fill<float>, state_fill<double>},
    {"state_write", state_write<float>, state_write<double>},
    {"state_put", state_put<float>, state_put<double>},
};
}  // namespace

template <class Scalar>
Kernel<Scalar> find_kernel(std::string_view op) {
  for (const KernelRow& row : kKernels)
    if (row.op == op) {
      if constexpr (std::is_same_v<Scalar, float>) {
        return row.in_float;
      } else {
        return row.in_double;
      }
    }
  return nullptr;
}
template Kernel<float> find_kernel(std::string_view);
template Kernel<double> find_kernel(std::string_view);

}  // namespace stormcell::reference
