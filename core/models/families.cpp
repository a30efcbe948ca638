// The visible list of families. A new one: its file, its row here, its cases in tests/core/models.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_text.h"
#include "core/models/family.h"

namespace stormcell {

std::unique_ptr<const Architecture> configure_switch_transformer(const Config&, const Config&, const WeightCatalog*);
std::unique_ptr<const Architecture> configure_mixtral(const Config&, const Config&, const WeightCatalog*);
std::unique_ptr<const Architecture> configure_qwen2_moe(const Config&, const Config&, const WeightCatalog*);
std::unique_ptr<const Architecture> configure_qwen3_moe(const Config&, const Config&, const WeightCatalog*);
std::unique_ptr<const Architecture> configure_patch_mixture(const Config&, const Config&, const WeightCatalog*);
std::unique_ptr<const Architecture> configure_msdnet(const Config&, const Config&, const WeightCatalog*);
std::unique_ptr<const Architecture> configure_livesr(const Config&, const Config&, const WeightCatalog*);
std::unique_ptr<const Architecture> configure_dynamic_routing(const Config&, const Config&, const WeightCatalog*);
std::unique_ptr<const Architecture> configure_swin_moe(const Config&, const Config&, const WeightCatalog*);
std::unique_ptr<const Architecture> configure_task_moe(const Config&, const Config&, const WeightCatalog*);

std::span<const ConfigKey> keys_of_switch_transformer();
std::span<const ConfigKey> keys_of_mixtral();
std::span<const ConfigKey> keys_of_qwen2_moe();
std::span<const ConfigKey> keys_of_qwen3_moe();
std::span<const ConfigKey> keys_of_patch_mixture();
std::span<const ConfigKey> keys_of_msdnet();
std::span<const ConfigKey> keys_of_livesr();
std::span<const ConfigKey> keys_of_dynamic_routing();
std::span<const ConfigKey> keys_of_swin_moe();
std::span<const ConfigKey> keys_of_task_moe();

namespace {
constexpr bool kText = true;
constexpr Family kFamilies[] = {
    {"switch_transformers", configure_switch_transformer, keys_of_switch_transformer, kText},
    {"mixtral", configure_mixtral, keys_of_mixtral, kText},
    {"qwen2_moe", configure_qwen2_moe, keys_of_qwen2_moe, kText},
    {"qwen3_moe", configure_qwen3_moe, keys_of_qwen3_moe, kText},
    {"patch_mixture", configure_patch_mixture, keys_of_patch_mixture},
    {"msdnet", configure_msdnet, keys_of_msdnet},
    {"livesr", configure_livesr, keys_of_livesr},
    {"dynamic_routing", configure_dynamic_routing, keys_of_dynamic_routing},
    {"swinv2_moe", configure_swin_moe, keys_of_swin_moe},
    {"task_moe", configure_task_moe, keys_of_task_moe, kText},
};
}  // namespace

Graph Architecture::generate(WeightCatalog&, const DecodingForm&) const {
  failed("generate", "this family does not decode");
}

std::span<const Family> families() { return kFamilies; }

const Family& family_of(const Config& config) {
  std::string list;
  for (const Family& f : kFamilies) add_to_list(list, f.name);
  const std::string name = config.word("model_type", "");
  if (name.empty()) bad_input(config.where(), "has no \"model_type\"", "known families: " + list);
  for (const Family& f : kFamilies)
    if (f.name == name) return f;
  bad_input(config.where(), "\"model_type\" " + in_quotes(name) + " is not in this version",
            advice_on_word(
                name, kFamilies, [](const Family& f) { return f.name; }, "known families: "));
}

std::vector<std::string> check_keys(const Family& family, const Config& config) {
  const std::span<const ConfigKey> tables[] = {
      family.keys(), family.is_text ? keys_of_text() : std::span<const ConfigKey>(), keys_of_all()};
  return check_config_keys(config.object(), config.where(), family.name, tables);
}

PictureSize read_picture(const Config& config, int64_t least_side, PictureSize otherwise) {
  const std::vector<int64_t> sides = config.integers("image_size", least_side, kMostSide);
  if (sides.empty()) return otherwise;
  if (sides.size() > 2) config.refuse("image_size", "one side, or [height, width]");
  return {sides.front(), sides.back()};
}

std::vector<int32_t> end_ids(const Config& config, const Config& generation, int32_t otherwise, int64_t vocabulary) {
  std::vector<int32_t> ends;
  for (const Config* c : {&generation, &config})
    for (const int32_t id : c->ids("eos_token_id", vocabulary))
      if (std::find(ends.begin(), ends.end(), id) == ends.end()) ends.push_back(id);
  return ends.empty() ? std::vector<int32_t>{otherwise} : ends;
}

int32_t token_id(const Config& config, const Config& generation, std::string_view key, int32_t otherwise,
                 int64_t vocabulary) {
  for (const Config* c : {&generation, &config})
    if (c->has(key)) return static_cast<int32_t>(c->integer(key, otherwise, -1, vocabulary - 1));
  return otherwise;
}

std::string activation_word(const Config& config, std::string_view key, std::string_view otherwise) {
  static const std::vector<std::pair<std::string_view, std::string_view>> kWords = {
      {"relu", "relu"}, {"gelu", "gelu"}, {"gelu_new", "gelu_tanh"}, {"gelu_pytorch_tanh", "gelu_tanh"},
      {"silu", "silu"}, {"swish", "silu"}};
  std::vector<std::string_view> known;
  for (const auto& [theirs, ours] : kWords) known.push_back(theirs);
  const std::string came = config.word(key, otherwise, known);
  for (const auto& [theirs, ours] : kWords)
    if (came == theirs) return std::string(ours);
  return came;
}

}  // namespace stormcell
