// A model folder with very many small tensors: a Mixtral whose experts are tiny, and tensors beside them that no family
// knows. The data is a hole in the file, so that it costs no disk.
#pragma once
#include <cstdint>
#include <string>

namespace stormcell::testing {

struct ManyTensors {
  int64_t layers = 4, experts = 8;
  int64_t per_expert = 3;  ///< 3: what Mixtral has; more: w4, w5, ..., which nobody reads
  int64_t width = 32, ffn_width = 64;
  bool stacked = false;  ///< all experts of a layer in two tensors, gate_up_proj and down_proj
};

/// Writes config.json and model.safetensors into the existing `folder`; returns the number of tensors.
int64_t write_many_tensors(const std::string& folder, const ManyTensors& sizes);

}  // namespace stormcell::testing
