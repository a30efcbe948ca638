// Defaults and names are those of transformers 5.24.0: configuration_utils.py, generation/configuration_utils.py and
// the configuration classes of its text models. tests/reference/check_config_keys.py holds the tables of Mixtral and
// Switch Transformers to the classes.
#include "core/models/config_keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;
using enum KeyUse;

constexpr ConfigKey kOfAll[] = {
    {harmless, "model_type"},
    {harmless, "architectures"},
    {harmless, "torch_dtype"},
    {harmless, "dtype"},
    {harmless, "transformers_version"},
    {harmless, "name_or_path"},
    {harmless, "_name_or_path"},
    {harmless, "_commit_hash"},
    {harmless, "_auto_class"},
    {harmless, "_attn_implementation"},
    {harmless, "_attn_implementation_autoset"},
    {harmless, "_attn_implementation_internal"},
    {harmless, "_experts_implementation"},
    {harmless, "_experts_implementation_internal"},
    {harmless, "_flash_attn_2_enabled"},
    {harmless, "_from_model_config"},
    {harmless, "_output_attentions"},
    {harmless, "_pre_quantization_dtype"},
    {harmless, "stormcell_weights"},
    {harmless, "stormcell_calibration"},
    {harmless, "return_dict"},
    {harmless, "output_hidden_states"},
    {harmless, "output_attentions"},
    {harmless, "use_cache"},
    {harmless, "use_return_dict"},
    {harmless, "attn_implementation"},
    {harmless, "experts_implementation"},
    {harmless, "chunk_size_feed_forward"},
    {harmless, "gradient_checkpointing"},
    {harmless, "torchscript"},
    {harmless, "tokenizer_class"},
    {harmless, "finetuning_task"},
    {harmless, "task_specific_params"},
    {harmless, "problem_type"},
    {harmless, "prefix"},
    {harmless, "id2label"},
    {harmless, "label2id"},
    {harmless, "num_labels"},
    {harmless, "bos_token_id"},
    {harmless, "eos_token_id"},
    {harmless, "pad_token_id"},
    {harmless, "sep_token_id"},
    {harmless, "decoder_start_token_id"},
    // Keys of training only.
    {harmless, "initializer_range"},
    {harmless, "initializer_factor"},
    {harmless, "dropout"},
    {harmless, "dropout_rate"},
    {harmless, "hidden_dropout"},
    {harmless, "hidden_dropout_prob"},
    {harmless, "attention_dropout"},
    {harmless, "attention_probs_dropout_prob"},
    {harmless, "classifier_dropout"},
    {harmless, "drop_path_rate"},
    {harmless, "tf_legacy_loss"},
    {harmless, "pretraining_tp"},
    // Keys that mean other weights or another network.
    {fixed, "quantization_config", "null", "quantised weights are not in this version"},
    {fixed, "compression_config", "null", "compressed weights are not in this version"},
    {fixed, "per_layer_config", "{}", "layers with settings of their own are not in this version"},
    {fixed, "pruned_heads", "{}", "pruned heads are not in this version"},
    {fixed, "add_cross_attention", "false", "a decoder that attends to another model is not in this version"},
    {fixed, "tie_encoder_decoder", "false", "an encoder and a decoder of the same weights are not in this version"},
    // Keys of generation have no effect: decoding is greedy.
    {defaulted, "max_length", "20"},
    {defaulted, "min_length", "0"},
    {defaulted, "do_sample", "false"},
    {defaulted, "early_stopping", "false"},
    {defaulted, "num_beams", "1"},
    {defaulted, "num_beam_groups", "1"},
    {defaulted, "diversity_penalty", "0.0"},
    {defaulted, "temperature", "1.0"},
    {defaulted, "top_k", "50"},
    {defaulted, "top_p", "1.0"},
    {defaulted, "typical_p", "1.0"},
    {defaulted, "repetition_penalty", "1.0"},
    {defaulted, "length_penalty", "1.0"},
    {defaulted, "no_repeat_ngram_size", "0"},
    {defaulted, "encoder_no_repeat_ngram_size", "0"},
    {defaulted, "num_return_sequences", "1"},
    {defaulted, "output_scores", "false"},
    {defaulted, "return_dict_in_generate", "false"},
    {defaulted, "remove_invalid_values", "false"},
};

