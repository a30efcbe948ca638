#include "core/sheet/tensor_role.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <span>

namespace stormcell {
namespace {

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }
bool has_any(std::string_view name, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return has(name, part); });
}

/// The number behind the first of these words; -1: there is none.
int32_t number_behind(std::string_view name, std::initializer_list<std::string_view> words) {
  constexpr int32_t kMost = 1 << 20;
  for (const std::string_view word : words) {
    for (size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
      const std::string_view rest = name.substr(at + word.size());
      int32_t number = -1;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
      if (error == std::errc() && number >= 0 && number < kMost) return number;
    }
  }
  return -1;
}

struct RoleWords {
  std::string_view kind;
  std::span<const std::string_view> parts;
};

// The first row whose words occur decides: a norm within attention is a norm, an expert's projection is the expert's.
constexpr std::string_view kFurther[] = {"mtp.", "mtp_", "nextn", "eh_proj", "shared_head"};
constexpr std::string_view kInputs[] = {"vision", "visual.", "image_",      "audio",         "v.blk",
                                        "a.blk",  "mm.",     "multi_modal", "img_projector", "patch_embed"};
constexpr std::string_view kRouters[] = {
    "ffn_gate_inp", "exp_probs_b", "mlp.gate.",          "moe.gate.",   "block_sparse_moe.gate.",
    ".router",      "gate.wg",     "e_score_correction", "expert_bias", "feed_forward.gate.",
    "mixer.gate.",  "ffn.gate.",   "per_expert_scale"};
constexpr std::string_view kShared[] = {"shared_expert", "shared_mlp", "_shexp", "shared_moe"};
constexpr std::string_view kExperts[] = {
    ".experts.", "_exps.",    ".experts_", "block_sparse_moe.input_linear", "block_sparse_moe.output_linear",
    "expert_",   "switch_mlp"};
constexpr std::string_view kNorms[] = {"norm", ".ln_", "layernorm", "LayerNorm", ".ln"};
constexpr std::string_view kRecurrence[] = {"linear_attn",    "mamba",         "ssm_",           ".mixer.A_log",
                                            ".mixer.D",       ".mixer.conv1d", ".mixer.in_proj", ".mixer.out_proj",
                                            ".mixer.dt_bias", ".conv.conv",    ".conv.in_proj",  ".conv.out_proj",
                                            "shortconv",      "time_mix",      "lightning"};
constexpr std::string_view kAttention[] = {"self_attn",     "attn",          "attention",
                                           "Attention",     ".mixer.q_proj", ".mixer.k_proj",
                                           ".mixer.v_proj", ".mixer.o_proj", "attn_"};
constexpr std::string_view kEmbedding[] = {"embed_tokens",   "token_embd",      "wte",
                                           "tok_embeddings", "word_embeddings", "shared.weight",
                                           "embeddings",     "per_layer_token", "embed_in"};
constexpr std::string_view kHead[] = {"lm_head", "output.weight", "embed_out", "score.weight"};
constexpr std::string_view kFeedForward[] = {"mlp.", "ffn",  "feed_forward",   "DenseReluDense",
                                             ".fc1", ".fc2", ".mixer.up_proj", ".mixer.down_proj"};
constexpr std::array kRoles = {RoleWords{"further tokens", kFurther}, RoleWords{"other inputs", kInputs},
                               RoleWords{"router", kRouters},         RoleWords{"shared experts", kShared},
                               RoleWords{"experts", kExperts},        RoleWords{"norms", kNorms},
                               RoleWords{"recurrence", kRecurrence},  RoleWords{"attention", kAttention},
                               RoleWords{"embedding", kEmbedding},    RoleWords{"feed-forward", kFeedForward}};

struct OperationWords {
  std::string_view operation;
  std::span<const std::string_view> parts;
};
constexpr std::string_view kDelta[] = {"linear_attn.A_log", "linear_attn.dt_bias", "ssm_ba.", "ssm_beta", "ssm_alpha."};
constexpr std::string_view kScan[] = {"mixer.A_log", "mamba.A_log", "ssm_a.", "ssm_a"};
constexpr std::string_view kConvolution[] = {".conv.conv.", "shortconv.conv"};
constexpr std::string_view kLatent[] = {"kv_a_proj", "attn_kv_a_mqa", "attn_kv_a."};
constexpr std::string_view kSinks[] = {".sinks", "attn_sinks"};
constexpr std::string_view kIndexer[] = {"indexer"};
constexpr std::array kOperations = {
    OperationWords{"delta_rule", kDelta},      OperationWords{"short_conv", kConvolution},
    OperationWords{"indexer", kIndexer},       OperationWords{"latent_attention", kLatent},
    OperationWords{"attention sinks", kSinks}, OperationWords{"ssd", kScan}};

}  // namespace

TensorRole role_of(std::string_view name) {
  TensorRole role;
  role.layer = number_behind(name, {"layers.", "blk.", "block.", "layer.", "blocks.", ".h."});
  role.expert = number_behind(name, {"experts.expert_", "experts.", "ffn_gate.", "ffn_up.", "ffn_down."});
  role.decoder = name.starts_with("decoder.") || name.starts_with("model.decoder.");
  // Older files of Mixtral have one tensor an expert: ffn_gate.3.weight.
  if (role.expert >= 0 && name.starts_with("blk.")) return role.kind = "experts", role;
  for (const RoleWords& row : kRoles)
    if (has_any(name, row.parts)) return role.kind = row.kind, role;
  role.kind = has_any(name, kHead) ? "head" : "other";
  return role;
}

std::string_view operation_of(std::string_view name) {
  for (const OperationWords& row : kOperations)
    if (has_any(name, row.parts)) return row.operation;
  return {};
}

}  // namespace stormcell
