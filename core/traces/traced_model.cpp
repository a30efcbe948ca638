// Reads a model's branches from its config.json in the Hugging Face layout. This names the layers of a trace and sizes
// its branches, also for models that this program does not run.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/expert_fields.h"
#include "core/formats/expert_layers.h"
#include "core/formats/file_kind.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostSize = int64_t{1} << 24;

/// The value of the first key that states a size; 0: none does. A list has one entry for each layer; the first size
/// counts. Only costs need these sizes, and families write 0 or null for what a layer does not have: neither states a
/// size.
int64_t first_of(const ExpertFields& fields, std::initializer_list<std::string_view> keys) {
  const auto is_stated = [](const Json& value) {
    return !value.is_null() && !(value.is_number() && value.get<double>() == 0);
  };
  for (const std::string_view key : keys) {
    if (!fields.has(key)) continue;
    const Json& value = fields.at(key);
    if (!value.is_array()) {
      if (is_stated(value)) return fields.integer(key, 1, kMostSize);
      continue;
    }
    for (const Json& item : value) {
      if (!is_stated(item)) continue;
      const bool is_size =
          item.is_number_integer() && item.get<double>() >= 1 && item.get<double>() <= static_cast<double>(kMostSize);
      if (!is_size)
        fields.wrong(
            key, "has " + shown_json(item).substr(0, 40) + " in its list, expected 1 to " + std::to_string(kMostSize));
      return item.get<int64_t>();
    }
  }
  return 0;
}

// Latent attention (DeepSeek-V2) stores one vector and the rotated part of a key; other attention stores every head of
// keys and values.
int64_t kv_width_of(const ExpertFields& fields, int64_t hidden) {
  if (const int64_t latent = first_of(fields, {"kv_lora_rank"}); latent > 0)
    return latent + first_of(fields, {"qk_rope_head_dim"});
  const int64_t heads = first_of(fields, {"num_attention_heads", "num_heads", "n_heads"});
  const int64_t kept = first_of(fields, {"num_key_value_heads", "attn_config.kv_n_heads"}),
                stated = first_of(fields, {"head_dim", "d_kv"});
  const int64_t width = stated > 0 ? stated : heads > 0 ? hidden / heads : 0;
  return 2 * width * (kept > 0 ? kept : heads);
}

/// Advice for a recording that contradicts the rule of the family.
std::string advice_of(const TracedModel& model) {
  return model.doubt.empty() ? "check that both are of one model"
                             : "the rule of the family is not known: import without --model-config";
}

/// "layer 3", "layers 3, 4 and 2 more"
std::string layers_text(const std::vector<int32_t>& layers) {
  std::string text = noun_for(std::ssize(layers), "layer") + " " + std::to_string(layers[0]);
  constexpr size_t kNamed = 3;
  for (size_t i = 1; i < std::min(layers.size(), kNamed); ++i) text += ", " + std::to_string(layers[i]);
  if (layers.size() > kNamed) text += " and " + std::to_string(layers.size() - kNamed) + " more";
  return text;
}

}  // namespace

TracedModel read_traced_model(const std::string& path) {
  const Json config = read_json_file(path);
  if (!config.is_object() || !config.contains("model_type")) refuse_other_kind(path, FileUse::model_config);
  if (!config.is_object()) bad_input(path, "is not an object", "give the model's config.json");
  const ExpertLayers experts = read_expert_layers(config, path);
  const ExpertFields fields(*experts.part, {}, path);
  TracedModel model;
  model.source = path;
  model.branches = experts.experts;
  model.k = experts.per_token;
  model.shared = experts.shared;
  if (const int64_t zero = whole_at(*experts.part, "zero_expert_num"); zero > 0)
    model.zero_experts = static_cast<int32_t>(std::min(zero, kMostTracedBranches));
  model.doubt = experts.doubt;
  model.said_by = experts.keys;
  model.unlike = experts.unlike;
  if (experts.decoder_layers > 0) {
    model.doubt = path + ": has an encoder and a decoder; the layers with experts are those of the trace";
  } else {
    model.layers = experts.layers;
    model.further_layers = experts.further;
    model.moe_layers = experts.with_experts;
  }
  model.hidden = first_of(fields, {"hidden_size", "d_model"});
  model.ffn = first_of(fields, {"moe_intermediate_size", "expert_ffn_hidden_size", "ffn_config.ffn_hidden_size",
                                "intermediate_size", "d_ff"});
  model.kv_width = kv_width_of(fields, model.hidden);
  model.family = text_at(config, "model_type");
  model.name = text_at(config, "_name_or_path");
  if (model.name.empty()) model.name = std::filesystem::absolute(path).parent_path().filename().string();
  return model;
}

std::string TracedModel::of_rule() const { return source + (said_by.empty() ? "" : " (" + said_by + ")"); }

