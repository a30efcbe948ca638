// preset:NAME: published architectures with seeded weights. Their routing is what the seed gives.
#include "core/models/presets.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

/// google/switch-base-N as published: 12 + 12 layers, every second one sparse.
nlohmann::json switch_base(int64_t experts) {
  return {{"architectures", {"SwitchTransformersForConditionalGeneration"}},
          {"model_type", "switch_transformers"},
          {"vocab_size", 32128},
          {"d_model", 768},
          {"d_kv", 64},
          {"d_ff", 3072},
          {"num_heads", 12},
          {"num_layers", 12},
          {"num_decoder_layers", 12},
          {"num_sparse_encoder_layers", 6},
          {"num_sparse_decoder_layers", 6},
          {"encoder_sparse_step", 2},
          {"decoder_sparse_step", 2},
          {"num_experts", experts},
          {"expert_capacity", 64},
          {"router_bias", false},
          {"relative_attention_num_buckets", 32},
          {"relative_attention_max_distance", 128},
          {"layer_norm_epsilon", 1e-6},
          {"dense_act_fn", "relu"},
          {"tie_word_embeddings", true},
          {"pad_token_id", 0},
          {"eos_token_id", 1},
          {"decoder_start_token_id", 0}};
}

struct Preset {
  std::string_view name;
  int64_t experts;
};
constexpr Preset kPresets[] = {{"switch-base-8", 8},   {"switch-base-16", 16},   {"switch-base-32", 32},
                               {"switch-base-64", 64}, {"switch-base-128", 128}, {"switch-base-256", 256}};
}  // namespace

nlohmann::json preset_config(std::string_view name) {
  std::string list;
  for (const Preset& p : kPresets) {
    if (p.name == name) return switch_base(p.experts);
    list += (list.empty() ? "" : ", ") + std::string(p.name);
  }
  bad_input("preset:" + std::string(name), "no preset of this name", "known presets: " + list);
}

}  // namespace stormcell
