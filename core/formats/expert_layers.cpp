#include "core/formats/expert_layers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/expert_fields.h"
#include "core/formats/expert_rules.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kWordsWithExperts[] = {"sparse", "moe", "hash_moe"};
constexpr std::string_view kWordsWithout[] = {"dense",
                                              "mlp",
                                              "full_attention",
                                              "linear_attention",
                                              "sliding_attention",
                                              "chunked_attention",
                                              "attention",
                                              "mamba",
                                              "mamba2",
                                              "conv"};
constexpr std::string_view kLettersWithout = "M*-";
constexpr char kLetterWithExperts = 'E';

/// Applies the keys of one family to one stack of layers.
class StackRules {
 public:
  StackRules(const ExpertFields& fields, std::span<const ExpertKey> keys, int64_t layers, int64_t further)
      : fields_(fields), keys_(keys), layers_(layers), further_(further) {}

  /// The layers with experts. If the number of layers is not known, a list with one entry for each layer sets it.
  std::vector<int32_t> with_experts() {
    std::vector<uint8_t> has;
    std::string_view first;  // the key that decided
    for (const ExpertKey& key : keys_) {
      if (!decides(key.rule) || !fields_.has(key.key)) continue;
      if (said_)
        compare(key, first, has);
      else
        has = decided(key), first = key.key;
    }
    if (!said_) {
      has.assign(layers_, 1);
      for (const ExpertKey& key : keys_)
        if (!decides(key.rule)) narrow(key, has);
    }
    std::vector<int32_t> layers;
    for (size_t i = 0; i < has.size(); ++i)
      if (has[i]) layers.push_back(static_cast<int32_t>(i));
    return layers;
  }
  int64_t layers() const { return layers_; }
  /// The keys that the file has, in quotes.
  const std::string& keys() const { return found_; }

 private:
  void note(std::string_view key) { add_to_list(found_, in_quotes(key)); }

  /// Refuses a second deciding key that names other layers. A list of words may also describe only kinds of attention.
  void compare(const ExpertKey& key, std::string_view first, const std::vector<uint8_t>& has) {
    if (key.rule == ExpertRule::flags && !fields_.at(key.key).is_array()) return;
    if (key.rule == ExpertRule::words && !names_experts(key.key)) return;
    const std::vector<uint8_t> other = decided(key);
    const auto [here, there] = std::mismatch(has.begin(), has.end(), other.begin(), other.end());
    if (here == has.end()) return;
    fields_.wrong(first, std::string("says that layer ") + std::to_string(here - has.begin()) +
                             (*here ? " has" : " has no") + " experts, " + in_quotes(key.key) + " says that it has " +
                             (*here ? "none" : "some"));
  }
  bool names_experts(std::string_view key) const {
    const Json& list = fields_.at(key);
    return !list.is_array() || std::any_of(list.begin(), list.end(), [](const Json& word) {
      return word.is_string() &&
             std::ranges::find(kWordsWithExperts, word.get<std::string>()) != std::end(kWordsWithExperts);
    });
  }

  std::vector<uint8_t> decided(const ExpertKey& key) {
    const Json& value = fields_.at(key.key);
    if (key.rule == ExpertRule::flags && !value.is_array()) return {};
    said_ = true;
    note(key.key);
    if (key.rule == ExpertRule::listed) return listed(key.key);
    std::vector<uint8_t> has = key.rule == ExpertRule::pattern ? letters(key.key)
                               : key.rule == ExpertRule::words ? words(key.key)
                                                               : flags(key.key);
    return of_all_layers(key.key, std::move(has));
  }

  /// Lists may have further entries for the layers that predict further tokens.
  std::vector<uint8_t> of_all_layers(std::string_view key, std::vector<uint8_t> has) {
    const auto entries = std::ssize(has);
    if (layers_ == 0) layers_ = entries;
    if (entries < layers_ || entries > layers_ + further_)
      fields_.wrong(key,
                    "has " + counted(entries, "entry", "entries") + ", the model has " + counted(layers_, "layer"));
    has.resize(layers_);
    return has;
  }

