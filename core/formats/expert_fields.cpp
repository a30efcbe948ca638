#include "core/formats/expert_fields.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/expert_layers.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

// The classes of transformers map these names to each other, so a file may have any of them.
const std::vector<std::string_view> kExperts = {"num_local_experts",  "num_experts",
                                                "n_routed_experts",   "moe_num_experts",
                                                "num_routed_experts", "ffn_config.moe_num_experts"};
const std::vector<std::string_view> kPerToken = {
    "num_experts_per_tok",  "num_experts_per_token", "moe_k", "moe_topk", "moe_top_k", "top_k_experts",
    "num_selected_experts", "ffn_config.moe_top_k"};
const std::vector<std::string_view> kShared = {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts",
                                               "num_shared_expert"};
constexpr const char* kParts[] = {"text_config",    "llm_config", "language_config",
                                  "thinker_config", "lm_config",  "language_model_config"};
constexpr int kDeepest = 3;

bool names_experts(const Json& object) {
  const auto is_number = [](const Json& value) {
    return value.is_array() || (value.is_number_integer() && value.get<int64_t>() > 0);
  };
  return std::any_of(kExperts.begin(), kExperts.end(), [&](std::string_view key) {
    const size_t point = key.find('.');
    if (point == std::string_view::npos) return is_number(value_at(object, std::string(key).c_str()));
    return is_number(value_at(value_at(object, std::string(key.substr(0, point)).c_str()),
                              std::string(key.substr(point + 1)).c_str()));
  });
}

/// Returns the object if it names experts, else the first of its parts that does. A family of the table may leave all
/// numbers to its class.
const Json* find_part(const Json& object, std::string& path, std::string& family, int depth,
                      const std::function<bool(std::string_view)>& is_family) {
  const std::string own = text_at(object, "model_type");
  if (!own.empty())
    family = own;
  else if (is_family(family + "_text"))
    family += "_text";
  if (names_experts(object)) return &object;
  for (const char* key : kParts) {
    const Json& part = value_at(object, key);
    if (!part.is_object() || depth == kDeepest) continue;
    std::string name = family, inner = path + key + ".";
    if (const Json* found = find_part(part, inner, name, depth + 1, is_family)) {
      path = std::move(inner), family = std::move(name);
      return found;
    }
  }
  return is_family(family) ? &object : nullptr;
}

bool is_whole(const Json& value) {
  return value.is_number_integer() &&
         !(value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX));
}

}  // namespace

ExpertPart find_expert_part(const Json& config, const std::function<bool(std::string_view)>& is_family) {
  ExpertPart part;
  part.object = find_part(config, part.path, part.family, 0, is_family);
  if (!part.object) part = {&config, {}, text_at(config, "model_type")};
  return part;
}

const Json* ExpertFields::find(std::string_view key) const {
  const size_t point = key.find('.');
  const Json& object =
      point == std::string_view::npos ? object_ : value_at(object_, std::string(key.substr(0, point)).c_str());
  const Json& value =
      value_at(object, std::string(point == std::string_view::npos ? key : key.substr(point + 1)).c_str());
  return value.is_null() ? nullptr : &value;
}
bool ExpertFields::has(std::string_view key) const { return find(key) != nullptr; }
const Json& ExpertFields::at(std::string_view key) const { return *find(key); }

void ExpertFields::wrong(std::string_view key, std::string_view what) const {
  bad_input(where_, in_quotes(path_ + std::string(key)) + " " + std::string(what), "check the file");
}

int64_t ExpertFields::integer(std::string_view key, int64_t least, int64_t most) const {
  const Json& value = at(key);
  if (!is_whole(value) || value.get<int64_t>() < least || value.get<int64_t>() > most)
    wrong(key, "is " + shown_json(value).substr(0, 40) + ", expected " + std::to_string(least) + " to " +
                   std::to_string(most));
  return value.get<int64_t>();
}

bool ExpertFields::boolean(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_boolean()) wrong(key, "is neither true nor false");
  return value.get<bool>();
}

std::vector<int64_t> ExpertFields::integers(std::string_view key, int64_t least, int64_t most) const {
  const Json& value = at(key);
  if (!value.is_array()) return {integer(key, least, most)};
  std::vector<int64_t> list;
  for (const Json& item : value) {
    const int64_t number = item.is_boolean() ? int64_t{item.get<bool>()}
                           : is_whole(item)  ? item.get<int64_t>()
                                             : least - 1;
    if (number < least || number > most)
      wrong(key, "has " + shown_json(item).substr(0, 40) + " in its list, expected " + std::to_string(least) + " to " +
                     std::to_string(most));
    list.push_back(number);
  }
  return list;
}

std::vector<int64_t> ExpertFields::numbers(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_string()) return integers(key, 0, kMostTracedLayers);
  const std::string text = value.get<std::string>();
  std::vector<int64_t> list;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string_view item(text.data() + begin, end - begin);
    begin = end + 1;
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (item.empty()) continue;
    int64_t number = -1;
    const auto [after, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (error != std::errc() || after != item.data() + item.size()) wrong(key, "names layer " + in_quotes(item));
    list.push_back(number);
  }
  return list;
}

std::string ExpertFields::text(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_string()) wrong(key, "is not text");
  return value.get<std::string>();
}

std::vector<std::string> ExpertFields::texts(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_array()) wrong(key, "is not a list of words");
  std::vector<std::string> list;
  for (const Json& item : value) {
    if (!item.is_string()) wrong(key, "is not a list of words");
    list.push_back(item.get<std::string>());
  }
  return list;
}