// Keys of generation_config.json. None of them changes the network, so none is refused.
constexpr ConfigKey kOfGeneration[] = {
    {read, "bos_token_id"},
    {read, "eos_token_id"},
    {read, "pad_token_id"},
    {read, "decoder_start_token_id"},
    {harmless, "_from_model_config"},
    {harmless, "transformers_version"},
    {harmless, "is_assistant"},
    {harmless, "renormalize_logits"},
    // Keys for the way of computing and for returned values.
    {harmless, "use_cache"},
    {harmless, "cache_implementation"},
    {harmless, "cache_config"},
    {harmless, "return_legacy_cache"},
    {harmless, "prefill_chunk_size"},
    {harmless, "compile_config"},
    {harmless, "disable_compile"},
    {harmless, "low_memory"},
    {harmless, "output_attentions"},
    {harmless, "output_hidden_states"},
    {harmless, "output_logits"},
    {harmless, "output_scores"},
    {harmless, "return_dict_in_generate"},
    {harmless, "num_assistant_tokens"},
    {harmless, "num_assistant_tokens_schedule"},
    {harmless, "assistant_confidence_threshold"},
    {harmless, "assistant_early_exit"},
    {harmless, "assistant_lookbehind"},
    {harmless, "target_lookbehind"},
    {harmless, "prompt_lookup_num_tokens"},
    {harmless, "max_matching_ngram_size"},
    // The length of a text is an option of the command.
    {harmless, "max_length"},
    {harmless, "max_new_tokens"},
    // These need do_sample, which is reported.
    {harmless, "temperature"},
    {harmless, "top_h"},
    {harmless, "top_k"},
    {harmless, "top_p"},
    {harmless, "min_p"},
    {harmless, "typical_p"},
    {harmless, "epsilon_cutoff"},
    {harmless, "eta_cutoff"},
    // These need num_beams, which is reported.
    {harmless, "early_stopping"},
    {harmless, "length_penalty"},
    {harmless, "num_beam_groups"},
    {harmless, "diversity_penalty"},
    // These keys change the text.
    {defaulted, "do_sample", "false"},
    {defaulted, "num_beams", "1"},
    {defaulted, "num_return_sequences", "1"},
    {defaulted, "min_length", "0"},
    {defaulted, "min_new_tokens", "0"},
    {defaulted, "max_time", "null"},
    {defaulted, "stop_strings", "null"},
    {defaulted, "repetition_penalty", "1.0"},
    {defaulted, "encoder_repetition_penalty", "1.0"},
    {defaulted, "no_repeat_ngram_size", "0"},
    {defaulted, "encoder_no_repeat_ngram_size", "0"},
    {defaulted, "exponential_decay_length_penalty", "null"},
    {defaulted, "penalty_alpha", "null"},
    {defaulted, "guidance_scale", "1.0"},
    {defaulted, "bad_words_ids", "null"},
    {defaulted, "force_words_ids", "null"},
    {defaulted, "constraints", "null"},
    {defaulted, "suppress_tokens", "null"},
    {defaulted, "begin_suppress_tokens", "null"},
    {defaulted, "sequence_bias", "null"},
    {defaulted, "forced_bos_token_id", "null"},
    {defaulted, "forced_eos_token_id", "null"},
    {defaulted, "forced_decoder_ids", "null"},
    {defaulted, "remove_invalid_values", "false"},
    {defaulted, "token_healing", "false"},
    {defaulted, "watermarking_config", "null"},
    {defaulted, "dola_layers", "null"},
};

constexpr std::string_view kScaled = "scaled rotary positions are not in this version";
constexpr std::string_view kPartial = "rotary positions of a part of each head are not in this version";
constexpr std::string_view kBias = "biases are not in this version of the family";
constexpr std::string_view kNorm = "norms of queries and keys are not in this version of the family";
constexpr std::string_view kCap = "capped logits are not in this version of the family";
constexpr std::string_view kScale = "scaled layers are not in this version of the family";
constexpr std::string_view kShared = "shared experts are not in this version of the family";
constexpr std::string_view kDense = "layers without experts are not in this version of the family";
constexpr std::string_view kRouting = "this routing is not in this version of the family";
constexpr std::string_view kPositions = "these positions are not in this version of the family";

