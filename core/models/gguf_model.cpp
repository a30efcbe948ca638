// Names and keys: gguf-py 0.19.0, constants.py and tensor_mapping.py.
#include "core/models/gguf_model.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/gguf_header.h"
#include "core/formats/header_bytes.h"
#include "core/formats/open_file.h"

namespace stormcell {
namespace {

/// An architecture that a family reads.
struct GgufFamily {
  std::string_view architecture, family;
  std::string_view expert_width_key;  ///< the family's key for the width of an expert
  std::string_view expert_width;      ///< the header's, below the architecture
  bool renormalizes;                  ///< llama.cpp's program makes the weights of a cell sum to 1, without a key
};
constexpr std::array kGgufFamilies = {
    GgufFamily{"qwen3moe", "qwen3_moe", "moe_intermediate_size", "expert_feed_forward_length", true},
};

/// A whole number of the header, below the architecture, and the key of config.json for it.
struct NumberRow {
  std::string_view theirs, ours;
  bool needed = true;
};
constexpr std::array kNumbers = {
    NumberRow{"block_count", "num_hidden_layers"},
    NumberRow{"embedding_length", "hidden_size"},
    NumberRow{"attention.head_count", "num_attention_heads"},
    NumberRow{"attention.head_count_kv", "num_key_value_heads", false},
    NumberRow{"attention.key_length", "head_dim", false},
    NumberRow{"context_length", "max_position_embeddings", false},
    NumberRow{"expert_count", "num_experts"},
    NumberRow{"expert_used_count", "num_experts_per_tok"},
};
constexpr std::array kTokens = {
    NumberRow{"tokenizer.ggml.bos_token_id", "bos_token_id", false},
    NumberRow{"tokenizer.ggml.eos_token_id", "eos_token_id", false},
    NumberRow{"tokenizer.ggml.padding_token_id", "pad_token_id", false},
};

/// Names outside of layers, and those behind "model.layers.N.", which is "blk.N.".
struct TensorRow {
  std::string_view ours, theirs;
};
constexpr std::array kWhole = {
    TensorRow{"model.embed_tokens.", "token_embd."},
    TensorRow{"model.norm.", "output_norm."},
    TensorRow{"lm_head.", "output."},
};
constexpr std::array kInLayers = {
    TensorRow{"input_layernorm.", "attn_norm."},
    TensorRow{"post_attention_layernorm.", "ffn_norm."},
    TensorRow{"self_attn.q_proj.", "attn_q."},
    TensorRow{"self_attn.k_proj.", "attn_k."},
    TensorRow{"self_attn.v_proj.", "attn_v."},
    TensorRow{"self_attn.o_proj.", "attn_output."},
    TensorRow{"self_attn.q_norm.", "attn_q_norm."},
    TensorRow{"self_attn.k_norm.", "attn_k_norm."},
    TensorRow{"mlp.gate.", "ffn_gate_inp."},
    TensorRow{"mlp.experts.gate_proj.", "ffn_gate_exps."},
    TensorRow{"mlp.experts.up_proj.", "ffn_up_exps."},
    TensorRow{"mlp.experts.down_proj.", "ffn_down_exps."},
    TensorRow{"mlp.gate_proj.", "ffn_gate."},
    TensorRow{"mlp.up_proj.", "ffn_up."},
    TensorRow{"mlp.down_proj.", "ffn_down."},
};

const GgufFamily* row_of_architecture(std::string_view architecture) {
  const auto row = std::find_if(kGgufFamilies.begin(), kGgufFamilies.end(),
                                [&](const GgufFamily& f) { return f.architecture == architecture; });
  return row == kGgufFamilies.end() ? nullptr : &*row;
}

std::string renamed(std::string_view name, std::span<const TensorRow> rows) {
  for (const TensorRow& row : rows)
    if (name.starts_with(row.ours)) return std::string(row.theirs) + std::string(name.substr(row.ours.size()));
  return std::string(name);
}

/// The settings of a header, below its architecture.
class GgufSettings {
 public:
  GgufSettings(const GgufEntries& keys, const std::string& path)
      : keys_(keys), path_(path), prefix_(std::string(keys.text("general.architecture")) + ".") {}

  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  std::optional<int64_t> number(std::string_view name) const {
    if (keys_.lists.contains(key(name)))
      bad_input(path_, in_quotes(key(name)) + ": expected one number, got one for each layer",
                "use a model that this version runs");
    return keys_.number(key(name));
  }
  std::optional<double> real(std::string_view name) const {
    const auto found = keys_.reals.find(key(name));
    return found == keys_.reals.end() ? std::nullopt : std::optional<double>(found->second);
  }
  /// Refuses a setting that the program of an architecture has, and no family of this version.
  void expect(std::string_view name, double value, double otherwise) const {
    const auto whole = keys_.number(key(name));
    const double came = whole ? static_cast<double>(*whole) : real(name).value_or(value);
    if (came != value && came != otherwise)
      bad_input(path_,
                in_quotes(key(name)) + ": expected " + nlohmann::json(value).dump() + ", got " +
                    nlohmann::json(came).dump(),
                "use a model that this version runs");
  }