  std::vector<uint8_t> words(std::string_view key) const {
    std::vector<uint8_t> has;
    for (const std::string& word : fields_.texts(key)) {
      const bool with = std::ranges::find(kWordsWithExperts, word) != std::end(kWordsWithExperts);
      const bool without = std::ranges::find(kWordsWithout, word) != std::end(kWordsWithout);
      if (!with && !without)
        fields_.wrong(key, "says " + in_quotes(word) + " of layer " + std::to_string(has.size()) +
                               ": whether it has experts is not known");
      has.push_back(with);
    }
    return has;
  }
  std::vector<uint8_t> letters(std::string_view key) const {
    std::vector<uint8_t> has;
    for (const char letter : fields_.text(key)) {
      if (letter != kLetterWithExperts && kLettersWithout.find(letter) == std::string_view::npos)
        fields_.wrong(key, "has the letter " + in_quotes(std::string(1, letter)) + " for layer " +
                               std::to_string(has.size()) + ": whether it has experts is not known");
      has.push_back(letter == kLetterWithExperts);
    }
    return has;
  }
  std::vector<uint8_t> flags(std::string_view key) const {
    std::vector<uint8_t> has;
    for (const int64_t flag : fields_.integers(key, 0, 1)) has.push_back(flag != 0);
    return has;
  }
  std::vector<uint8_t> listed(std::string_view key) const {
    std::vector<uint8_t> has(layers_ + further_);
    for (const int64_t layer : fields_.numbers(key)) {
      if (layer < 0 || layer >= layers_ + further_)
        fields_.wrong(key, "names layer " + std::to_string(layer) + ", the model has " + counted(layers_, "layer"));
      has[layer] = 1;
    }
    has.resize(layers_);
    return has;
  }

  int64_t number(const ExpertKey& key, int64_t least) {
    if (!fields_.has(key.key)) return key.otherwise;
    note(key.key);
    return fields_.integer(key.key, least, kMostTracedLayers);
  }

  void narrow(const ExpertKey& key, std::vector<uint8_t>& has) {
    const auto keep = [&](auto&& kept) {
      for (size_t i = 0; i < has.size(); ++i) has[i] = has[i] && kept(static_cast<int64_t>(i));
    };
    switch (key.rule) {
      case ExpertRule::from: {
        const int64_t n = bound(key, true);
        return keep([&](int64_t i) { return i >= n; });
      }
      case ExpertRule::until: {
        const int64_t n = bound(key, false);
        return keep([&](int64_t i) { return n < 0 || i <= n; });
      }
      case ExpertRule::first_of_each: {
        if (fields_.has(key.key) && fields_.at(key.key).is_array()) {
          note(key.key);
          const std::vector<uint8_t> flagged = of_all_layers(key.key, flags(key.key));
          return keep([&](int64_t i) { return flagged[i] != 0; });
        }
        const int64_t n = number(key, 1);
        return keep([&](int64_t i) { return i % n == 0; });
      }
      case ExpertRule::last_of_each: {
        const int64_t n = number(key, 0);
        return keep([&](int64_t i) { return n > 0 && (i + 1) % n == 0; });
      }
      case ExpertRule::second_of_each: {
        const int64_t n = fields_.has(key.key) ? number(key, 0) : step_of(key);
        return keep([&](int64_t i) { return n == 1 || (n > 0 && i % n == 1); });
      }
      case ExpertRule::period: {
        const int64_t n = number(key, 1), offset = number({key.rule, key.second, key.second_otherwise}, 0);
        return keep([&](int64_t i) { return i % n == offset; });
      }
      case ExpertRule::except: {
        if (!fields_.has(key.key)) return keep([&](int64_t i) { return i >= key.otherwise; });
        note(key.key);
        const std::vector<int64_t> dense = fields_.integers(key.key, 0, kMostTracedLayers);
        return keep([&](int64_t i) { return std::find(dense.begin(), dense.end(), i) == dense.end(); });
      }
      case ExpertRule::enabled: {
        if (fields_.has(key.key)) note(key.key);
        const bool on = fields_.has(key.key) ? fields_.boolean(key.key) : key.otherwise != 0;
        if (!on) fields_.wrong(key.key, "is false: this model has no experts");
        return;
      }
      case ExpertRule::needed:
        fields_.wrong(key.key, "is missing: it says which layers have experts");
      default:
        return;
    }
  }

  /// One number, or one for each kind of token, of text and of pictures.
  int64_t bound(const ExpertKey& key, bool least) {
    if (!fields_.has(key.key)) return key.otherwise;
    note(key.key);
    const std::vector<int64_t> all = fields_.integers(key.key, -1, kMostTracedLayers);
    if (all.empty()) fields_.wrong(key.key, "is an empty list");
    return least ? std::ranges::min(all) : std::ranges::max(all);
  }