constexpr ConfigKey kOfText[] = {
    {fixed, "rope_parameters", "null", kPositions},
    {fixed, "rope_scaling", "null", kScaled},
    {fixed, "partial_rotary_factor", "1.0", kPartial},
    {fixed, "rotary_pct", "1.0", kPartial},
    {fixed, "no_rope_layers", "[]", kPositions},
    {fixed, "alibi", "false", kPositions},
    {fixed, "sliding_window", "null", "windows of attention are not in this version of the family"},
    {fixed, "attention_chunk_size", "null", "chunks of attention are not in this version of the family"},
    {fixed, "attention_bias", "false", kBias},
    {fixed, "attention_out_bias", "false", kBias},
    {fixed, "qkv_bias", "false", kBias},
    {fixed, "use_qkv_bias", "false", kBias},
    {fixed, "mlp_bias", "false", kBias},
    {fixed, "use_bias", "false", kBias},
    {fixed, "add_bias_linear", "false", kBias},
    {fixed, "lm_head_bias", "false", kBias},
    {fixed, "use_qk_norm", "false", kNorm},
    {fixed, "qk_norm", "false", kNorm},
    {fixed, "qk_layernorm", "false", kNorm},
    {fixed, "attn_logit_softcapping", "null", kCap},
    {fixed, "final_logit_softcapping", "null", kCap},
    {fixed, "logit_softcapping", "null", kCap},
    {fixed, "router_logit_softcapping", "0.0", kCap},
    {fixed, "moe_router_logit_softcapping", "0.0", kCap},
    {fixed, "clip_qkv", "null", "clipped queries, keys and values are not in this version of the family"},
    {fixed, "swiglu_limit", "null", "clipped activations are not in this version of the family"},
    {fixed, "query_pre_attn_scalar", "null", kScale},
    {fixed, "attention_multiplier", "null", kScale},
    {fixed, "embedding_multiplier", "1.0", kScale},
    {fixed, "residual_multiplier", "1.0", kScale},
    {fixed, "logits_scaling", "1.0", kScale},
    {fixed, "logit_scale", "1.0", kScale},
    {fixed, "scale_emb", "1.0", kScale},
    {fixed, "scale_depth", "null", kScale},
    {fixed, "n_shared_experts", "0", kShared},
    {fixed, "num_shared_experts", "0", kShared},
    {fixed, "shared_expert_intermediate_size", "0", kShared},
    {fixed, "first_k_dense_replace", "0", kDense},
    {fixed, "num_dense_layers", "0", kDense},
    {fixed, "moe_layer_freq", "1", kDense},
    {fixed, "mlp_only_layers", "[]", kDense},
    {fixed, "norm_topk_prob", "true", kRouting},
    {fixed, "scoring_func", "\"softmax\"", kRouting},
    {fixed, "topk_method", "\"greedy\"", kRouting},
    {fixed, "routed_scaling_factor", "1.0", kRouting},
    {fixed, "n_group", "1", kRouting},
    {fixed, "topk_group", "1", kRouting},
    {fixed, "is_causal", "true", "attention to later tokens is not in this version of the family"},
    {harmless, "output_router_logits"},
    {harmless, "router_aux_loss_coef"},
    {harmless, "router_z_loss_coef"},
    {harmless, "router_jitter_noise"},
};

/// Checks the keys of one file against the tables of one family.
class KeyCheck {
 public:
  KeyCheck(const std::string& where, std::span<const std::span<const ConfigKey>> tables)
      : where_(where), tables_(tables) {}

  void look_at(const Json& object, const std::string& prefix) {
    for (const auto& [key, value] : object.items()) {
      if (value.is_null()) continue;
      const std::string name = prefix + key;
      const ConfigKey* row = find(name);
      if (!row)
        strangers_.push_back(name);
      else
        look_at(*row, name, value, object);
    }
  }
  const std::vector<std::string>& strangers() const { return strangers_; }

