// The types of the table of families: the rules that say which layers have experts. docs/add-a-family.md tells how to
// add a row.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace stormcell {

/// The ways in which a key of config.json says which layers have experts. n is the key's value, i a layer, counted from
/// 0.
enum class ExpertRule : uint8_t {
  words,           ///< a list with a word for each layer, "sparse" or "dense"
  pattern,         ///< a text with a letter for each layer, E: experts
  listed,          ///< the layers with experts, as a list or as a text with commas
  flags,           ///< a list with 0 or 1 for each layer; a number under the key is left to `first_of_each`
  from,            ///< i >= n; of several numbers the least
  until,           ///< i <= n; -1: the last layer; of several numbers the largest
  first_of_each,   ///< i is the first of each n layers, or n is a list with 0 or 1 for each layer
  second_of_each,  ///< i is the second of each n layers; 1: every layer; 0: no layer
  last_of_each,    ///< i is the last of each n layers; 0: no layer
  period,          ///< i is `second` more than a multiple of n
  except,          ///< i is not in the list n; without the list the first `otherwise` layers are dense
  enabled,         ///< all layers if n is true, else none
  needed,          ///< the file must have this key, or one that decides
};
/// True for a rule whose key decides alone: if the file has that key, the other keys of the family are ignored, but a
/// second key that decides must name the same layers.
constexpr bool decides(ExpertRule rule) {
  return rule == ExpertRule::words || rule == ExpertRule::pattern || rule == ExpertRule::listed ||
         rule == ExpertRule::flags;
}

struct ExpertKey {
  ExpertRule rule;
  std::string_view key;
  int32_t otherwise = 0;  ///< value without the key; not for those that decide
  /// period: the key of the offset; second_of_each: the number of layers with experts if the key is missing
  std::string_view second = {};
  int32_t second_otherwise = 0;
};

/// One family: the defaults of its configuration class, and its rules. A layer has experts if all rules say so.
struct ExpertFamily {
  std::string_view name;                           ///< "model_type" of the part of config.json that names the experts
  int32_t layers = 0, experts = 0, per_token = 0;  ///< defaults; 0: the file must have the key
  std::span<const ExpertKey> keys;
  std::string_view layers_key = "num_hidden_layers";
  std::span<const ExpertKey> decoder_keys = {};  ///< the keys of a second stack
  std::string_view decoder_layers_key = {};      ///< empty: there is none
};

/// The table, in the order of names.
std::span<const ExpertFamily> expert_families();
/// The keys that mean the same in all families that have them; families that are not in the table are read by them.
std::span<const ExpertKey> keys_of_any_family();

}  // namespace stormcell
