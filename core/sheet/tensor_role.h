// The part of a language model that a tensor belongs to, by its name: names of Hugging Face and of GGUF.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

struct TensorRole {
  std::string_view
      kind;              ///< "experts", "shared experts", "router", "attention", "recurrence", "feed-forward", "norms",
                         ///< "embedding", "head", "other inputs", "further tokens", "other"
  int32_t layer = -1;    ///< -1: of no layer
  int32_t expert = -1;   ///< -1: of no single expert
  bool decoder = false;  ///< the second stack of an encoder and decoder
};
TensorRole role_of(std::string_view name);

/// An operation that a tensor shows by its name alone: "delta_rule", "latent_attention"; empty: none of these.
std::string_view operation_of(std::string_view name);

}  // namespace stormcell