std::vector<int32_t> routers_of_layers(const TraceSource& source, const std::vector<uint8_t>& used) {
  const TracedModel& model = source.model;
  const auto layers = std::ssize(used);
  if (model.layers > 0 && model.layers != layers && model.layers + model.further_layers != layers)
    bad_input(source.path(),
              "has " + counted(layers, "layer") + ", " + model.source + " says " + std::to_string(model.layers),
              advice_of(model));
  std::vector<int32_t> router_of(used.size(), -1), idle, counted_dense;
  int32_t routers = 0;
  for (size_t l = 0; l < used.size(); ++l) {
    const int32_t layer = l;
    const bool is_known = !model.moe_layers.empty() && layer < model.layers;
    const bool has =
        is_known ? std::binary_search(model.moe_layers.begin(), model.moe_layers.end(), layer) : used[l] != 0;
    if (has && !used[l]) idle.push_back(layer);
    if (!has && used[l]) counted_dense.push_back(layer);
    if (has) router_of[l] = routers++;
  }
  if (std::find(used.begin(), used.end(), 1) == used.end())
    bad_input(source.path(), kNothingChosen, "record while the server answers requests");
  if (!counted_dense.empty())
    bad_input(source.path(),
              "counts experts in " + layers_text(counted_dense) + ", which " +
                  noun_for(std::ssize(counted_dense), "has", "have") + " none by " + model.of_rule(),
              advice_of(model));
  if (!idle.empty())
    bad_input(source.path(),
              "is zero in every step in " + layers_text(idle) + ", which " + noun_for(std::ssize(idle), "has", "have") +
                  " experts by " + model.of_rule(),
              advice_of(model));
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

void check_layers_of_model(const TraceSource& source, const TraceHeader& header) {
  const TracedModel& model = source.model;
  if (model.layers == 0) return;
  const int32_t all = model.layers + model.further_layers;
  std::vector<int32_t> wrong;
  int64_t routers = 0, unnumbered = 0;
  for (const TraceRouter& router : header.routers) {
    if (router.stack != 0) continue;  // the model's layers are those of one stack
    ++routers, unnumbered += router.layer < 0;
    const bool dense = !model.moe_layers.empty() && router.layer >= 0 && router.layer < model.layers &&
                       !std::binary_search(model.moe_layers.begin(), model.moe_layers.end(), router.layer);
    if (router.layer >= all || dense) wrong.push_back(router.layer);
  }
  if (!wrong.empty())
    bad_input(source.path(),
              std::string(header.counts ? "counts" : "chooses") + " experts in " + layers_text(wrong) + ", which " +
                  noun_for(std::ssize(wrong), "has", "have") + " none by " + model.of_rule(),
              advice_of(model) + "; layers are numbered from 0");
  if (header.model_layers > 0 && (header.model_layers < model.layers || header.model_layers > all))
    bad_input(
        source.path(),
        "has " + counted(header.model_layers, "layer") + ", " + model.source + " says " + std::to_string(model.layers),
        advice_of(model));
  const int64_t most = (model.moe_layers.empty() ? model.layers : std::ssize(model.moe_layers)) + model.further_layers;
  if (unnumbered > 0 && routers > most)
    bad_input(
        source.path(),
        "has " + counted(routers, "layer") + " with experts, " + std::to_string(most) + " have by " + model.of_rule(),
        advice_of(model));
}

std::string missing_layers(const TracedModel& model, const std::vector<int32_t>& recorded) {
  if (model.moe_layers.empty()) return {};
  const std::string by_rule = " by " + model.of_rule();
  if (std::find(recorded.begin(), recorded.end(), -1) != recorded.end())
    return recorded.size() >= model.moe_layers.size()
               ? std::string()
               : "has " + counted(std::ssize(recorded), "layer") + " with experts, which are not numbered; " +
                     std::to_string(model.moe_layers.size()) + " have experts" + by_rule;
  std::vector<int32_t> missing;
  for (const int32_t layer : model.moe_layers)
    if (std::find(recorded.begin(), recorded.end(), layer) == recorded.end()) missing.push_back(layer);
  if (missing.empty()) return {};
  return "counts nothing in " + layers_text(missing) + ", which " + noun_for(std::ssize(missing), "has", "have") +
         " experts" + by_rule + ": not recorded, or no expert was ever chosen there";
}

std::vector<int32_t> numbers_of_layers_with_branches(const TraceSource& source, int64_t rows) {
  const TracedModel& model = source.model;
  std::vector<int32_t> numbers = model.moe_layers;
  const auto known = std::ssize(numbers);
  if (known == 0) {
    // The family is not in the table: if there are as many rows as layers, the rows are all layers.
    for (int32_t l = 0; model.layers == rows && l < model.layers; ++l) numbers.push_back(l);
    return numbers.empty() ? std::vector<int32_t>(rows, -1) : numbers;
  }
  if (known + model.further_layers == rows)
    for (int32_t l = 0; l < model.further_layers; ++l) numbers.push_back(model.layers + l);
  if (std::ssize(numbers) != rows)
    bad_input(source.path(),
              "has " + counted(rows, "layer") + ", " + std::to_string(known) + " of " + std::to_string(model.layers) +
                  " have experts by " + model.of_rule(),
              advice_of(model));
  return numbers;
}

}  // namespace stormcell