 private:
  const ConfigKey* find(std::string_view name) const {
    for (const auto& table : tables_)
      for (const ConfigKey& row : table)
        if (row.key == name) return &row;
    return nullptr;
  }

  void look_at(const ConfigKey& row, const std::string& name, const Json& value, const Json& object) {
    switch (row.use) {
      case group:
        if (!value.is_object()) refuse(name, value, "an object");
        return look_at(value, name + ".");
      case alias: {
        const auto main = object.find(std::string(row.value));
        if (main != object.end() && !main->is_null() && *main != value)
          refuse(
              name, value,
              shown_json(*main) + ", the value of " + in_quotes(row.value) + " in this file, another name of the same");
        return;
      }
      case fixed:
        if (value != Json::parse(row.value)) refuse(name, value, std::string(row.value) + ": " + std::string(row.why));
        return;
      case defaulted:
        if (value != Json::parse(row.value)) strangers_.push_back(name);
        return;
      case read:
      case harmless:
        return;
    }
  }

  [[noreturn]] void refuse(const std::string& name, const Json& value, const std::string& expected) const {
    std::string came = shown_json(value);
    if (came.size() > 80) came = came.substr(0, 77) + "...";
    bad_input(where_, in_quotes(name) + ": expected " + expected + ", got " + came,
              "use a model that this version runs");
  }

  const std::string& where_;
  std::span<const std::span<const ConfigKey>> tables_;
  std::vector<std::string> strangers_;
};

bool has_key(const Json& config, std::string_view key) {
  const size_t point = key.find('.');
  const auto found = config.find(std::string(key.substr(0, point)));
  if (found == config.end() || found->is_null()) return false;
  return point == std::string_view::npos || (found->is_object() && has_key(*found, key.substr(point + 1)));
}

/// True if the file has the key, another name of it, or the same key in another group.
bool is_given(const Json& config, std::string_view key, std::span<const ConfigKey> table) {
  const auto last = [](std::string_view name) { return name.substr(name.rfind('.') + 1); };
  return std::any_of(table.begin(), table.end(), [&](const ConfigKey& row) {
    const bool same = row.use == alias ? row.value == key : last(row.key) == last(key);
    return same && has_key(config, row.key);
  });
}

/// A key in quotes. If it is like a key of the table that the file lacks, the line says that its default is used.
std::string with_nearest(const std::string& key, std::span<const ConfigKey> table, const Json& config) {
  std::vector<std::string> keys;
  for (const ConfigKey& row : table)
    if (row.use == read && !is_given(config, row.key, table)) keys.emplace_back(row.key);
  const std::vector<std::string> near = nearest_words(key, keys);
  if (near.empty()) return in_quotes(key);
  return in_quotes(key) + " (" + did_you_mean({near.front()}) + " Its default is used)";
}

}  // namespace

std::span<const ConfigKey> keys_of_all() { return kOfAll; }
std::span<const ConfigKey> keys_of_text() { return kOfText; }
std::span<const ConfigKey> keys_of_generation() { return kOfGeneration; }

std::vector<std::string> check_config_keys(const Json& config, const std::string& where, std::string_view family,
                                           std::span<const std::span<const ConfigKey>> tables) {
  KeyCheck check(where, tables);
  check.look_at(config, {});
  if (check.strangers().empty()) return {};
  std::string strangers, keys;
  for (const std::string& key : check.strangers()) add_to_list(strangers, with_nearest(key, tables.front(), config));
  for (const ConfigKey& row : tables.front())
    if (row.use == read) add_to_list(keys, row.key);
  return {where + ": nothing reads " + strangers + "; the keys of " + std::string(family) + " are " + keys};
}

std::vector<std::string> check_generation_keys(const Json& generation, const std::string& where) {
  const std::span<const ConfigKey> tables[] = {keys_of_generation()};
  KeyCheck check(where, tables);
  check.look_at(generation, {});
  std::string named;
  for (const std::string& key : check.strangers())
    if (!generation[key].is_structured() || !generation[key].empty())
      add_to_list(named, with_nearest(key, keys_of_generation(), generation));  // an empty list forbids nothing
  if (named.empty()) return {};
  return {where + ": Stormcell generates greedily, so it does not follow " + named};
}

}  // namespace stormcell
