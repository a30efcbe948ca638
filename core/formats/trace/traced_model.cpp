// What a config.json in the Hugging Face layout says of a model's branches, by the keys of the known families: enough to name the
// layers of a trace and to size its branches, also for models that this program does not run.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/trace/trace.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

int64_t first_of(const Json& config, std::initializer_list<const char*> keys, int64_t least, int64_t most, const std::string& where) {
  for (const char* key : keys) {
    const auto found = config.find(key);
    if (found == config.end() || found->is_null()) continue;
    if (!found->is_number_integer() || found->get<int64_t>() < least || found->get<int64_t>() > most)
      bad_input(
          where,
          std::string(key) + " is " + found->dump().substr(0, 40) + ", expected " + std::to_string(least) + " to " + std::to_string(most),
          "check the file");
    return found->get<int64_t>();
  }
  return 0;
}

/// Whether layer `i` has branches, by the rules that the families follow.
bool has_branches(const Json& config, int64_t i, const std::string& where) {
  const auto number = [&](const char* key, int64_t otherwise) {
    return config.contains(key) ? first_of(config, {key}, 0, 1 << 20, where) : otherwise;
  };
  if (const auto dense = config.find("mlp_only_layers"); dense != config.end() && dense->is_array())
    for (const Json& l : *dense)
      if (l.is_number_integer() && l.get<int64_t>() == i) return false;
  if (i < number("first_k_dense_replace", 0)) return false;                                 // deepseek
  if (i % std::max<int64_t>(number("moe_layer_freq", 1), 1) != 0) return false;             // deepseek
  if ((i + 1) % std::max<int64_t>(number("decoder_sparse_step", 1), 1) != 0) return false;  // qwen2_moe, qwen3_moe
  const int64_t period = std::max<int64_t>(number("expert_layer_period", 1), 1);            // jamba
  return period == 1 || i % period == number("expert_layer_offset", 0);
}

// What is no number of experts says nothing: some families keep a list of layers under such a key.
int32_t shared_experts(const Json& config) {
  for (const char* key : {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts"})
    if (const int64_t n = whole_at(config, key); n > 0 && n <= kMostSharedExperts) return static_cast<int32_t>(n);
  return whole_at(config, "shared_expert_intermediate_size") > 0 ? 1 : 0;  // qwen2_moe
}

// Latent attention (DeepSeek-V2) keeps one vector and the rotated part of a key; else each head of keys and of values is kept.
int64_t kv_width_of(const Json& config, int64_t hidden, const std::string& path) {
  constexpr int64_t kMost = int64_t{1} << 24;
  if (const int64_t latent = first_of(config, {"kv_lora_rank"}, 1, kMost, path); latent > 0)
    return latent + first_of(config, {"qk_rope_head_dim"}, 1, kMost, path);
  const int64_t heads = first_of(config, {"num_attention_heads", "num_heads"}, 1, kMost, path);
  const int64_t kept = first_of(config, {"num_key_value_heads"}, 1, kMost, path),
                told = first_of(config, {"head_dim", "d_kv"}, 1, kMost, path);
  const int64_t width = told > 0 ? told : heads > 0 ? hidden / heads : 0;
  return 2 * width * (kept > 0 ? kept : heads);
}

}  // namespace

TracedModel read_traced_model(const std::string& path) {
  const Json config = read_json_file(path);
  if (!config.is_object() || !config.contains("model_type")) refuse_other_kind(path, FileUse::model_config);
  if (!config.is_object()) bad_input(path, "is no object", "give the model's config.json");
  TracedModel model;
  model.source = path;
  model.branches =
      static_cast<int32_t>(first_of(config, {"num_local_experts", "num_experts", "n_routed_experts"}, 1, kMostTracedBranches, path));
  if (model.branches == 0)
    bad_input(path, "names no number of experts: this model has no branches", "num_experts, num_local_experts or n_routed_experts");
  model.layers = static_cast<int32_t>(first_of(config, {"num_hidden_layers"}, 1, kMostTracedLayers, path));
  for (int32_t i = 0; i < model.layers; ++i)
    if (has_branches(config, i, path)) model.moe_layers.push_back(i);
  model.k = static_cast<int32_t>(first_of(config, {"num_experts_per_tok", "num_experts_per_token"}, 1, kMostTracedChoices, path));
  model.shared = shared_experts(config);
  model.hidden = first_of(config, {"hidden_size", "d_model"}, 1, int64_t{1} << 24, path);
  model.ffn = first_of(config, {"moe_intermediate_size", "intermediate_size", "d_ff"}, 1, int64_t{1} << 24, path);
  model.kv_width = kv_width_of(config, model.hidden, path);
  if (const auto type = config.find("model_type"); type != config.end() && type->is_string()) model.family = type->get<std::string>();
  if (const auto name = config.find("_name_or_path"); name != config.end() && name->is_string()) model.name = name->get<std::string>();
  if (model.name.empty()) model.name = std::filesystem::absolute(path).parent_path().filename().string();
  return model;
}

std::vector<int32_t> routers_of_layers(const TraceSource& source, const std::vector<uint8_t>& used) {
  const TracedModel& model = source.model;
  const auto layers = static_cast<int64_t>(used.size());
  if (model.layers > 0 && model.layers != layers)
    bad_input(source.path(), "has " + counted(layers, "layer") + ", " + model.source + " says " + std::to_string(model.layers),
              "check that both are of one model");
  std::vector<int32_t> router_of(used.size(), -1);
  int32_t routers = 0;
  for (size_t l = 0; l < used.size(); ++l) {
    const bool has =
        model.layers > 0 ? std::binary_search(model.moe_layers.begin(), model.moe_layers.end(), static_cast<int32_t>(l)) : used[l] != 0;
    if (has) router_of[l] = routers++;
  }
  if (routers == 0) bad_input(source.path(), "is zero all over: no expert was ever chosen", "record while the server answers requests");
  return router_of;
}

std::vector<TraceRouter> routers_by_layer(const std::vector<int32_t>& router_of, int64_t branches, int64_t fan_out) {
  std::vector<TraceRouter> routers;
  for (size_t l = 0; l < router_of.size(); ++l) {
    if (router_of[l] < 0) continue;
    TraceRouter& router = routers.emplace_back();
    router.layer = static_cast<int32_t>(l);
    router.name = "layer." + std::to_string(l);
    router.branches = static_cast<int32_t>(branches);
    router.fan_out = static_cast<int32_t>(fan_out);
  }
  return routers;
}

}  // namespace stormcell
