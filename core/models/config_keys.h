// The use of each key of a config.json by a family of models: one table a family, by which each key of a file is read, passed over, refused
// or named.
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
  alias,      ///< another name of the key `value`, which the family reads
  group,      ///< an object whose keys have rows of their own: "rope_parameters.rope_theta"
  harmless,   ///< changes no result, whatever its value
  fixed,      ///< changes the result: only null and `value` are implemented, others are refused
  defaulted,  ///< nothing reads it; named in a warning where it is neither null nor `value`, its default in transformers
};

struct ConfigKey {
  KeyUse use;
  std::string_view key;
  std::string_view value = {};  ///< JSON text
  std::string_view why = {};    ///< fixed: what is not in this version
};

/// Rows of keys that are read.
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

/// Keys that mean the same to every family: what transformers writes into every file, parameters of training and of generation.
std::span<const ConfigKey> keys_of_all();
/// Keys that change what a model of text computes, in families that have them. A family's own row comes first.
std::span<const ConfigKey> keys_of_text();

/// Looks at each key of a configuration: the first row of the tables counts. Returns one warning that names all keys that nothing reads and
/// that are not null, with the keys that `family` reads; none: empty. Error(bad_input) that names a key that the family does not implement.
std::vector<std::string> check_config_keys(const nlohmann::json& config, const std::string& where, std::string_view family,
                                           std::span<const std::span<const ConfigKey>> tables);

}  // namespace stormcell
