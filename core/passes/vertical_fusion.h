// Folds nodes beside a product into it.
#pragma once
#include <array>

#include "core/passes/pass.h"

namespace stormcell {

inline constexpr PassOption kFoldNorms = {"norms", "root-mean-square norms into the product that reads them"};
inline constexpr PassOption kFoldScales = {"scales", "scales into the product before them"};
inline constexpr PassOption kFoldActivations = {"activations",
                                                "activations into the product or convolution before them"};
inline constexpr PassOption kFoldGates = {"gates", "element-wise factors into the product before them"};
inline constexpr PassOption kFoldResiduals = {"residuals", "sums into the product or gather before them"};
inline constexpr PassOption kFoldFactors = {"factors", "numbers of single rows into the gather that sums them"};
inline constexpr PassOption kFoldChains = {
    "chains", "residual blocks of convolutions with few channels into one step for all of them"};
inline constexpr PassOption kFoldSeparable = {"separable", "a depthwise convolution into the pointwise one after it"};
inline constexpr std::array kVerticalFusionOptions = {kFoldNorms,     kFoldScales,  kFoldActivations, kFoldGates,
                                                      kFoldResiduals, kFoldFactors, kFoldChains,      kFoldSeparable};

PassResult vertical_fusion(const PassInput& input);

}  // namespace stormcell
