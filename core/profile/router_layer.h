// The layer of a router, if its name alone shows it.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

/// The first number between points of a weight prefix: 3 of "encoder.block.3.layer.1.mlp" and of "model.layers.3.mlp";
/// -1: there is none.
int32_t layer_in_name(std::string_view name);

}  // namespace stormcell