  /// The distance between layers with experts, from their number. If the number is zero, it is the number of layers, as
  /// in the reference.
  int64_t step_of(const ExpertKey& key) {
    int64_t sparse = key.second_otherwise;
    if (fields_.has(key.second)) note(key.second), sparse = fields_.integer(key.second, 0, layers_);
    return sparse > 0 ? layers_ / sparse : layers_;
  }

  const ExpertFields& fields_;
  std::span<const ExpertKey> keys_;
  int64_t layers_, further_;
  bool said_ = false;
  std::string found_;
};

const ExpertFamily* family_named(std::string_view name) {
  for (const ExpertFamily& family : expert_families())
    if (family.name == name) return &family;
  return nullptr;
}

/// Files of transformers 5 may give single layers their own settings; those of attention do not matter here.
void refuse_experts_by_layer(const ExpertFields& fields) {
  constexpr std::string_view kKey = "per_layer_config";
  if (!fields.has(kKey) || !fields.at(kKey).is_object()) return;
  for (const auto& [layer, settings] : fields.at(kKey).items())
    for (const auto& [key, value] : settings.items())
      if (key.find("expert") != std::string::npos || key.find("moe") != std::string::npos)
        fields.wrong(kKey, "gives layer " + in_quotes(layer) + " " + in_quotes(key) +
                               " of its own, which is not in this version");
}

/// Removes the layers for which a list of numbers of experts has a 0.
void leave_out_empty(const ExpertFields& fields, ExpertLayers& found) {
  const std::vector<int64_t> counts = fields.experts_by_layer(found.layers, found.further);
  if (counts.empty()) return;
  std::erase_if(found.with_experts, [&](int32_t layer) { return counts[layer] == 0; });
  add_to_list(found.keys, in_quotes(fields.experts_key()));
}

std::string doubt_of(const ExpertLayers& found, bool is_known, const std::string& where) {
  const std::string name = found.family.empty() ? "no \"model_type\""
                                                : "the \"model_type\" " + in_quotes(found.family) +
                                                      ", which is not in the table of families";
  if (!is_known && found.keys.empty())
    return where + ": has " + name + ", and no key that says which layers have experts";
  if (!is_known) return where + ": has " + name + "; " + found.keys + " say which layers have experts";
  if (found.with_experts.empty() && found.keys.empty() && found.decoder_layers == 0)
    return where + ": has no key that says which layers have experts, and by the default of " +
           in_quotes(found.family) + " none of " + counted(found.layers, "layer") + " has";
  return {};
}

}  // namespace

ExpertLayers read_expert_layers(const Json& config, const std::string& where) {
  const ExpertPart part = find_expert_part(config, [](std::string_view name) { return family_named(name) != nullptr; });
  const ExpertFields fields(*part.object, part.path, where);
  const ExpertFamily* family = family_named(part.family);
  refuse_experts_by_layer(fields);
  ExpertLayers found;
  found.part = part.object;
  found.family = part.family;
  found.experts = fields.experts(family ? family->experts : 0);
  found.per_token = fields.per_token(family ? family->per_token : 0);
  found.shared = fields.shared();
  found.further = fields.further();
  const int32_t layers = fields.layers(family ? family->layers_key : std::string_view(), family ? family->layers : 0);
  StackRules rules(fields, family ? family->keys : keys_of_any_family(), layers, found.further);
  found.with_experts = rules.with_experts();
  found.layers = static_cast<int32_t>(rules.layers());
  found.keys = rules.keys();
  if (found.layers > kMostTracedLayers) bad_input(where, "has " + counted(found.layers, "layer"), "check the file");
  if (family && !family->decoder_layers_key.empty()) {
    found.decoder_layers = fields.layers(family->decoder_layers_key, layers);
    StackRules decoder(fields, family->decoder_keys, found.decoder_layers, 0);
    found.decoder_with_experts = decoder.with_experts();
    if (!decoder.keys().empty()) add_to_list(found.keys, decoder.keys());
  }
  leave_out_empty(fields, found);
  found.unlike = fields.unlike_numbers(found.with_experts, found.layers);
  if (!found.unlike.empty()) found.unlike = where + ": " + found.unlike;
  found.doubt = doubt_of(found, family != nullptr, where);
  if (!found.doubt.empty() && found.keys.empty()) found.with_experts.clear();
  if (found.with_experts.empty() && !found.keys.empty() && found.decoder_layers == 0)
    bad_input(where, "no layer has experts by " + found.keys, "check the file");
  return found;
}

}  // namespace stormcell
