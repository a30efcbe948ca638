// preset:NAME: architectures with seeded weights, published ones and small ones. Their routing is what the seed gives.
#include "core/models/presets.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/listed_words.h"
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

template <int64_t kExperts>
nlohmann::json switch_base_of() {
  return switch_base(kExperts);
}

/// Pictures to twice as large ones, by networks of three sizes. Small: no published model is meant.
nlohmann::json patch_mixture() {
  return {{"model_type", "patch_mixture"},
          {"image_size", {64, 64}},
          {"num_channels", 3},
          {"patch_size", 16},
          {"patch_stride", 12},
          {"upscale", 2},
          {"router_channels", 8},
          {"hidden_act", "relu"},
          {"branch_channels", {4, 8, 16}},
          {"branch_blocks", {0, 1, 2}}};
}

struct Preset {
  std::string_view name;
  nlohmann::json (*config)();
};
constexpr Preset kPresets[] = {{"switch-base-8", switch_base_of<8>},     {"switch-base-16", switch_base_of<16>},
                               {"switch-base-32", switch_base_of<32>},   {"switch-base-64", switch_base_of<64>},
                               {"switch-base-128", switch_base_of<128>}, {"switch-base-256", switch_base_of<256>},
                               {"patch-mixture", patch_mixture}};
}  // namespace

nlohmann::json preset_config(std::string_view name) {
  for (const Preset& p : kPresets)
    if (p.name == name) return p.config();
  bad_input("preset:" + std::string(name), "no preset of this name", "known presets: " + joined(preset_names()));
}

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const Preset& p : kPresets) names.push_back(p.name);
  return names;
}

}  // namespace stormcell
