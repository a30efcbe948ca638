// The keys of config.json that each family of decoder_mixtures.cpp reads, ignores or refuses. Defaults: the
// configuration classes of transformers 5.24.0.
#include <array>
#include <span>

#include "core/models/config_keys.h"

namespace stormcell {
namespace decoder_mixture_keys {
namespace {

constexpr std::string_view kScaled = "scaled rotary positions are not in this version",
                           kPartial = "rotary positions of a part of each head are not in this version",
                           kByLayer = "rotary positions that differ from layer to layer are not in this version",
                           kInTwo = "rotary positions in several dimensions are not in this version",
                           kWindow = "attention to a window is not in this version of the family";

constexpr std::array kOfEach = keys_read(
    "architectures", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "head_dim", "num_experts_per_tok", "max_position_embeddings", "rms_norm_eps", "rope_theta",
    "rope_parameters.rope_theta", "rope_scaling.rope_theta", "initializer_range", "hidden_act", "tie_word_embeddings",
    "bos_token_id", "eos_token_id", "pad_token_id");
// transformers 5 writes "rope_parameters". Earlier versions write "rope_theta", and "rope_scaling" if it is not the
// default.
constexpr std::array kPositions = {
    ConfigKey{KeyUse::group, "rope_parameters"},
    ConfigKey{KeyUse::fixed, "rope_parameters.rope_type", "\"default\"", kScaled},
    ConfigKey{KeyUse::fixed, "rope_parameters.type", "\"default\"", kScaled},
    ConfigKey{KeyUse::defaulted, "rope_parameters.factor", "1.0"},
    ConfigKey{KeyUse::fixed, "rope_parameters.partial_rotary_factor", "1.0", kPartial},
    ConfigKey{KeyUse::fixed, "rope_parameters.full_attention", "null", kByLayer},
    ConfigKey{KeyUse::fixed, "rope_parameters.sliding_attention", "null", kByLayer},
    ConfigKey{KeyUse::fixed, "rope_parameters.mrope_section", "null", kInTwo},
    ConfigKey{KeyUse::group, "rope_scaling"},
    ConfigKey{KeyUse::fixed, "rope_scaling.rope_type", "\"default\"", kScaled},
    ConfigKey{KeyUse::fixed, "rope_scaling.type", "\"default\"", kScaled},
    ConfigKey{KeyUse::defaulted, "rope_scaling.factor", "1.0"},
    ConfigKey{KeyUse::fixed, "rope_scaling.partial_rotary_factor", "1.0", kPartial},
    ConfigKey{KeyUse::fixed, "rope_scaling.mrope_section", "null", kInTwo},
    ConfigKey{KeyUse::fixed, "is_encoder_decoder", "false", "encoders are not in this version of the family"},
    ConfigKey{KeyUse::harmless, "is_decoder"}};
constexpr std::array kShared = in_one(kOfEach, kPositions);

constexpr std::array kOfMixtral = in_one(keys_read("num_local_experts", "sliding_window"),
                                         std::array{ConfigKey{KeyUse::alias, "num_experts", "num_local_experts"}});
// The width of a window that is not used, and the layers that it would hold for, change nothing.
constexpr std::array kNoWindow = {
    ConfigKey{KeyUse::alias, "num_local_experts", "num_experts"},
    ConfigKey{KeyUse::fixed, "use_sliding_window", "false", kWindow},
    ConfigKey{KeyUse::harmless, "sliding_window"},
    ConfigKey{KeyUse::harmless, "max_window_layers"},
    ConfigKey{KeyUse::harmless, "layer_types"},
};
constexpr std::array kOfQwen2 = in_one(
    keys_read("num_experts", "moe_intermediate_size", "shared_expert_intermediate_size", "decoder_sparse_step",
              "mlp_only_layers", "norm_topk_prob", "qkv_bias"),
    kNoWindow);
constexpr std::array kOfQwen3 = in_one(keys_read("num_experts", "moe_intermediate_size", "decoder_sparse_step",
                                                 "mlp_only_layers", "norm_topk_prob", "attention_bias"),
                                       kNoWindow);
// A family's own rows come first.
constexpr std::array kMixtral = in_one(kOfMixtral, kShared);
constexpr std::array kQwen2 = in_one(kOfQwen2, kShared);
constexpr std::array kQwen3 = in_one(kOfQwen3, kShared);

}  // namespace
}  // namespace decoder_mixture_keys

std::span<const ConfigKey> keys_of_mixtral() { return decoder_mixture_keys::kMixtral; }
std::span<const ConfigKey> keys_of_qwen2_moe() { return decoder_mixture_keys::kQwen2; }
std::span<const ConfigKey> keys_of_qwen3_moe() { return decoder_mixture_keys::kQwen3; }

}  // namespace stormcell
