// Says how a family of models uses each key of a config.json. One table for each family decides whether a key is read,
// ignored, refused or named in a warning.
#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

enum class KeyUse : uint8_t {
  read,       ///< the family reads it
  alias,      ///< another name for the key `value`, which the family reads
  group,      ///< an object whose keys have their own rows: "rope_parameters.rope_theta"
  harmless,   ///< changes no result, whatever its value
  fixed,      ///< changes the result: only null and `value` are implemented, others are refused
  defaulted,  ///< not read; a warning names it if it is neither null nor `value`, its default in transformers
};

struct ConfigKey {
  KeyUse use;
  std::string_view key;
  std::string_view value = {};  ///< JSON text
  std::string_view why = {};    ///< fixed: the feature that this version does not have
};

/// The rows of keys that are read.
template <class... Names>
constexpr std::array<ConfigKey, sizeof...(Names)> keys_read(Names... names) {
  return {ConfigKey{KeyUse::read, names}...};
}
template <size_t kFirst, size_t kSecond>
constexpr std::array<ConfigKey, kFirst + kSecond> in_one(const std::array<ConfigKey, kFirst>& first,
                                                         const std::array<ConfigKey, kSecond>& second) {
  std::array<ConfigKey, kFirst + kSecond> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = i < kFirst ? first[i] : second[i - kFirst];
  return all;
}

/// Keys that mean the same in every family: those that transformers writes into every file, parameters of training and
/// of generation.
std::span<const ConfigKey> keys_of_all();
/// Keys that change the results of a text model, in families that have them. A row of the family itself comes first.
std::span<const ConfigKey> keys_of_text();

/// Looks up each key of a configuration; its first row in the tables counts. Returns one warning that names all keys
/// that are not null and not read, with the keys that `family` reads. Empty: there are none. Error(bad_input) names a
/// key that the family does not implement.
std::vector<std::string> check_config_keys(const nlohmann::json& config, const std::string& where,
                                           std::string_view family, std::span<const std::span<const ConfigKey>> tables);

/// The keys of generation_config.json.
std::span<const ConfigKey> keys_of_generation();
/// Returns one warning that names unknown keys of a generation_config.json, and keys for another text than greedy
/// decoding gives. Empty: there are none.
std::vector<std::string> check_generation_keys(const nlohmann::json& generation, const std::string& where);

}  // namespace stormcell