 private:
  const GgufEntries& keys_;
  const std::string& path_;
  std::string prefix_;
};

void refuse_other_programs(const GgufSettings& settings) {
  constexpr double kSoftmax = 1;
  settings.expect("expert_gating_func", kSoftmax, 0);
  settings.expect("expert_weights_scale", 1, 0);  // 0 is llama.cpp's word for none
  settings.expect("expert_shared_count", 0, 0);
  settings.expect("attention.sliding_window", 0, 0);
  settings.expect("rope.scaling.factor", 1, 0);
}

}  // namespace

std::string_view family_of_gguf(std::string_view architecture) {
  const GgufFamily* row = row_of_architecture(architecture);
  return row ? row->family : std::string_view();
}

std::vector<std::string> missing_gguf_keys(const GgufEntries& keys) {
  const std::string architecture(keys.text("general.architecture"));
  const GgufFamily* row = row_of_architecture(architecture);
  if (!row) return {};
  std::vector<std::string> missing;
  const auto look_for = [&](std::string_view name) {
    const std::string key = architecture + "." + std::string(name);
    if (!keys.number(key) && !keys.lists.contains(key)) missing.push_back(key);
  };
  for (const NumberRow& number : kNumbers)
    if (number.needed) look_for(number.theirs);
  look_for(row->expert_width);
  return missing;
}

std::string architecture_of_gguf(const std::string& path) {
  try {
    if (!has_gguf_mark(path)) return {};
    const OpenFile file = OpenFile::open_regular(path);
    HeaderBytes bytes(file);
    return std::string(read_gguf_header(bytes, [](GgufPlace&&) {}).keys.text("general.architecture"));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    return {};
  }
}

nlohmann::json config_of_gguf(const GgufEntries& keys, int64_t vocabulary, bool tied, const std::string& path) {
  const GgufFamily* row = row_of_architecture(keys.text("general.architecture"));
  if (!row)
    bad_input(path, "the architecture " + in_quotes(keys.text("general.architecture")) + " is not in this version",
              "use a model that this version runs");
  if (const std::vector<std::string> missing = missing_gguf_keys(keys); !missing.empty())
    bad_input(path, "has no key " + in_quotes(missing.front()), "get the file again");
  const GgufSettings settings(keys, path);
  refuse_other_programs(settings);
  nlohmann::json config = {{"model_type", row->family},
                           {"vocab_size", vocabulary},
                           {"tie_word_embeddings", tied},
                           {"norm_topk_prob", row->renormalizes}};
  for (const NumberRow& number : kNumbers)
    if (const std::optional<int64_t> value = settings.number(number.theirs)) config[number.ours] = *value;
  config[row->expert_width_key] = *settings.number(row->expert_width);
  for (const NumberRow& token : kTokens)
    if (const std::optional<int64_t> id = keys.number(token.theirs)) config[token.ours] = *id;
  if (const std::optional<int64_t> norm = settings.number("expert_weights_norm")) config["norm_topk_prob"] = *norm > 0;
  if (const std::optional<double> eps = settings.real("attention.layer_norm_rms_epsilon"))
    config["rms_norm_eps"] = *eps;
  if (const std::optional<double> theta = settings.real("rope.freq_base")) config["rope_theta"] = *theta;
  if (const std::string_view scaling = keys.text(settings.key("rope.scaling.type"));
      !scaling.empty() && scaling != "none" && scaling != "linear")
    config["rope_scaling"] = {{"rope_type", scaling}};
  return config;
}

std::string gguf_tensor_name(std::string_view name) {
  constexpr std::string_view kLayers = "model.layers.";
  if (!name.starts_with(kLayers)) return renamed(name, kWhole);
  const size_t point = name.find('.', kLayers.size());
  if (point == std::string_view::npos) return std::string(name);
  const std::string layer = "blk." + std::string(name.substr(kLayers.size(), point - kLayers.size())) + ".";
  return layer + renamed(name.substr(point + 1), kInLayers);
}

}  // namespace stormcell