/// The largest number under any of the keys; 0: no key is there. Keys that name the same thing must agree.
int32_t ExpertFields::most_of(const std::vector<std::string_view>& keys, int64_t most) const {
  std::string_view first;
  int64_t largest = 0;
  for (const std::string_view key : keys) {
    if (!has(key)) continue;
    const std::vector<int64_t> all = integers(key, 0, most);
    const int64_t here = all.empty() ? 0 : std::ranges::max(all);
    if (!first.empty() && here != largest)
      wrong(first, "is " + std::to_string(largest) + ", but " + in_quotes(path_ + std::string(key)) + " is " +
                       std::to_string(here));
    first = key, largest = here;
  }
  return static_cast<int32_t>(largest);
}

std::string ExpertFields::experts_key() const {
  const auto key = std::find_if(kExperts.begin(), kExperts.end(), [&](std::string_view k) { return has(k); });
  return key == kExperts.end() ? std::string() : std::string(*key);
}

int32_t ExpertFields::experts(int32_t otherwise) const {
  const std::string key = experts_key();
  const int32_t named = key.empty() ? otherwise : most_of(kExperts, kMostTracedBranches);
  if (named == 0)
    bad_input(where_,
              key.empty() ? "names no number of experts: this model has no branches"
                          : in_quotes(key) + " is 0: this model has no branches",
              "num_experts, num_local_experts or n_routed_experts");
  return named;
}

std::vector<int64_t> ExpertFields::experts_by_layer(int64_t layers, int64_t further) const {
  const std::string key = experts_key();
  if (key.empty() || layers == 0 || !at(key).is_array()) return {};
  const std::vector<int64_t> all = integers(key, 0, kMostTracedBranches);
  const auto entries = std::ssize(all);
  // Ernie 4.5 VL has one number for text and one for pictures; both are the same.
  if (entries == 2 && layers != 2 && all[0] == all[1]) return {};
  if (entries < layers || entries > layers + further)
    wrong(key, "has " + counted(entries, "entry", "entries") + ", the model has " + counted(layers, "layer"));
  return all;
}

std::string ExpertFields::unlike_numbers(const std::vector<int32_t>& with_experts, int64_t layers) const {
  std::string text;
  const auto look_at = [&](std::string_view key, std::string_view taken, bool is_size = false) {
    if (!has(key) || !at(key).is_array()) return;
    std::vector<int64_t> all;
    if (is_size) {
      for (const Json& item : at(key))
        all.push_back(is_whole(item) ? item.get<int64_t>() : 0);  // null: a layer without experts
    } else {
      all = integers(key, 0, INT32_MAX);
    }
    std::vector<int64_t> numbers;
    const bool by_layer = layers > 0 && std::ssize(all) >= layers;
    if (by_layer) {
      for (const int32_t layer : with_experts) numbers.push_back(all[layer]);
    } else {
      numbers = all;
    }
    std::erase(numbers, int64_t{0});  // a layer without experts
    if (numbers.empty()) return;
    const auto [least, most] = std::ranges::minmax(numbers);
    if (least == most) return;
    const std::string range = ", from " + std::to_string(least) + " to " + std::to_string(most);
    add_to_list(text,
                in_quotes(path_ + std::string(key)) +
                    (by_layer ? " differs between layers" : " has different numbers") + range + ", and the " +
                    std::string(taken) + " is taken for all layers",
                "; ");
  };
  for (const std::string_view key : kExperts) look_at(key, "largest");
  for (const std::string_view key : kPerToken) look_at(key, "largest");
  for (const std::string_view key : {"moe_intermediate_size", "expert_ffn_hidden_size"}) look_at(key, "first", true);
  return text;
}

int32_t ExpertFields::per_token(int32_t otherwise) const {
  const int32_t named = most_of(kPerToken, kMostTracedChoices);
  return named > 0 ? named : otherwise;
}

int32_t ExpertFields::shared() const {
  // Some families keep a list of layers under such a key. It says nothing about shared experts.
  for (const std::string_view key : kShared) {
    if (!has(key)) continue;
    const Json& value = at(key);
    const Json& number = value.is_array() && !value.empty() ? value.front() : value;
    if (is_whole(number) && number.get<int64_t>() > 0 && number.get<int64_t>() <= kMostSharedExperts)
      return number.get<int32_t>();
  }
  return whole_at(object_, "shared_expert_intermediate_size") > 0 ? 1 : 0;  // qwen2_moe
}

int32_t ExpertFields::further() const {
  for (const std::string_view key : {"num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers"})
    if (has(key) && is_whole(at(key)))
      return static_cast<int32_t>(std::clamp<int64_t>(at(key).get<int64_t>(), 0, kMostTracedLayers));
  return 0;
}

int32_t ExpertFields::layers(std::string_view key, int32_t otherwise) const {
  if (!key.empty() && has(key)) return static_cast<int32_t>(integer(key, 1, kMostTracedLayers));
  if (!key.empty() && key != "num_layers" && key != "num_hidden_layers") return otherwise;
  for (const std::string_view usual : {"num_hidden_layers", "n_layers", "num_layers", "n_layer"})
    if (has(usual)) return static_cast<int32_t>(integer(usual, 1, kMostTracedLayers));
  return otherwise;
}

}  // namespace stormcell
