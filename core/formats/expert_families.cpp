// The table of families with experts. Its first part follows the configuration and modelling files of
// transformers 5.24.0, its second part those of vLLM, SGLang and the published models.
// tests/reference/make_expert_layers.py computes the results of transformers' rules.
#include <array>

#include "core/formats/expert_rules.h"

namespace stormcell {
namespace {

using enum ExpertRule;

// "first_k_dense_replace" has one meaning and several defaults. Configurations of transformers 5 have a list of words
// instead.
template <int32_t kDense>
constexpr std::array kDenseFirst = {ExpertKey{words, "mlp_layer_types"}, ExpertKey{flags, "moe_layer_freq"},
                                    ExpertKey{from, "first_k_dense_replace", kDense},
                                    ExpertKey{first_of_each, "moe_layer_freq", 1}};
constexpr std::array kDots3 = {ExpertKey{words, "mlp_layer_types"}, ExpertKey{from, "first_k_dense_replace", 1},
                               ExpertKey{first_of_each, "moe_layer_freq", 1}};
template <int32_t kDense>
constexpr std::array kDenseLayers = {ExpertKey{from, "num_dense_layers", kDense}};
template <int32_t kDense>
constexpr std::array kQwen = {ExpertKey{last_of_each, "decoder_sparse_step", 1},
                              ExpertKey{except, "mlp_only_layers", kDense}};
constexpr std::array kErnie = {ExpertKey{words, "mlp_layer_types"}, ExpertKey{from, "moe_layer_start_index", 1},
                               ExpertKey{until, "moe_layer_end_index", -1},
                               ExpertKey{last_of_each, "moe_layer_interval", 1}};
template <int32_t kDense>
constexpr std::array kStep = {ExpertKey{words, "mlp_layer_types"}, ExpertKey{listed, "moe_layers_enum"},
                              ExpertKey{from, "", kDense}};
constexpr std::array kWords = {ExpertKey{words, "mlp_layer_types"}};
constexpr std::array kInkling = {ExpertKey{words, "mlp_layer_types"}, ExpertKey{from, "dense_mlp_idx", 0}};
constexpr std::array kLlama4 = {ExpertKey{listed, "moe_layers"},
                                ExpertKey{last_of_each, "interleave_moe_layer_step", 1}};
constexpr std::array kJamba = {ExpertKey{period, "expert_layer_period", 2, "expert_layer_offset", 1}};
constexpr std::array kNemotron = {ExpertKey{words, "layers_block_type"}, ExpertKey{words, "layer_types"},
                                  ExpertKey{pattern, "hybrid_override_pattern"},
                                  ExpertKey{needed, "layers_block_type"}};
constexpr std::array kHunyuan = {ExpertKey{from, "moe_layer_num_skipped", 0}};
constexpr std::array kPangu = {ExpertKey{from, "first_k_dense_replace", 0}, ExpertKey{from, "num_dense_layers", 0},
                               ExpertKey{first_of_each, "moe_layer_freq", 1}};
constexpr std::array kArctic = {ExpertKey{last_of_each, "moe_layer_frequency", 2}};
constexpr std::array kDoge = {ExpertKey{enabled, "is_moe", 0}};
constexpr std::array kGemma4 = {ExpertKey{enabled, "enable_moe_block", 0}};
constexpr std::array kSwitchEncoder = {
    ExpertKey{second_of_each, "encoder_sparse_step", 0, "num_sparse_encoder_layers", 3}};
constexpr std::array kSwitchDecoder = {
    ExpertKey{second_of_each, "decoder_sparse_step", 0, "num_sparse_decoder_layers", 3}};
constexpr std::array kNllbEncoder = {ExpertKey{last_of_each, "encoder_sparse_step", 4}};
constexpr std::array kNllbDecoder = {ExpertKey{last_of_each, "decoder_sparse_step", 4}};
constexpr std::span<const ExpertKey> kAll = {};

constexpr ExpertFamily kFamilies[] = {
    {"afmoe", 32, 64, 6, kDenseLayers<1>},
    {"aria_text", 32, 8, 2, kAll},
    {"axk1", 61, 192, 8, kDenseFirst<1>},
    {"axk2", 48, 128, 8, kDenseFirst<1>},
    {"bailing_hybrid", 42, 512, 8, kDenseFirst<2>},
    {"beam", 52, 256, 8, kDenseFirst<3>},
    {"cohere2_moe", 40, 8, 2, kDenseFirst<0>},
    {"dbrx", 24, 4, 1, kAll, "n_layers"},
    {"deepseek_ocr2_text", 32, 64, 0, kDenseFirst<0>},
    {"deepseek_v2", 32, 64, 0, kDenseFirst<0>},
    {"deepseek_v3", 61, 256, 8, kDenseFirst<3>},
    {"deepseek_v32", 61, 256, 8, kDenseFirst<3>},
    {"deepseek_v4", 43, 256, 6, kWords},
    {"diffusion_gemma_text", 30, 0, 0, kAll},
    {"doge", 32, 16384, 64, kDoge},
    {"dots1", 62, 0, 0, kDenseFirst<0>},
    {"dots3_note_text", 46, 256, 8, kDots3},
    {"ernie4_5_moe", 28, 64, 6, kErnie},
    {"ernie4_5_vl_moe_text", 28, 64, 6, kErnie},
    {"exaone_moe", 32, 64, 8, kDenseFirst<1>},
    {"flex_olmo", 32, 7, 5, kAll},
    {"flint", 49, 256, 6, kQwen<2>},
    {"gemma4_text", 30, 0, 0, kGemma4},
    {"glm4_moe", 46, 128, 8, kDenseFirst<1>},
    {"glm4_moe_lite", 47, 64, 4, kDenseFirst<1>},
    {"glm4v_moe_text", 46, 128, 8, kDenseFirst<1>},
    {"glm5_next_text", 45, 288, 8, kDenseFirst<3>},
    {"glm_moe_dsa", 78, 256, 8, kDenseFirst<3>},
    {"gpt_oss", 36, 128, 4, kAll},
    {"granitemoe", 32, 8, 2, kAll},
    {"granitemoe_swa", 32, 8, 2, kAll},
    {"granitemoehybrid", 32, 8, 2, kAll},
    {"granitemoeshared", 32, 8, 2, kAll},
    {"hunyuan_v1_moe", 32, 1, 1, kHunyuan},
    {"hy_v3", 80, 192, 8, kDenseFirst<1>},
    {"hy_v4", 34, 256, 8, kDenseFirst<1>},
    {"hy_v4_vl_text", 78, 256, 8, kDenseFirst<1>},
    {"inkling2_loop_text", 24, 128, 8, kAll},
    {"inkling2_text", 48, 384, 8, kAll},
    {"inkling_text", 66, 256, 6, kInkling},
    {"jamba", 32, 16, 2, kJamba},
    {"jetmoe", 12, 8, 2, kAll},
    {"kimi_linear", 27, 256, 8, kDenseFirst<1>},
    {"kolibri1", 50, 384, 6, kAll},
    {"laguna", 40, 256, 8, kDenseFirst<1>},
    {"lara_mini", 34, 128, 4, kAll},
    {"lfm2_moe", 32, 32, 4, kDenseLayers<2>},
    {"llama4_text", 48, 16, 1, kLlama4},
    {"longcat_flash", 28, 512, 12, kAll, "num_layers"},
    {"mellum", 28, 64, 8, kWords},
    {"mimo_v2_flash", 48, 256, 8, kDenseFirst<1>},
    {"minimax", 32, 8, 2, kAll},
    {"minimax_m2", 62, 256, 8, kAll},
    {"minimax_m3_vl_text", 60, 128, 4, kDenseFirst<0>},
    {"mistral4", 36, 128, 4, kDenseFirst<0>},
    {"mistral_large4_text", 72, 128, 4, kDenseFirst<1>},
    {"mixtral", 32, 8, 2, kAll},
    {"muse_spark_text", 62, 256, 8, kWords},
    {"nemotron_h", 0, 8, 2, kNemotron},
    {"nllb-moe", 12, 128, 2, kNllbEncoder, "encoder_layers", kNllbDecoder, "decoder_layers"},
    {"olmoe", 16, 64, 8, kAll},
    {"openai_privacy_filter", 8, 128, 4, kAll},
    {"phimoe", 32, 16, 2, kAll},
    {"qwen2_moe", 24, 60, 4, kQwen<0>},
    {"qwen3_5_moe_text", 40, 256, 8, kAll},
    {"qwen3_moe", 24, 128, 8, kQwen<0>},
    {"qwen3_next", 48, 512, 10, kQwen<0>},
    {"qwen3_omni_moe_talker_text", 20, 128, 8, kAll},  // its layers are built by the rule of Qwen3, then replaced
    {"qwen3_omni_moe_text", 28, 128, 8, kQwen<0>},
    {"qwen3_vl_moe_text", 24, 60, 4, kQwen<0>},
    {"qwen4_exp_text", 40, 512, 10, kAll},
    {"sarvam_mla", 32, 128, 8, kDenseFirst<1>},
    {"sarvam_moe", 19, 128, 6, kDenseFirst<1>},
    {"solar_open", 48, 128, 8, kDenseFirst<0>},
    {"step3p5", 45, 288, 8, kStep<3>},
    {"switch_transformers", 12, 8, 1, kSwitchEncoder, "num_layers", kSwitchDecoder, "num_decoder_layers"},
    {"unlimited_ocr_text", 12, 64, 6, kDenseFirst<1>},
    {"zaya", 40, 16, 1, kAll},
    // Families from vLLM, SGLang and published configurations.
    {"arctic", 0, 0, 0, kArctic},
    {"bailing_moe", 0, 0, 0, kDenseFirst<0>},
    {"bailing_moe_linear", 0, 0, 0, kDenseFirst<0>},
    {"bailing_moe_v2", 0, 0, 0, kDenseFirst<0>},
    {"bailing_moe_v2_5", 0, 0, 0, kDenseFirst<0>},
    {"deepseek", 0, 0, 0, kDenseFirst<0>},
    {"ernie4_5_moe_vl", 0, 0, 0, kErnie},
    {"git", 0, 0, 0, kAll},  // Grok 2
    {"grok-1", 0, 0, 0, kAll},
    {"hunyuan", 0, 0, 0, kHunyuan},
    {"hunyuan_image_3_moe", 0, 0, 0, kHunyuan},
    {"hunyuan_moe", 0, 0, 0, kHunyuan},
    {"kimi_k2", 0, 0, 0, kDenseFirst<0>},
    {"mimo_v2", 0, 0, 0, kDenseFirst<0>},
    {"minimax_m1", 0, 0, 0, kAll},
    {"minimax_m3", 0, 0, 0, kDenseFirst<0>},
    {"minimax_text_01", 0, 0, 0, kAll},
    {"PanguProMoE", 0, 0, 0, kQwen<0>},
    {"pangu_ultra_moe", 0, 0, 0, kPangu},
    {"step3_text", 0, 0, 0, kStep<1>},
};

constexpr std::array kOfAny = {
    ExpertKey{words, "mlp_layer_types"},
    ExpertKey{pattern, "hybrid_override_pattern"},
    ExpertKey{listed, "moe_layers"},
    ExpertKey{listed, "moe_layers_enum"},
    ExpertKey{flags, "moe_layer_freq"},
    ExpertKey{from, "first_k_dense_replace", 0},
    ExpertKey{from, "num_dense_layers", 0},
    ExpertKey{from, "moe_layer_num_skipped", 0},
    ExpertKey{from, "moe_layer_start_index", 0},
    ExpertKey{until, "moe_layer_end_index", -1},
    ExpertKey{last_of_each, "moe_layer_interval", 1},
    ExpertKey{first_of_each, "moe_layer_freq", 1},
    ExpertKey{last_of_each, "moe_layer_frequency", 1},
    ExpertKey{last_of_each, "decoder_sparse_step", 1},
    ExpertKey{last_of_each, "interleave_moe_layer_step", 1},
    ExpertKey{except, "mlp_only_layers", 0},
    ExpertKey{period, "expert_layer_period", 1, "expert_layer_offset", 0},
};

}  // namespace

std::span<const ExpertFamily> expert_families() { return kFamilies; }
std::span<const ExpertKey> keys_of_any_family() { return kOfAny; }

}  // namespace stormcell
