#include "gpu/plan/pointwise_nodes.h"

#include "core/base/error.h"

namespace stormcell::gpu {

PointwiseOp activation_of(std::string_view word) {
  if (word == "none") return PointwiseOp::constant;
  if (word == "relu") return PointwiseOp::relu;
  if (word == "gelu") return PointwiseOp::gelu_erf;
  if (word == "gelu_tanh") return PointwiseOp::gelu_tanh;
  if (word == "silu") return PointwiseOp::silu;
  if (word == "tanh") return PointwiseOp::tanh;
  if (word == "sigmoid") return PointwiseOp::sigmoid;
  bad_input("attribute activation",
            "expected none, relu, gelu, gelu_tanh, silu, tanh or sigmoid, got " + std::string(word));
}

}  // namespace stormcell::gpu
